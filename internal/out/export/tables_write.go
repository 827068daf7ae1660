package export

import (
	"errors"
	"path/filepath"

	"ctxtool/internal/base/parallel"
	"ctxtool/internal/read/store"
	"ctxtool/sessionfmt"
	"ctxtool/stats"

	_ "modernc.org/sqlite" // the driver
)

// tablesAs returns the function that exports tables in a form.
func tablesAs(f *form) func(o *Options, sessions []Input) (*Result, error) {
	return func(o *Options, sessions []Input) (*Result, error) {
		head := Manifest{
			Schema: "ctxtool/export.manifest/1", Version: schemaVersion, Program: program(), Form: f.name,
			Shard:    o.Shard.String(),
			Contents: o.Contents, Redacted: o.Text != nil,
		}
		if err := o.Disk.MkdirAll(filepath.Join(o.Dir, manifestDir)); err != nil {
			return nil, &sessionfmt.Error{Pos: sessionfmt.Pos{File: o.Dir}, Err: err}
		}
		unlock, err := o.Disk.Lock(o.manifestName(), "export", 0)
		if err != nil {
			return nil, err
		}
		defer unlock()
		j, stale, err := o.readJournal(head)
		if err != nil {
			return nil, err
		}
		if stale != "" {
			o.Note("%s: %s: all sessions are exported again", o.Dir, stale)
		}
		todo, err := o.plan(f, j, sessions, stale != "")
		if err != nil {
			return nil, err
		}
		return o.write(f, j, todo)
	}
}

// A job is a session to read for a part; the last one of a part ends it.
type job struct {
	part *planned
	in   Source
	at   int // of the part's reads
	last bool
}

// write carries out a plan.
func (o *Options) write(f *form, j *journal, todo *plan) (*Result, error) {
	out := &Result{Schema: "ctxtool/export/1", Dir: o.Dir, Sessions: todo.sessions, Exported: todo.reads,
		Rows: map[string]int64{}}
	if out.Unchanged = len(todo.parts) == 0; !out.Unchanged {
		if err := o.writeParts(f, j, todo, out); err != nil {
			return nil, err
		}
	}
	for _, name := range j.names {
		for table, n := range j.parts[name].Rows {
			out.Rows[table] += n
		}
	}
	return out, nil
}

// writeParts writes the parts of a plan, one after the other, while sessions of the next are read.
func (o *Options) writeParts(f *form, j *journal, todo *plan, out *Result) (err error) {
	var names []string
	var jobs []job
	for _, p := range todo.parts {
		names = append(names, p.name)
		for i, in := range p.reads {
			jobs = append(jobs, job{p, in, i, i == len(p.reads)-1})
		}
		if len(p.reads) == 0 {
			jobs = append(jobs, job{part: p, last: true})
		}
	}
	if err := j.begin(names); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.close()) }()
	var w partWriter
	defer func() {
		if w != nil {
			w.abort()
		}
	}()
	add := func(r *Rows) error {
		for i, t := range o.tables() {
			if err := t.each(r, func(row []any) error { return w.put(i, row) }); err != nil {
				return err
			}
		}
		return nil
	}
	done := int64(0)
	return parallel.Ordered(jobs, o.readBeside, func(r *Rows, _ bool) error {
		one := &jobs[done]
		done++
		if w == nil {
			one.part.rows = map[string]int64{}
			if w, err = f.begin(o, one.part); err != nil {
				return err
			}
		}
		if r == nil && one.in.Path != "" { // too large to be read beside others
			if o.Large != nil {
				o.Large(true)
			}
			if r, err = o.read(one.in, add); err != nil {
				return err
			}
			if o.Large != nil {
				o.Large(false)
			}
		}
		if r != nil {
			if r.unread {
				out.Unread++
			}
			for _, name := range r.bases {
				if base, err := look(o.Disk, o.absolute(name), nil); err == nil {
					one.part.reads[one.at].Bases = append(one.part.reads[one.at].Bases, base)
				}
			}
			if err := add(r); err != nil {
				return err
			}
		}
		if o.Progress != nil {
			o.Progress(done, int64(len(jobs)))
		}
		if !one.last {
			return nil
		}
		if err := w.commit(); err != nil {
			return err
		}
		w = nil
		return j.finished(o.written(f, one.part, out))
	})
}

// written returns a part as the manifest has it once its files are written.
func (o *Options) written(f *form, p *planned, out *Result) *Part {
	part := &Part{Part: p.name, Inputs: append(p.stays, p.reads...), Rows: p.rows, Bytes: map[string]int64{}}
	for _, name := range f.files(o, p.name) {
		if info, err := o.Disk.Stat(filepath.Join(o.Dir, filepath.FromSlash(name))); err == nil {
			part.Bytes[name] = info.Size()
			out.Files++
		}
	}
	return part
}

// largeSession is the size in bytes from which a session is read by itself, and its rows are not kept
// in memory.
const largeSession = 16 << 20

// readBeside returns the rows of a session that is read beside others, nil for a large one.
func (o *Options) readBeside(one job) (*Rows, error) {
	if one.in.Path == "" || one.in.Size > largeSession {
		return nil, nil
	}
	return o.read(one.in, nil)
}

// read returns the rows of a session; of one that cannot be read, that it cannot. If emit is not nil,
// it gets most of them before.
func (o *Options) read(in Source, emit func(r *Rows) error) (rows *Rows, err error) {
	err = o.Stats.Facts(in.Path, func(f *stats.Facts) (err error) {
		rows, err = rowsOf(f, o, in.Session, emit)
		return err
	})
	switch {
	case err == nil:
		return rows, nil
	case rows != nil:
		return nil, err // the session was read, and some of its rows may be written
	}
	return unread(in, o.redacted, o.Says(err)), nil
}

// redacted returns a text as it is written.
func (o *Options) redacted(text string) string {
	if o.Text == nil || text == "" {
		return text
	}
	return o.Text(text)
}

// unread returns the rows of a session that cannot be read.
func unread(in Source, text func(string) string, why string) *Rows {
	agent, date := partitionOf(store.HeaderInfo{})
	why = text(why)
	return &Rows{
		Agent: agent, Date: date, unread: true,
		Sessions: []Session{{
			Session: in.Session, Path: text(in.Path), Fidelity: "absent", Bytes: in.Size, Errors: 1, Damaged: true,
			Error: &why,
		}},
		Findings: []Finding{{Session: in.Session, Rule: "unreadable", Severity: "error", Text: why}},
	}
}
