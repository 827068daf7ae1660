package main

import (
	"cmp"
	"path/filepath"
	"strconv"

	"ctxtool/internal/base/lazy"
	"ctxtool/internal/lens/origin"
	"ctxtool/internal/out/show"
	"ctxtool/internal/read/cachefile"
	"ctxtool/internal/read/store"
	"ctxtool/sessionfmt"

	"github.com/spf13/cobra"
)

// originOptions are the flags of ctxtool origin.
type originOptions struct {
	answer
	redaction
	open, strict, noCache bool
}

func (o *originOptions) define(f *flagSet) {
	o.answer.flags(f, "text", "json", "markdown")
	o.redaction.flags(f)
	f.BoolVar(&o.open, "open", false, "open the session's page at the first request that wrote a line")
	f.BoolVar(&o.strict, "strict", false, "fail on a session that cannot be read")
	f.BoolVar(&o.noCache, "no-cache", false, "do not keep the names of files that sessions write to in the user's "+
		"cache folder")
}

// lineRange is the end of FILE:LINE and FILE:LINE-LINE.
var lineRange = lazy.Regexp(`^(.+):(\d{1,9})(?:-(\d{1,9}))?$`)

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
	opt.Open.Opened, opt.Open.Through = e.noteBroken, nil // texts are compared as they are; what is shown is redacted
	if dir := e.cacheFolder(); dir != "" && !o.noCache {
		opt.Cache = cachefile.Open(e.disk, filepath.Join(dir, "origin"), origin.CacheVersion)
	}
	dir, isFile, session := e.disk.Path("."), e.disk.Has(name), ""
	switch {
	case !isFile || sessionfmt.IsUnread(e.disk, name):
		session, _ = stored.Locate(name)
	case store.ReadHeader(e.disk, name).ID != "":
		session = name
	default:
		dir = filepath.Dir(e.disk.Path(name))
	}
	repo, err := origin.Open(dir, e.environ)
	if err != nil {
		return err
	}
	var found *origin.Report
	switch {
	case session != "":
		found, err = repo.OfSession(opt, session)
	case isFile:
		found, err = repo.OfFile(opt, e.disk.Path(name), first, last)
	default:
		found, err = repo.OfCommit(opt, name)
	}
	if err != nil {
		return err
	}
	_ = opt.Cache.Save() // without it, the next run takes longer
	page := func() error {
		return sessionfmt.Errorf("--open: no session is known to have written these lines")
	}
	if at := firstCall(found); at != nil {
		file, entry := at.File, at.ID
		page = func() error { return e.openAt(file, entry) }
	}
	for i := range found.Sessions {
		s := &found.Sessions[i]
		if s.Ref = stored.Short(s.File); s.Ref == "" {
			s.Ref = s.File
		}
	}
	for i, u := range found.Unread {
		if i < 3 || o.strict {
			e.note("%s: %s", e.fileName(u.File), e.reason(u.Err))
		}
	}
	if n := len(found.Unread); n > 3 && !o.strict {
		e.note("%d sessions could not be read", n)
	}
	if e.redactor != nil {
		found.Redact(e.redactor.Text)
	}
	var inputs []string
	for _, f := range files {
		inputs = append(inputs, f.Name)
	}
	if err = e.print(&o.answer, inputs, show.OriginForms.Of(found)); err == nil && o.open {
		err = page()
	}
	return cmp.Or(err, noneBroken(o.strict, len(found.Unread), len(files), "cannot be read"))
}

// firstCall returns the call that wrote the first line that a session wrote, nil for none.
func firstCall(r *origin.Report) *origin.Call {
	for _, l := range r.Lines {
		if l.Call != nil {
			return &r.Calls[*l.Call]
		}
	}
	if len(r.Calls) > 0 {
		return &r.Calls[0]
	}
	return nil
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
	m := lineRange().FindStringSubmatch(arg)
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
