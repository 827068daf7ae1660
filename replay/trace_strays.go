package replay

import (
	"iter"

	"ctxtool/sessionfmt"
)

// why says why an entry never reached a context.
type why string

// The reasons, the first that applies.
const (
	OffPath why = "off-path" // another branch
	Behind  why = "behind"   // a broken patch stopped the replay before it
	Unsent  why = "unsent"   // it is none that a model gets, or not in what one gets of it
)

// Strays are the entries of the whole file that the trace along the path to record
// leaf says nothing of, in the order of the file. Their lines are searched whole, ids
// and times of the entries themselves aside.
func (t *Tracing) Strays(r *Replay, leaf int, q *Query) iter.Seq2[*Life, error] {
	return func(yield func(*Life, error) bool) {
		told := t.told()
		path, _ := r.Session.Path(leaf)
		onPath := make(map[int]bool, len(path))
		for _, rec := range path {
			onPath[rec] = true
		}
		behind := map[int]bool{}
		for _, rec := range path[min(t.Steps, len(path)):] {
			behind[rec] = true
		}
		f, lines := newFinder(q), r.Session.NewReader()
		for rec := range r.Session.Len() {
			if told[rec] || q.follows() && rec != q.Entry {
				continue
			}
			line, err := lines.Line(rec)
			if err != nil {
				yield(nil, err)
				return
			}
			stray := &Life{Schema: traceSchema, As: "entry", Why: Unsent, Origin: Origin{rec, rec, -1}}
			switch {
			case behind[rec]:
				stray.Why = Behind
			case !onPath[rec] && rec != r.Session.Header():
				stray.Why = OffPath
			}
			ok := q.follows()
			if ok {
				stray.Text = sessionfmt.Gist(r.Session.Kind(rec), line)
			} else if f.may(line) {
				stray.Text, ok = f.entry(line)
			}
			if !ok {
				continue
			}
			if stray.source, err = r.source(stray.Origin, lines); !yield(stray, err) || err != nil {
				return
			}
		}
	}
}

// told are the entries that lives tell of.
func (t *Tracing) told() map[int]bool {
	told := map[int]bool{}
	for _, l := range t.Lives {
		told[l.Origin.Record], told[l.Origin.By] = true, true
		for _, e := range l.Events {
			if e.Did != FateSummed && e.Did != FateReplaced {
				told[e.Record] = true
			}
		}
	}
	return told
}

// entry finds the first match in what an entry says.
func (f *finder) entry(line value) (around string, ok bool) {
	if !line.IsObject() {
		return f.strings(line)
	}
	for name, v := range line.Members {
		switch string(name) {
		case "type", "id", "parentId", "timestamp":
			continue
		}
		if around, ok = f.strings(v); ok {
			return around, true
		}
	}
	return "", false
}
