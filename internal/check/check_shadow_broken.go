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
	patch    int              // record
	shadowed bool             // nothing but labels stands between the two
	op       sessionfmt.Value // the patch's compaction_apply; absent where it has none
	summary  string           // of the compaction
}

// pair reads the compaction of a step and the patch before it.
func (w *walk) pair(step replay.Step) (p pair, ok bool, err error) {
	if w.s.Kind(step.Record) != sessionfmt.Compaction {
		return p, false, nil
	}
	named, err := w.namedCompaction()
	if err != nil || len(named) == 0 {
		return p, false, err
	}
	p.shadowed = true
	for p.patch = w.s.Parent(step.Record); p.patch >= 0 && !named[p.patch]; p.patch = w.s.Parent(p.patch) {
		p.shadowed = p.shadowed && w.s.Kind(p.patch) == sessionfmt.Label
	}
	if p.patch < 0 {
		return p, false, nil
	}
	line, err := w.lines.Line(step.Record)
	if err != nil {
		return p, false, err
	}
	p.summary = line.Get("summary").Text()
	if line, err = w.lines.Line(p.patch); err != nil {
		return p, false, err
	}
	for el := range line.Get("patch").Elements {
		if el.Get("op").Is("compaction_apply") {
			p.op = el
		}
	}
	return p, true, nil
}

// namedCompaction are the transforms whose name makes a compaction below them their
// shadow.
func (w *walk) namedCompaction() (map[int]bool, error) {
	if w.named != nil {
		return w.named, nil
	}
	w.named = map[int]bool{}
	for i := range w.s.Len() {
		if w.s.Kind(i) != sessionfmt.Transform {
			continue
		}
		line, err := w.lines.Line(i)
		if err != nil {
			return nil, err
		}
		if line.Get("transformerName").Is("compaction") {
			w.named[i] = true
		}
	}
	return w.named, nil
}

func (w *walk) shadowBroken(step replay.Step) error {
	p, ok, err := w.pair(step)
	if ok && !p.shadowed && p.op != nil && p.op.Get("summary").Text() == p.summary {
		w.add(step.Record, "it repeats the patch of entry %s, but other entries stand between the two: both are applied", sessionfmt.Quote(w.s.ID(p.patch)))
	}
	return err
}
