package compact

import (
	"fmt"
	"slices"
	"strings"

	"ctxtool/replay/tokens"
)

// MergeNotes puts what earlier answers said beside their tool calls in front of the last
// answer, and takes those answers and all earlier results out, as y-agent does where it
// is told to (spec/policies.md 3.10). If one of them said nothing, nothing is done. Results
// without a call stay.
var MergeNotes = Pass{
	Name:     "merge-notes",
	About:    "merge the notes beside earlier tool calls into the last answer, and drop the calls",
	System:   "y-agent",
	Defaults: Options{Counter: &tokens.YBytes},
	run:      mergeNotes,
}

func mergeNotes(w *work) error {
	w.params = struct{}{}
	last := w.lastAnswer()
	if last < 0 {
		return nil
	}
	groups, of := w.groups()
	if of[last] >= 0 && w.open(&groups[of[last]]) {
		w.skip = "the last answer waits for results, and what it thought is signed for them"
		return nil
	}
	var notes []string
	var gone []int
	for i := range last {
		switch {
		case !w.Live(i) || of[i] < 0 || w.open(&groups[of[i]]): // what waits for its result goes on waiting
		case w.Messages[i].isResult():
			gone = append(gone, i)
		default:
			note, err := w.said(i)
			if err != nil {
				return err
			}
			note, _ = stripTags(note)
			if note = strings.TrimSpace(note); note == "" {
				w.skip = "an answer with calls says nothing beside them"
				return nil
			}
			notes = append(notes, note)
			gone = append(gone, i)
		}
	}
	if len(notes) == 0 {
		return nil
	}
	if !w.mayAll(Omit, gone) || !w.may(Replace, last) {
		w.skip = "what it would take out cannot be stored in this form"
		return nil
	}
	for _, i := range gone {
		w.omit(i, "its note is in the last answer")
	}
	return w.putNotes(last, notes)
}

// putNotes puts notes in front of what an answer says. Its thinking goes: it is signed
// for other words.
func (w *work) putNotes(last int, notes []string) error {
	text, err := w.said(last)
	if err != nil {
		return err
	}
	if text != "" {
		notes = append(notes, text)
	}
	all := strings.Join(notes, "\n\n")
	w.change(Change{Message: last, Block: -1, Action: Replace, Text: all, Why: fmt.Sprintf("the notes of %d earlier answers", len(notes))}, func(m *message) {
		m.Blocks = slices.DeleteFunc(m.Blocks, func(b block) bool { return b.Kind == textBlock || b.Kind == thinkingBlock })
		m.Blocks = slices.Insert(m.Blocks, 0, newText(all, w.length(all)))
	})
	return nil
}
