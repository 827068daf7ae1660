package check

import (
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
