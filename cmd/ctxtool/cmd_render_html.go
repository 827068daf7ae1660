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
	"strings"

	"golang.org/x/term"

	pages "ctxtool/internal/report"
	"ctxtool/render"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// notForPages are the flags that say what of a session is written: a page has all of
// it, and its reader chooses.
var notForPages = []string{"view", "target", "at", "since", "files", "all", "include", "exclude", "max-lines", "budget", "assets"}

// checkHTML reads the flags of pages.
func (o *renderOptions) checkHTML(e *env, given func(flag string) bool) error {
	if o.format != "html" {
		if given("split") {
			return errors.New("--split is for -f html")
		}
		return nil
	}
	for _, flag := range notForPages {
		if given(flag) {
			return fmt.Errorf("--%s is not for -f html: a page has the whole session, and its reader chooses", flag)
		}
	}
	toFile := o.output != "" && o.output != "-"
	switch f, ok := e.stdout.(*os.File); {
	case o.split > 0 && !toFile:
		return errors.New("--split needs -o FILE: the other pages are put beside it")
	case !toFile && ok && term.IsTerminal(int(f.Fd())):
		return errors.New("-f html needs -o FILE: a page is nothing for a terminal")
	}
	return nil
}

// hugePage is from how many bytes of session on a browser takes long to open a page.
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
	found, err := o.secrets(e)
	if err != nil {
		return err
	}
	scan := found.scan
	if o.failOnSecret {
		whole := o.page(e, replay.New(s, opt), opt.Leaf, o.output)
		whole.Split, whole.Scan = 0, scan
		if err := whole.Write(io.Discard); err != nil {
			return err
		}
		if len(found.found) > 0 {
			found.note(e, s)
			return errFound
		}
		scan = nil
	}
	r := replay.New(s, opt)
	h := o.page(e, r, opt.Leaf, o.output)
	h.Scan = scan
	if err := e.answer(&o.answer, []string{s.Name}, func(w *bufio.Writer) error { return h.Write(w) }); err != nil {
		return err
	}
	if o.split == 0 && s.Size() > hugePage {
		e.note("a page of %s of session is slow to open; --split 200 makes several", megabytes(s.Size()))
	}
	e.printFindings(s.Name, r.AllFindings())
	found.note(e, s)
	e.noteCoverage(s, r.Rules)
	return nil
}

// page is the page of a session in the file output, and those beside it where it is
// split.
func (o *renderOptions) page(e *env, r *replay.Replay, leaf int, output string) *render.HTML {
	s := r.Session
	h := &render.HTML{Session: s, Report: pages.New(r, leaf), Title: e.fileName(pageTitle(s.Name)), Redacted: e.redactor != nil, Split: int64(o.split) << 20}
	stem := strings.TrimSuffix(output, filepath.Ext(output))
	file := func(page int) string {
		if page == 0 {
			return output
		}
		return fmt.Sprintf("%s-%d%s", stem, page+1, cmp.Or(filepath.Ext(output), ".html"))
	}
	h.Name = func(page int) string { return (&url.URL{Path: "./" + filepath.Base(file(page))}).EscapedPath() }
	h.Create = func(page int) (io.WriteCloser, error) {
		out, err := e.create(file(page), s.Name)
		if err != nil {
			return nil, err
		}
		return &pageFile{bufio.NewWriterSize(out, 64<<10), out}, nil
	}
	return h
}

// pageTitle is what a page calls a session that has no name.
func pageTitle(name string) string {
	if name == "-" {
		return "session"
	}
	return filepath.Base(name)
}

// A pageFile is a page behind the first, which appears once it is whole.
type pageFile struct {
	*bufio.Writer
	out *output
}

func (p *pageFile) Close() error {
	defer p.out.abort()
	return cmp.Or(p.Flush(), p.out.commit())
}
