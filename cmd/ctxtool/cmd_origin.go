package main

import (
	"path/filepath"
	"regexp"
	"strconv"

	"ctxtool/internal/lens/origin"
	"ctxtool/internal/read/store"
	"ctxtool/sessionfmt"
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
	name, first, last := args[0], 0, 0
	if m := lineRange.FindStringSubmatch(name); m != nil && !e.disk.Has(name) {
		name = m[1]
		first, _ = strconv.Atoi(m[2])
		last = first
		if m[3] != "" {
			last, _ = strconv.Atoi(m[3])
		}
		if first == 0 || last < first {
			return usagef("%s: lines count from 1, and the first comes first", sessionfmt.Quote(args[0]))
		}
	}
	file := e.disk.Path(name)
	repo, err := origin.Open(filepath.Dir(file), e.environ)
	if err != nil {
		return err
	}
	stored := e.store()
	files, err := stored.Parts()
	if err != nil {
		return err
	}
	opt := origin.Options{Files: files, Open: e.opening(1), Now: e.now().UnixMilli()}
	opt.Open.Opened = nil
	found, err := repo.Of(opt, file, first, last)
	if err != nil {
		return err
	}
	for i := range found.Sessions {
		s := &found.Sessions[i]
		if s.Ref = stored.Short(s.File); s.Ref == "" {
			s.Ref = s.File
		}
		s.File = e.fileName(s.File)
	}
	return e.print(&o.answer, filesOf(files), found)
}

func filesOf(files []store.File) (names []string) {
	for _, f := range files {
		names = append(names, f.Name)
	}
	return names
}
