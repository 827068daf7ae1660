package main

import (
	"runtime"
	"slices"

	"ctxtool/internal/lens/doctor"
	"ctxtool/internal/out/show"
	"ctxtool/stats"
)

type doctorOptions struct {
	answer
	redaction
	all     bool
	several bool
	stats.Options
}

func (o *doctorOptions) define(f *flagSet) {
	o.answer.flags(f, "text", "json")
	o.redaction.flags(f)
	f.BoolVar(&o.all, "all", false, "examine the sessions of all agents, by project")
	f.noSubAgents(&o.NoSubAgents)
	f.models(&o.Replay.Models)
}

func runDoctor(e *env, o *doctorOptions, args []string) error {
	if o.all && len(args) > 0 {
		return usagef("--all conflicts with SESSION")
	}
	e.anywhere = true
	o.Now = e.now()
	o.Open = e.opening(0)
	if o.all {
		files, err := e.families(nil)
		if err != nil {
			return usage(err)
		}
		return o.store(e, files)
	}
	list := e.sessions
	if len(args) > 0 {
		list = e.families
	}
	files, err := list(args)
	if err != nil {
		return usage(err)
	}
	if len(files) != 1 || len(args) > 0 && e.isDir(args[0]) {
		return o.store(e, files)
	}
	f := files[0]
	e.frugal(f.path)
	progress, end := e.progress(f.path, true)
	defer end()
	r, err := o.examine(e, f, progress)
	if err != nil {
		return err
	}
	e.noteFindings(f.path, r.Figures.Findings)
	return e.print(&o.answer, paths(files), show.DoctorForms.Of(r))
}

// examine reports on a session.
func (o *doctorOptions) examine(e *env, f listedFile, show func(done, size int64)) (*doctor.Report, error) {
	opt := doctor.Options{Stats: o.Options, Ref: e.ref(f.path), Brief: o.several}
	opt.Stats.Open.Progress = show
	if f.named {
		opt.Stats.Family = e.family
	}
	examine := doctor.Examine
	if f.part {
		examine = doctor.CostOf
	}
	r, err := examine(f.path, opt)
	if err == nil {
		r.File = opt.Ref
	}
	return r, err
}

// store reports on several sessions by project. A session that cannot be read is listed as such.
func (o *doctorOptions) store(e *env, files []listedFile) error {
	o.several = true
	files = slices.DeleteFunc(files, func(f listedFile) bool { return f.part && o.NoSubAgents })
	var all []*doctor.Report
	o.Open.Workers = 1
	e.collect(batchGC)
	// A session takes more memory here than elsewhere: its ledger and its context are in memory together.
	inOrder(e, runtime.GOMAXPROCS(0), byPath(files), func(f listedFile, show func(done, size int64)) *doctor.Report {
		r, err := o.examine(e, f, show)
		if err != nil {
			r = &doctor.Report{File: e.fileName(f.name), Error: e.reason(err)}
		}
		return r
	}, func(r *doctor.Report) { all = append(all, r) })
	s := doctor.NewStore(all, &o.Options)
	if err := noneRead(len(s.Unread), len(files)); err != nil {
		return err
	}
	return e.print(&o.answer, paths(files), show.DoctorStoreForms.Of(s))
}
