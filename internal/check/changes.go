package check

import (
	"ctxtool/internal/ops"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// edit checks the context edit of the step against its target. An edit whose target follows
// it is not checked.
func (w *walk) edit() {
	rec := w.step.Record
	if w.s.Kind(rec) != jsonl.ContextEdit {
		return
	}
	line, ok := w.line(rec)
	if !ok {
		return
	}
	id, replacement := line.Get("targetId").Text(), line.Get("replacement")
	target, name := w.s.Find(id), sessionfmt.Quote(id)
	if target < 0 {
		w.found("edit-unknown", "its target %q is not in the file", name)
		return
	}
	if up := w.ancestors(); target == rec || !up.above(target, rec) {
		if !up.above(rec, target) {
			w.found("edit-off-path", "its target %s, on line %d, is on another branch", name, w.s.Line(target))
		}
		return
	}
	k, content := w.s.Kind(target), replacement.Get("content").Exists()
	switch usable := content || replacement.Exists() && replacement.IsNull(); {
	case !givesMessage(k):
		w.found("edit-no-effect", "its target %s is a %s, which is no part of the context", name, k)
		return
	case usable && w.step.Did == replay.Nothing:
		w.found("edit-summarised", "its target %s was no longer in the context", name)
	}
	if content && !k.Replaceable() {
		w.found("edit-no-effect", "its target %s is a %s, whose content no edit replaces", name, k)
	}
}

// givesMessage reports whether entries of a kind add a message to the context.
func givesMessage(k jsonl.Kind) bool {
	switch k {
	case jsonl.CustomMessage, jsonl.BranchSummary, jsonl.Compaction:
		return true
	}
	return k.IsMessage() && k != jsonl.NoMessage
}

// shadow checks the compaction of the step against the patch named compaction before it on
// the path. It repeats the patch if there are only labels between the two.
func (w *walk) shadow() {
	rec := w.step.Record
	if w.s.Kind(rec) != jsonl.Compaction {
		return
	}
	named := w.namedCompaction()
	if len(named) == 0 || w.err != nil {
		return
	}
	up, shadowed := w.s.Parent(rec), true
	for steps := 0; up >= 0 && !named[up] && steps < w.s.Len(); steps++ { // a cycle of parents has no end
		shadowed = shadowed && w.s.Kind(up) == jsonl.Label
		up = w.s.Parent(up)
	}
	if !named[up] {
		return
	}
	line, ok := w.line(rec)
	summary := line.Get("summary").Text()
	if ok {
		line, ok = w.line(up)
	}
	if !ok {
		return
	}
	op, applies := ops.Compacts(line)
	patch, same := sessionfmt.Quote(w.s.ID(up)), op.Get("summary").Text() == summary
	switch {
	case !shadowed && applies && same:
		w.found("shadow-broken", "it repeats the patch of entry %s, but other entries stand between the two: both are applied", patch)
	case shadowed && !applies:
		w.found("shadow-empty", "it is taken for the shadow of entry %s, whose patch compacts nothing", patch)
	case shadowed && !same:
		w.found("shadow-differs", "its summary is not that of the patch it shadows, entry %s", patch)
	}
}

// namedCompaction returns the transforms whose name makes a later compaction their shadow.
func (w *walk) namedCompaction() map[int]bool {
	if w.named != nil {
		return w.named
	}
	w.named = map[int]bool{}
	for i := range w.s.Len() {
		if w.s.Kind(i) == jsonl.Transform && w.err == nil {
			if line, _ := w.line(i); line.Get("transformerName").Is("compaction") {
				w.named[i] = true
			}
		}
	}
	return w.named
}
