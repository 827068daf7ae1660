package check

import (
	"maps"
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
	broken map[int]string // legible ids in broken lines, by line
	named  map[int]string // ids of the lost parents of orphans, by line
}

// weigh sets Hides of the findings that hide something.
func (x *subject) weigh() {
	r := x.report
	repairable := slices.ContainsFunc(r.Findings, func(f Finding) bool { return Find(f.Code).mend != 0 })
	if !repairable && !slices.ContainsFunc(weighed, r.has) {
		return
	}
	now, err := seen(x.s)
	if err != nil {
		return // a patch stops the replay, which is a finding
	}
	w := &weighing{subject: x, now: now}
	r.Context = &now
	if repairable && x.s.Version <= 3 {
		if f, ok := w.repaired(func(string, int) bool { return true }); ok {
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
		if then, err := Measure(w.s, w.lastWritten()); err == nil {
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
	case Find(f.Code).mend == 0 || w.s.Version > 3:
		return Figures{}
	}
	then, ok := w.repaired(func(code string, line int) bool {
		if line == f.Line && (code == f.Code || f.Code == "scalar-leaf" && code == "scalar-line") {
			return true
		}
		id := w.broken[f.Line]
		return code == "orphan" && id != "" && w.named[line] == id
	})
	if ok {
		return then.less(w.now)
	}
	return Figures{}
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
	f, err = seen(s)
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
	nothing, err := measureBy(w.s, w.s.Leaf(), replay.ByPi)
	all, err2 := measureBy(w.s, w.s.Leaf(), replay.ByEnvelope)
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
			before, _ := Measure(w.s, path[k-1])
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
	return measureBy(s, leaf, replay.Auto)
}

func measureBy(s *sessionfmt.Session, leaf int, rules replay.Rules) (Figures, error) {
	e, err := replay.New(s, replay.Options{Rules: rules, Leaf: leaf}).At(sessionfmt.After(leaf))
	if err != nil {
		return Figures{}, err
	}
	n, err := e.Count(&tokens.Pi)
	if err != nil {
		return Figures{}, err
	}
	return Figures{e.Cached() + e.Uncached(), n.Total, e.RequestIndex}, nil
}

// What pi does when it opens a file (docs/session-format.md 11, 12). In the first four cases
// it gets no context from the file.
const (
	refuses  = "refuses it"
	dies     = "runs out of memory"
	fails    = "fails to build a context"
	empties  = "shows an empty session"
	rewrites = "rewrites it as version 3"
	repeats  = "rewrites it each time"
	ends     = "adds a newline to it"
)

// opening returns what pi does when it opens the file, or "" if it only reads it, and for another
// agent's session.
func opening(s *sessionfmt.Session) string {
	read := func(codes ...string) bool {
		return slices.ContainsFunc(s.Findings,
			func(f sessionfmt.Finding) bool { return slices.Contains(codes, f.Code) })
	}
	if s.Dialect() != nil {
		return "" // it is not pi's
	}
	path, _ := s.Path(s.Leaf())
	switch {
	case read("no-header", "late-header", "header-id", "bom"):
		return refuses
	case s.Leaf() >= 0 && (len(path) == 0 || s.Parent(path[0]) >= 0): // a parent cycle
		return dies
	case read("scalar-leaf"):
		return empties
	case slices.ContainsFunc(path, func(i int) bool { return s.Kind(i) == jsonl.NoMessage }), throws(s, path):
		return fails
	case s.Version < 3:
		return rewrites
	case read("version"):
		return repeats
	case read("unterminated", "torn"):
		return ends
	}
	return ""
}

// throws reports whether the last edit of a message in the context has no replacement: pi
// throws an exception there (docs/session-format.md 5.6).
func throws(s *sessionfmt.Session, path []int) bool {
	lacks := map[int]bool{} // by target
	lines := s.NewReader()
	for _, rec := range path {
		if s.Kind(rec) != jsonl.ContextEdit {
			continue
		}
		line := lines.Entry(rec)
		lacks[s.FindValue(line.Get("targetId"))] = !line.Get("replacement").Exists()
	}
	maps.DeleteFunc(lacks, func(_ int, lacking bool) bool { return !lacking })
	return len(lacks) > 0 && lines.Err() == nil && reaches(s, lacks)
}

// reaches reports whether one of the messages that pi would edit is in its context.
func reaches(s *sessionfmt.Session, edited map[int]bool) bool {
	e, err := replay.New(s, replay.Options{Rules: replay.ByPi}).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		return false
	}
	for m, err := range e.Sources(func(replay.Message) bool { return false }) {
		if err != nil {
			return false
		}
		if rec := m.Origin.Record; edited[rec] && s.Kind(rec).Replaceable() {
			return true
		}
	}
	return false
}

// seen returns the size of the context at the leaf, zero if pi gets none from the file.
func seen(s *sessionfmt.Session) (Figures, error) {
	switch opening(s) {
	case refuses, dies, empties, fails:
		return Figures{}, nil
	}
	return Measure(s, s.Leaf())
}
