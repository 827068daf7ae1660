package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ctxtool/internal/lens/check"
	"ctxtool/internal/out/html"
	pages "ctxtool/internal/out/report"
	"ctxtool/internal/out/terminal"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// notForPages are flags that select parts of a session, which do not apply: a page has all of it.
var notForPages = []string{"target", "since", "until", "files", "all", "include", "exclude", "max-lines",
	"budget", "assets"}

func (o *renderOptions) checkHTML(e *env) error {
	if o.format != "html" {
		if o.given("split") {
			return errors.New("--split requires -f html")
		}
		return nil
	}
	for _, flag := range notForPages {
		if o.given(flag) {
			return fmt.Errorf("--%s conflicts with -f html, which writes the whole session", flag)
		}
	}
	toFile := o.output != "" && o.output != "-"
	switch {
	case o.split > 0 && !toFile:
		return errors.New("--split requires -o FILE")
	case e.toTerminal(o.output):
		return errors.New("-f html requires -o FILE on a terminal")
	}
	return nil
}

// browse makes a page, in a temporary folder unless -o names a file, and opens it.
func (o *renderOptions) browse(e *env, args []string) error {
	if o.given("format") && o.format != "html" {
		return usagef("--open conflicts with -f %s", sessionfmt.Quote(o.format))
	}
	o.format = "html"
	if o.output == "-" {
		return usagef("--open conflicts with -o -")
	}
	dir := ""
	if o.output == "" {
		var err error
		if dir, err = os.MkdirTemp("", "ctxtool-"); err != nil {
			return err
		}
		o.output = filepath.Join(dir, "session.html")
		if len(args) > 0 && e.isDir(args[0]) {
			o.output = dir
		}
	}
	if err := o.render(e, args); err != nil {
		if dir != "" {
			os.RemoveAll(dir)
		}
		return err
	}
	page := e.disk.Path(o.output)
	if e.isDir(o.output) {
		page = filepath.Join(page, "index.html")
	}
	if dir != "" {
		fmt.Fprintln(e.stdout, page)
	}
	address := page
	if o.entry != "" {
		address = (&url.URL{Scheme: "file", Path: filepath.ToSlash(page), Fragment: "entry-" + o.entry}).String()
	}
	if err := terminal.Browse(address, e.environ, e.stderr); err != nil {
		return &sessionfmt.Error{Pos: sessionfmt.Pos{File: page}, Err: fmt.Errorf("cannot open the browser: %w", err),
			Hint: "the page is complete; BROWSER sets another browser"}
	}
	return nil
}

// hugePage is the size in bytes from which the page of a session opens slowly.
const hugePage = 500 << 20

// html writes a session as a page for browsers.
func (o *renderOptions) html(e *env, s *sessionfmt.Session, opt replay.Options) error {
	if o.strict {
		r := replay.New(s, opt)
		for _, err := range r.WalkTree(s.Tree()) {
			if err != nil && !replay.Stopped(err) {
				return err
			}
		}
		if err := e.strictly(s, r.AllFindings(), true); err != nil {
			return err
		}
	}
	var r *replay.Replay
	found, err := o.publish(e, s, func(scan func(int, []byte), last bool) document {
		r = replay.New(s, opt)
		h := o.page(e, r, opt.Leaf, o.output)
		h.Scan = scan
		if !last {
			h.Split = 0
		}
		return h
	})
	if err != nil {
		return err
	}
	if o.split == 0 && s.Size() > hugePage {
		e.note("the page of a session of %s is slow to open; --split 200 makes several", megabytes(s.Size()))
	}
	e.noteFindings(s.Name, r.AllFindings())
	e.noteSecrets(found, s)
	return nil
}

// checker returns a function that checks a session, nil for standard input.
func (e *env) checker(name string, open sessionfmt.Options) func() []check.Finding {
	if name == "-" {
		return nil
	}
	open.Opened = nil
	return func() []check.Finding { return check.File(name, check.Options{Now: e.now(), Open: open}).Findings }
}

// page returns the page of a session in the file output. If it is split, it creates the other
// pages beside that file.
func (o *renderOptions) page(e *env, r *replay.Replay, leaf int, output string) *html.Page {
	s := r.Session
	file := filepath.Base(s.Name)
	if s.Name == "-" {
		file = "session"
	}
	report := pages.New(r, leaf)
	e.subAgents(report, s, o.noSubAgents, o.known)
	report.Check = e.checker(s.Name, e.opening(1))
	h := &html.Page{
		Session: s, Report: report, File: e.fileName(file), Title: report.Title(),
		Redacted: e.redactor != nil, Split: int64(o.split) << 20,
	}
	stem := strings.TrimSuffix(output, filepath.Ext(output))
	part := func(page int) string {
		if page == 0 {
			return output
		}
		return fmt.Sprintf("%s-%d%s", stem, page+1, cmp.Or(filepath.Ext(output), ".html"))
	}
	h.Name = func(page int) string { return (&url.URL{Path: "./" + filepath.Base(part(page))}).EscapedPath() }
	h.Create = func(page int) (html.File, error) { return e.create(part(page), s.Name) }
	return h
}

