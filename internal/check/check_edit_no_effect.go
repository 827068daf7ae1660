package check

import (
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

var editNoEffect = Check{
	Code:     "edit-no-effect",
	Group:    "edits",
	Severity: Warning,
	Title:    "a context edit gives content to what has none",
	About: "Only user messages, answers, tool results and custom messages have content that can be " +
		"replaced. Summaries, shell commands and system messages can only be omitted.",
	Pi:   "The edit has no effect.",
	Help: "Omit the entry instead, with the replacement null.",
	step: (*walk).editNoEffect,
}

func (w *walk) editNoEffect(step replay.Step) error {
	a, ok, err := w.aim(step)
	if !ok || !a.onPath {
		return err
	}
	switch k := w.s.Kind(a.target); {
	case !givesMessage(k):
		w.add(step.Record, "its target %s is a %s, which is no part of the context", sessionfmt.Quote(a.id), k)
	case a.content && !k.Replaceable():
		w.add(step.Record, "its target %s is a %s, whose content no edit replaces", sessionfmt.Quote(a.id), k)
	}
	return err
}
