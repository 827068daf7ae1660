package check

import (
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

var shadowBroken = Check{
	Code:     "shadow-broken",
	Group:    "compactions",
	Severity: Warning,
	Title:    "a compaction repeats a patch, but not as its child",
	About: "A patch named `compaction` and a compaction with the same summary are one event, written twice " +
		"for two kinds of readers. The pair holds only if the compaction is the child of the patch, " +
		"labels aside. Here something stands in between, so both are applied.",
	Pi:   "It reads only the compaction.",
	Help: "Nothing in the file mends it; a new compaction takes the place of both.",
	step: (*walk).shadowBroken,
}

// A pair is a compaction and the patch named compaction before it on the path.
type pair struct {
	shadowed bool             // nothing but labels stands between the two
	op       sessionfmt.Value // the patch's compaction_apply; absent where it has none
	summary  string           // of the compaction
}

// pair reads the compaction of a step and the patch before it.
func (w *walk) pair(step replay.Step) (p pair, ok bool, err error) {
	if w.s.Kind(step.Record) != sessionfmt.Compaction || w.patch < 0 {
		return p, false, nil
	}
	k := w.pos - 1
	for k >= 0 && w.s.Kind(w.path[k]) == sessionfmt.Label {
		k--
	}
	p.shadowed = k >= 0 && w.path[k] == w.patch
	line, err := w.lines.Line(step.Record)
	if err != nil {
		return p, false, err
	}
	p.summary = line.Get("summary").Text()
	if line, err = w.lines.Line(w.patch); err != nil {
		return p, false, err
	}
	for el := range line.Get("patch").Elements {
		if el.Get("op").Is("compaction_apply") {
			p.op = el
		}
	}
	return p, true, nil
}

func (w *walk) shadowBroken(step replay.Step) error {
	p, ok, err := w.pair(step)
	if ok && !p.shadowed && p.op != nil && p.op.Get("summary").Text() == p.summary {
		w.add(step.Record, "it repeats the patch of entry %s, but other entries stand between the two: both are applied", sessionfmt.Quote(w.s.ID(w.patch)))
	}
	return err
}
