package compact

import (
	"errors"
	"fmt"

	"ctxtool/sessionfmt"
)

// A Request asks for one summary.
type Request struct {
	View     *View
	Style    Style
	Part     summaryPart
	Messages []int  // what is to be summarised
	Before   int    // the user's message that led to it, -1 for none
	After    int    // the answer that concludes it, -1 for none
	Previous string // an earlier summary, which the new one has to take in
}

// A summaryPart is what part of a context a summary stands for.
type summaryPart string

// The parts.
const (
	historyPart    summaryPart = "history"
	turnPrefixPart summaryPart = "turn-prefix" // the beginning of a turn whose end stays
	sequencePart   summaryPart = "sequence"    // a finished piece of work
)

// A stretch is the messages that a compaction takes out, which are all before one place
// but for those that stay as the prompt.
type stretch struct {
	From     int `json:"from"` // places in the view, [From, To)
	To       int `json:"to"`
	Kept     int `json:"kept"`           // the record from which on messages stay, -1 for none
	Messages int `json:"messages"`       // of the request, in the range: the index of the first that stays
	Summary  int `json:"summary_tokens"` // of the summary alone, without what frames it
}

var errNoSummary = errors.New("the summary is empty")

// summary asks for a summary, as often as it may fail.
func (w *work) summary(r Request) (text string, err error) {
	r.View = w.View
	for range max(1, w.Retries) {
		text, err = w.Summarize(r)
		if err == nil && sessionfmt.TrimJS(text) == "" {
			err = errNoSummary
		}
		if err == nil {
			return text, nil
		}
	}
	return "", fmt.Errorf("summarise %s of %d messages: %w", r.Part, len(r.Messages), err)
}

// waits says that nothing happens before those summaries are there.
func (w *work) waits(all ...Request) {
	for k := range all {
		all[k].View = w.View
	}
	w.requests = all
	w.skip = "it waits for a summary"
	if n := len(all); n > 1 {
		w.skip = fmt.Sprintf("it waits for %d summaries", n)
	}
}

// summarise puts a summary, in its frame, in the place of a range of messages.
func (w *work) summarise(r stretch, summary, framed, why string) {
	slot, was := r.From, 0
	for i := r.To - 1; i >= r.From; i-- {
		if w.Messages[i].Gone || w.Messages[i].Kind == sessionfmt.System {
			continue
		}
		if slot = i; w.Live(i) {
			was += w.Messages[i].Tokens(w.Counter)
		}
	}
	r.Summary = tokensOf(w.Counter, w.length(summary))
	w.change(Change{Message: slot, Block: -1, Action: Summarise, Text: summary, Why: why, Was: was, Range: &r}, func(m *message) {
		m.Kind, m.Sent, m.Heads, m.Call = sessionfmt.CompactionMessage, true, true, -1
		m.Blocks = []block{newText(framed, w.length(framed))}
		m.summary = &summary
	})
	w.changes[len(w.changes)-1].Now = w.Messages[slot].Tokens(w.Counter)
	for i := r.From; i < r.To; i++ {
		if i != slot && w.Messages[i].Kind != sessionfmt.System {
			w.Messages[i].Gone = true
		}
	}
}

// earlier is the summary that a message is, as it was written, "" for none.
func (v *View) earlier(i int) (string, error) {
	m := &v.Messages[i]
	switch {
	case m.Heads:
		return *m.summary, nil
	case m.Kind != sessionfmt.CompactionMessage:
		return "", nil
	}
	raw, err := v.texts.agent(m)
	return raw.Get("summary").Text(), err
}

// previous is the last earlier summary among messages, "" for none.
func (v *View) previous(messages []int) (string, error) {
	for k := len(messages) - 1; k >= 0; k-- {
		if v.Messages[messages[k]].isSummary() {
			return v.earlier(messages[k])
		}
	}
	return "", nil
}
