package check

import (
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A pair is a compaction and the patch named compaction before it on the path.
type pair struct {
	patch    string      // its id, as a finding names it
	shadowed bool        // nothing but labels stands between the two
	op       jsonl.Value // the patch's compaction_apply; absent where it has none
	same     bool        // both have the same summary
}

// pair reads the compaction of the step and the patch before it. Elsewhere, and
// where there is no such patch, it is false.
func (w *walk) pair() (p pair, ok bool) {
	rec := w.step.Record
	if w.s.Kind(rec) != jsonl.Compaction {
		return p, false
	}
	named := w.namedCompaction()
	if len(named) == 0 || w.err != nil {
		return p, false
	}
	up, steps := w.s.Parent(rec), 0
	for p.shadowed = true; up >= 0 && !named[up] && steps < w.s.Len(); steps++ { // a circle of parents has no end
		p.shadowed = p.shadowed && w.s.Kind(up) == jsonl.Label
		up = w.s.Parent(up)
	}
	if !named[up] {
		return p, false
	}
	p.patch = sessionfmt.Quote(w.s.ID(up))
	line, _ := w.line(rec)
	summary := line.Get("summary").Text()
	if w.err == nil {
		line, _ = w.line(up)
	}
	for el := range line.Get("patch").Elements {
		if el.Get("op").Is("compaction_apply") {
			p.op = el
		}
	}
	p.same = p.op.Get("summary").Text() == summary
	return p, w.err == nil
}

// namedCompaction are the transforms whose name makes a compaction below them their
// shadow.
func (w *walk) namedCompaction() map[int]bool {
	if w.named != nil {
		return w.named
	}
	w.named = map[int]bool{}
	for i := range w.s.Len() {
		if w.s.Kind(i) != jsonl.Transform {
			continue
		}
		line, ok := w.line(i)
		if !ok {
			break
		}
		if line.Get("transformerName").Is("compaction") {
			w.named[i] = true
		}
	}
	return w.named
}

func (w *walk) shadowBroken() {
	if p, ok := w.pair(); ok && !p.shadowed && p.op != nil && p.same {
		w.found("it repeats the patch of entry %s, but other entries stand between the two: both are applied", p.patch)
	}
}

func (w *walk) shadowDiffers() {
	if p, ok := w.pair(); ok && p.shadowed && p.op != nil && !p.same {
		w.found("its summary is not that of the patch it shadows, entry %s", p.patch)
	}
}

func (w *walk) shadowEmpty() {
	if p, ok := w.pair(); ok && p.shadowed && p.op == nil {
		w.found("it is taken for the shadow of entry %s, whose patch compacts nothing", p.patch)
	}
}
