package main

import (
	"path/filepath"
	"regexp"
	"strconv"

	"ctxtool/internal/lens/origin"
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
	var found any
	switch {
	case session != "":
		found, err = repo.OfSession(opt, session)
	case isFile:
		var f *origin.File
		if f, err = repo.Of(opt, e.disk.Path(name), first, last); err == nil {
			e.refer(stored, f.Sessions)
			found = f
		}
	default:
		var c *origin.Change
		if c, err = repo.OfCommit(opt, name); err == nil {
			e.refer(stored, c.Sessions)
			found = c
		}
	}
	if err != nil {
		return err
	}
	call := firstCall(found)
	if e.redactor != nil {
		origin.Redact(found, e.redactor.Text)
	}
	if err = e.print(&o.answer, filesOf(files), found); err != nil || !o.open {
		return err
	}
	return e.openAt(call.File, call.ID)
}

// firstCall returns the call that wrote the first of the lines that a session wrote, an empty one if there is none.
func firstCall(found any) (c origin.Call) {
	switch f := found.(type) {
	case *origin.File:
		for _, l := range f.Lines {
			if l.Call != nil {
				return f.Calls[*l.Call]
			}
		}
	case *origin.Change:
		for _, c := range f.Calls {
			return c
		}
	}
	return c
}

// openAt opens the page of a session at an entry.
func (e *env) openAt(file, entry string) error {
	if file == "" {
		return sessionfmt.Errorf("--open: no session is known to have written these lines")
	}
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
