package check

import (
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// An aim is what a context edit aims at.
type aim struct {
	id      string
	target  int  // record, -1 where there is none of that id
	onPath  bool // the target is above the edit
	omits   bool // its replacement is null
	content bool // its replacement has content
}

// aim reads the context edit of the step, once for all checks. Elsewhere it is false.
func (w *walk) aim() (aim, bool) {
	rec := w.step.Record
	if w.s.Kind(rec) != jsonl.ContextEdit {
		return aim{}, false
	}
	if w.aimed == nil {
		line, ok := w.line(rec)
		if !ok {
			return aim{}, false
		}
		a := aim{id: line.Get("targetId").Text()}
		a.target = w.s.Find(a.id)
		a.onPath = a.target >= 0 && a.target != rec && w.ancestors().above(a.target, rec)
		r := line.Get("replacement")
		a.omits, a.content = r.Exists() && r.IsNull(), r.Get("content").Exists()
		w.aimed = &a
	}
	return *w.aimed, true
}

func (w *walk) editUnknown() {
	if a, ok := w.aim(); ok && a.target < 0 {
		w.found("its target %q is not in the file", sessionfmt.Quote(a.id))
	}
}

// editOffPath leaves an edit alone that waits for what comes below it.
func (w *walk) editOffPath() {
	if a, ok := w.aim(); ok && a.target >= 0 && !a.onPath && !w.ancestors().above(w.step.Record, a.target) {
		w.found("its target %s, on line %d, is on another branch", sessionfmt.Quote(a.id), w.s.Line(a.target))
	}
}

func (w *walk) editSummarised() {
	a, ok := w.aim()
	if ok && a.onPath && (a.omits || a.content) && w.step.Did == replay.Nothing && givesMessage(w.s.Kind(a.target)) {
		w.found("its target %s was no longer in the context", sessionfmt.Quote(a.id))
	}
}

func (w *walk) editNoEffect() {
	a, ok := w.aim()
	if !ok || !a.onPath {
		return
	}
	switch k := w.s.Kind(a.target); {
	case !givesMessage(k):
		w.found("its target %s is a %s, which is no part of the context", sessionfmt.Quote(a.id), k)
	case a.content && !k.Replaceable():
		w.found("its target %s is a %s, whose content no edit replaces", sessionfmt.Quote(a.id), k)
	}
}

// givesMessage reports whether entries of a kind put a message into the context.
func givesMessage(k jsonl.Kind) bool {
	switch k {
	case jsonl.CustomMessage, jsonl.BranchSummary, jsonl.Compaction:
		return true
	}
	return k.IsMessage() && k != jsonl.NoMessage
}