// subAgents gives a page the cost of the session's sub-agents.
func (e *env) subAgents(report *pages.Report, s *sessionfmt.Session, without bool, known *models.Table) {
	opt := stats.Options{Open: e.opening(1), NoSubAgents: without, Family: e.family}
	opt.Replay.Models = known
	report.Subs.Without, report.Subs.Owner = without, s.Owner()
	cost, err := opt.SubAgents(s)
	if err != nil { // the page reports it
		return
	}
	e.noteUnread(cost)
	report.Subs.Cost, report.Subs.Recorded, report.Subs.Unread = cost.Cost.Total, cost.Cost.Recorded, len(cost.Unread)
}

// htmlStore writes a page for each session of a folder, and an index of them, into the
// folder of -o. A session that cannot be read is a row with its error.
func (o *renderOptions) htmlStore(e *env, dir string) error {
	if o.output == "" || o.output == "-" {
		return usagef("-o DIR is required for the pages of a folder")
	}
	if info, err := e.disk.Stat(o.output); err == nil && !info.IsDir() {
		return usagef("-o %s: must be a folder", sessionfmt.Quote(o.output))
	}
	if o.leaf != "" {
		return usagef("--leaf requires a single session")
	}
	files, err := e.listed([]string{dir})
	if err != nil {
		return err
	}
	if e.leakless {
		if err := o.storeSecrets(e, files); err != nil {
			return err
		}
	}
	o.searched = true
	e.nameOutputs(files)
	rows := inParallel(e, files, func(f listedFile, _ func(done, size int64)) *pages.Summary {
		row, err := o.storePage(e, f)
		if err != nil {
			row = &pages.Summary{Error: e.reason(err)}
		}
		row.File = e.fileName(f.name)
		return row
	})
	broken := 0
	for _, row := range rows {
		if row.Error != "" {
			broken++
			e.note("%s: %s", sessionfmt.Quote(row.File), row.Error)
		}
	}
	if err := cmp.Or(noneBroken(o.strict, broken, len(rows), "have no page"), noneRead(broken, len(rows))); err != nil {
		return err
	}
	index := *o
	index.output = filepath.Join(o.output, "index.html")
	if err := e.disk.MkdirAll(o.output); err != nil {
		return err
	}
	store := pages.NewStore(e.fileName(filepath.Base(dir)), e.redactor != nil, rows)
	err = e.answer(&index.answer, paths(files), func(w *bufio.Writer) error { return html.WriteStore(w, store) })
	if err == nil {
		e.note("%s: wrote %d pages and an index", o.output, len(rows)-broken)
	}
	return err
}

func (o *renderOptions) storePage(e *env, f listedFile) (*pages.Summary, error) {
	open := e.opening(1)
	open.Times = true // identify copies of other sessions
	s, err := sessionfmt.Open(f.path, open)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	opt := replay.Options{Rules: o.by, Leaf: s.Leaf(), Models: o.known}
	if o.strict {
		r := replay.New(s, opt)
		_, _, err := r.Reach(sessionfmt.After(s.Leaf()))
		if err = cmp.Or(err, noFindings(true, f.path, len(r.AllFindings()))); err != nil {
			return nil, err
		}
	}
	name := filepath.Join(o.output, f.out+".html")
	if err := e.disk.MkdirAll(filepath.Dir(name)); err != nil {
		return nil, err
	}
	h := o.page(e, replay.New(s, opt), opt.Leaf, name)
	h.Index = "./" + strings.Repeat("../", strings.Count(filepath.ToSlash(f.out), "/")) + "index.html"
	one := *o
	one.output = name
	if err := e.answer(&one.answer, []string{f.path}, func(w *bufio.Writer) error { return h.Write(w) }); err != nil {
		return nil, err
	}
	row := h.Report.Summary()
	row.Page = "./" + (&url.URL{Path: filepath.ToSlash(f.out + ".html")}).EscapedPath()
	return row, nil
}

// storeSecrets searches all pages before any is written.
func (o *renderOptions) storeSecrets(e *env, files []listedFile) error {
	return found(slices.Contains(inParallel(e, files, func(f listedFile, _ func(done, size int64)) bool {
		s, err := sessionfmt.Open(f.path, e.opening(1))
		if err != nil {
			return false // it gets no page
		}
		defer s.Close()
		scan, err := o.secrets(e)
		if err != nil {
			return false
		}
		r := replay.New(s, replay.Options{Rules: o.by})
		h := html.Page{Session: s, Report: pages.New(r, s.Leaf()), Scan: scan.Add}
		if err := h.Write(io.Discard); err != nil || scan.Summary(s) == "" {
			return false
		}
		e.noteSecrets(scan, s)
		return true
	}), true))
}
