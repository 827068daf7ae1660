package check

import (
	"slices"

	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// The limits of weighing: replays, and bytes rewritten for them; each line counts for as many
// bytes as it takes time. In a badly broken file all damage is weighed together, and only the first
// findings one by one.
const (
	maxTrials     = 32
	maxTrialBytes = 256 << 20
	bytesPerLine  = 1 << 10
)

// A weighing computes what findings hide from the context at the leaf, by replaying the
// session with and without the damage.
type weighing struct {
	*subject
	now    Figures
	trials int
	bytes  int64
	asked  []place        // what the repair of all damage was asked, but for what changes nothing
	all    Figures        // the size of the context after that repair
	broken map[int]string // legible ids in broken lines, by line
	named  map[int]string // ids of the lost parents of orphans, by line
}

// A place is where a repair may find damage.
type place struct {
	code string
	line int
}

// keeps reports whether a repair leaves every entry as it was read: it only ends the last line.
func (p place) keeps() bool { return p.code == "unterminated" }

// weigh sets Hides of the findings that hide something.
func (x *subject) weigh() {
	r := x.report
	repairable := slices.ContainsFunc(r.Findings, func(f Finding) bool { return Find(f.Code).mend != 0 })
	if !repairable && !slices.ContainsFunc(weighed, r.has) {
		return
	}
	now, err := seen(x.s, x.counted)
	if err != nil {
		return // a patch stops the replay, which is a finding
	}
	w := &weighing{subject: x, now: now}
	r.Context = &now
	if repairable && x.s.Version <= 3 {
		if f, ok := w.repairedAll(); ok {
			r.Repaired = &f
		}
		w.readBroken()
	}
	for k := range r.Findings {
		f := &r.Findings[k]
		if hides := w.hidden(f); hides != (Figures{}) {
			f.Hides = &hides
		}
	}
}

// hidden returns what a finding hides, zero if that is nothing or not known.
func (w *weighing) hidden(f *Finding) Figures {
	switch {
	case f.Code == "leaf-moved":
		if then, err := measureBy(w.s, w.lastWritten(), replay.Auto, w.counted); err == nil {
			return then.less(w.now)
		}
		return Figures{}
	case f.File != w.report.File: // a check of that file weighs it
		return Figures{}
	case f.Code == "bridged":
		return w.bridged(f)
	case f.Code == "kept-unknown":
		return w.kept()
	case f.Code == "no-checkpoint":
		return w.checkpoint(f)
	case Find(f.Code).mend == 0 || w.s.Version > 3 || place{f.Code, f.Line}.keeps():
		return Figures{}
	}
	want := func(code string, line int) bool {
		if line == f.Line && (code == f.Code || f.Code == "scalar-leaf" && code == "scalar-line") {
			return true
		}
		id := w.broken[f.Line]
		return code == "orphan" && id != "" && w.named[line] == id
	}
	others := func(p place) bool { return !want(p.code, p.line) }
	then, ok := w.all, w.asked != nil && !slices.ContainsFunc(w.asked, others)
	if !ok {
		then, ok = w.repaired(want)
	}
	if ok {
		return then.less(w.now)
	}
	return Figures{}
}

// repairedAll is repaired for all damage. It keeps what the repair was asked, so that the repair of a single finding
// that is asked the same is not made again.
func (w *weighing) repairedAll() (f Figures, ok bool) {
	if !slices.ContainsFunc(w.report.Findings, func(f Finding) bool {
		return f.Code == "more" || Find(f.Code).mend != 0 && !place{f.Code, f.Line}.keeps()
	}) {
		return w.now, true
	}
	var asked []place
	w.all, ok = w.repaired(func(code string, line int) bool {
		if p := (place{code, line}); !p.keeps() {
			asked = append(asked, p)
		}
		return true
	})
	if ok {
		w.asked = asked
	}
	return w.all, ok
}

// repaired returns the size of the context at the leaf after repairing some of the damage.
func (w *weighing) repaired(want pick) (f Figures, ok bool) {
	w.trials++
	w.bytes += w.s.Size() + bytesPerLine*int64(w.s.Len())
	if w.trials > maxTrials || w.bytes > maxTrialBytes && w.trials > 1 {
		return f, false
	}
	r, err := newRepair(w.s, want)
	if err != nil {
		return f, false
	}
	defer r.Close()
	s, err := r.repaired()
	if err != nil {
		return f, false
	}
	f, err = seen(s, nil)
	return f, err == nil
}

// readBroken records the broken line in which each orphan has lost its parent.
func (w *weighing) readBroken() {
	if !w.report.has("orphan") || !(w.report.has("malformed") || w.report.has("glued")) {
		return
	}
	w.broken, w.named = map[int]string{}, map[int]string{}
	for l, err := range w.s.Lines {
		if err != nil {
			return
		}
		switch {
		case l.Record < 0:
			if id, _, ok := jsonl.BrokenHead(l.Raw); ok {
				w.broken[l.Number] = id
			}
		case w.s.Orphan(l.Record):
			w.named[l.Number] = jsonl.Value(l.Raw).Get("parentId").Text()
		}
	}
}

// kept returns the size of the messages before a compaction: the difference between keeping
// all and none of them.
func (w *weighing) kept() Figures {
	nothing, err := measureBy(w.s, w.s.Leaf(), replay.ByPi, w.counted)
	all, err2 := measureBy(w.s, w.s.Leaf(), replay.ByEnvelope, w.counted)
	if err != nil || err2 != nil {
		return Figures{}
	}
	return all.less(nothing)
}

// bridged returns the size of the context before a record that names a missing parent: a resume
// begins there, unless a compaction follows.
func (w *weighing) bridged(f *Finding) Figures {
	path, _ := w.s.Path(w.s.Leaf())
	for k, rec := range slices.Backward(path) {
		switch {
		case w.s.Kind(rec) == jsonl.Transform:
			return Figures{}
		case k > 0 && w.s.ID(rec) == f.Entry:
			before, _ := measureBy(w.s, path[k-1], replay.Auto, w.counted)
			return before
		}
	}
	return Figures{}
}

// checkpoint returns the size of prompt and tools before a compaction that loses them, if it
// is the last compaction.
func (w *weighing) checkpoint(f *Finding) Figures {
	rec := w.s.Find(f.Entry)
	r := replay.New(w.s, replay.Options{})
	end, err := r.At(sessionfmt.After(w.s.Leaf()))
	if err != nil || rec < 0 {
		return Figures{}
	}
	if p, err := end.Prompt(); err != nil || p.Known {
		return Figures{}
	}
	before, err := r.At(sessionfmt.Before(rec))
	if err != nil {
		return Figures{}
	}
	n, err := before.Count(&tokens.Pi)
	if err != nil {
		return Figures{}
	}
	return Figures{Tokens: n.System + n.Tools}
}

// Measure returns the size of the context at a record.
func Measure(s *sessionfmt.Session, leaf int) (Figures, error) {
	return measureBy(s, leaf, replay.Auto, nil)
}

func measureBy(s *sessionfmt.Session, leaf int, rules replay.Rules, known func(replay.Piece) (int, bool)) (Figures,
	error) {
	e, err := replay.New(s, replay.Options{Rules: rules, Leaf: leaf}).At(sessionfmt.After(leaf))
	if err != nil {
		return Figures{}, err
	}
	n, err := e.CountKnown(&tokens.Pi, known)
	if err != nil {
		return Figures{}, err
	}
	return Figures{e.Cached() + e.Uncached(), n.Total, e.RequestIndex}, nil
}
