package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"ctxtool/internal/lens/origin"
	"ctxtool/internal/out/show"
	"ctxtool/internal/read/store"
	"ctxtool/sessionfmt"

	"github.com/spf13/cobra"
)

// originOptions are the flags of ctxtool origin.
type originOptions struct {
	answer
	redaction
	open bool
}

func (o *originOptions) define(f *flagSet) {
	o.answer.flags(f, "text", "json", "markdown")
	o.redaction.flags(f)
	f.BoolVar(&o.open, "open", false, "open the session's page at the first request that wrote a line")
}

// lineRange is the end of FILE:LINE and FILE:LINE-LINE.
var lineRange = regexp.MustCompile(`^(.+):(\d{1,9})(?:-(\d{1,9}))?$`)

func runOrigin(e *env, o *originOptions, args []string) error {
	name, first, last, err := o.lines(e, args[0])
	if err != nil {
		return err
	}
	stored := e.store()
	files, err := stored.Parts()
	if err != nil {
		return err
	}
	opt := origin.Options{Files: files, Open: e.opening(1)}
	opt.Open.Opened, opt.Open.Through = nil, nil // texts are compared as they are; what is shown is redacted
	dir := e.disk.Path(".")
	isFile := e.disk.Has(name)
	if isFile {
		dir = filepath.Dir(e.disk.Path(name))
	}
	session := ""
	if !isFile || sessionfmt.IsUnread(e.disk, name) {
		session, _ = stored.Locate(name)
	} else if store.ReadHeader(e.disk, name).ID != "" {
		session, dir = name, e.disk.Path(".")
	}
	repo, err := origin.Open(dir, e.environ)
	if err != nil {
		return err
	}
	var found show.Value
	var calls []origin.Call // that wrote lines, in their order
	var report any          // the same as found
	switch {
	case session != "":
		var r *origin.Remains
		if r, err = repo.OfSession(opt, session); err == nil {
			found, report = show.RemainsForms.Of(r), r
		}
	case isFile:
		var f *origin.File
		if f, err = repo.Of(opt, e.disk.Path(name), first, last); err == nil {
			e.refer(stored, f.Sessions)
			found, report, calls = show.OriginForms.Of(f), f, callsOf(f)
		}
	default:
		var c *origin.Change
		if c, err = repo.OfCommit(opt, name); err == nil {
			e.refer(stored, c.Sessions)
			found, report, calls = show.ChangeForms.Of(c), c, slices.Clone(c.Calls)
		}
	}
	if err != nil {
		return err
	}
	if e.redactor != nil {
		origin.Redact(report, e.redactor.Text)
	}
	if err = e.print(&o.answer, filesOf(files), found); err != nil || !o.open {
		return err
	}
	if len(calls) == 0 {
		return sessionfmt.Errorf("--open: no session is known to have written these lines")
	}
	return e.openAt(calls[0].File, calls[0].ID)
}

// callsOf returns the calls that wrote lines of a file, in the order of the lines.
func callsOf(f *origin.File) (calls []origin.Call) {
	for _, l := range f.Lines {
		if l.Call != nil {
			calls = append(calls, f.Calls[*l.Call])
		}
	}
	return calls
}

// openAt opens the page of a session at an entry.
func (e *env) openAt(file, entry string) error {
	page, cmd, known := &renderOptions{entry: entry}, &cobra.Command{}, len(e.checks)
	page.define(&flagSet{cmd.Flags(), e, cmd})
	for _, check := range e.checks[known:] {
		if err := check(); err != nil {
			return err
		}
	}
	return page.browse(e, []string{file})
}

// lines splits FILE:LINE-LINE.
func (o *originOptions) lines(e *env, arg string) (name string, first, last int, err error) {
	m := lineRange.FindStringSubmatch(arg)
	if m == nil || e.disk.Has(arg) {
		return arg, 0, 0, nil
	}
	first, _ = strconv.Atoi(m[2])
	last = first
	if m[3] != "" {
		last, _ = strconv.Atoi(m[3])
	}
	if first == 0 || last < first {
		err = usagef("%s: lines count from 1, and the first comes first", sessionfmt.Quote(arg))
	}
	return m[1], first, last, err
}

// refer sets how sessions are named.
func (e *env) refer(stored store.Store, sessions []origin.Session) {
	for i := range sessions {
		s := &sessions[i]
		if s.Ref = stored.Short(s.File); s.Ref == "" {
			s.Ref = s.File
		}
		s.File = e.fileName(s.File)
	}
}

func filesOf(files []store.File) (names []string) {
	for _, f := range files {
		names = append(names, f.Name)
	}
	return names
}
