package main

import (
	"ctxtool/internal/base/sorting"
	"ctxtool/internal/out/show"
	"ctxtool/internal/read/keep"
	"ctxtool/internal/read/store"
	"ctxtool/sessionfmt"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

type keepOptions struct {
	answer
	redaction
	to  string
	dry bool
}

func (o *keepOptions) define(f *flagSet) {
	o.answer.flags(f, "text", "json")
	o.redaction.flags(f)
	f.StringVar(&o.to, "to", "", "keep sessions in the folder `DIR` (default: the setting archive)")
	f.BoolVar(&o.dry, "dry-run", false, "write nothing; list what would be copied, and what agents delete next")
}

func runKeep(e *env, o *keepOptions, args []string) error {
	if o.to == "" {
		o.to = e.archive
	}
	if o.to == "" {
		return usage(sessionfmt.Errorf("--to DIR is required").
			Hinted("the setting archive names it for all commands, which then search it too"))
	}
	files, err := o.files(e, args)
	if err != nil {
		return err
	}
	if !o.dry {
		if err := os.MkdirAll(e.disk.Path(o.to), 0o700); err != nil {
			return unreadable(o.to, err)
		}
		unlock, err := e.disk.Lock(filepath.Join(o.to, "keep"), "ctxtool keep", e.wait)
		if err != nil {
			return err
		}
		defer unlock()
	}
	report := keep.Report{
		Schema: keep.Schema, Archive: e.fileName(filepath.ToSlash(o.to)), Dry: o.dry, Now: e.now(),
		Files: inParallel(e, files, func(f listedFile, _ func(done, size int64)) keep.Row { return o.keep(e, f) }),
	}
	if err := e.print(&o.answer, paths(files), show.KeptForms.Of(report)); err != nil {
		return err
	}
	if broken := brokenOf(report.Files, func(r keep.Row) string { return r.Error }); broken > 0 {
		return noAnswer(fmt.Errorf("%d of %d files could not be copied", broken, len(files)))
	}
	return nil
}

// keep copies a file.
func (o *keepOptions) keep(e *env, f listedFile) keep.Row {
	row := keep.Row{File: e.fileName(f.given)}
	agent, dir := e.store().AgentOf(f.path)
	if info, err := e.disk.Stat(f.path); err == nil && agent != nil {
		settings := filepath.Join(dir, agent.Store.Settings)
		if at := keep.Deletes(e.disk, agent, settings, info.ModTime()); !at.IsZero() {
			row.Deletes = at.UTC().Format(time.RFC3339)
		}
	}
	a := keep.Archive{Disk: e.disk, Dir: o.to, Dry: o.dry}
	c, err := a.Keep(keep.File{Name: f.path, Place: f.out, Database: f.name == databaseName})
	if err != nil {
		row.Error = e.reason(err)
		return row
	}
	row.State, row.Size, row.Packed, row.Older = c.State, c.Size, c.Packed, e.fileName(filepath.ToSlash(c.Older))
	return row
}

// databaseName marks a file as a database.
const databaseName = "database"

// files returns the files to keep, sorted by name, with their places in the archive: those of all agents, or
// those that the arguments name. It leaves out files of the archive itself.
func (o *keepOptions) files(e *env, args []string) (files []listedFile, err error) {
	stores := []store.Store{e.store()}
	if len(args) > 0 {
		stores = nil
	}
	had := map[string]bool{} // names, and places
	add := func(name string, database bool) {
		below, err := filepath.Rel(e.realName(o.to), e.realName(name))
		if had[name] || err == nil && filepath.IsLocal(below) {
			return
		}
		f := listedFile{path: name, given: filepath.ToSlash(name), out: e.store().Place(name)}
		if place := keep.Plain(f.out); had[place] {
			f.out += ".jsonl" // a session beside its own compressed copy
		} else {
			had[place] = true
		}
		had[name] = true
		if database {
			f.name = databaseName
		}
		files = append(files, f)
	}
	for _, arg := range args {
		if e.isDir(arg) || sessionfmt.IsDatabase(e.disk, arg) {
			stores = append(stores, store.In(e.disk, arg))
			continue
		}
		name, err := e.store().Locate(arg)
		if err != nil {
			return nil, err
		}
		if file := filepath.Dir(name); sessionfmt.IsDatabase(e.disk, file) {
			name = file
		}
		add(name, sessionfmt.IsDatabase(e.disk, name))
	}
	for _, st := range stores {
		all, err := st.Parts()
		if err != nil {
			return nil, err
		}
		for _, f := range all {
			add(f.File(), f.File() != f.Name)
		}
	}
	sorting.By(files, func(a, b listedFile) int { return strings.Compare(a.path, b.path) })
	return files, nil
}
