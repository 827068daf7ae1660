package stats

import (
	"fmt"
	"slices"
	"strings"

	"ctxtool/sessionfmt"
)

// A lastAnswer is what the last answer before a compaction says of why there is one.
type lastAnswer struct {
	id      string // of its entry, empty for none
	context int64  // tokens that its context took, 0 where nobody says
	failed  string // how it failed for its length, in words; empty where it did not
}

// overflows are words by which providers say that a request is too long.
var overflows = []string{
	"too long", "too large", "context window", "context length", "context_length", "context size", "maximum prompt", "too many tokens",
	"token count", "token limit", "tokens exceed", "exceeds the limit", "reduce the length", "input length", "input tokens",
}

// answer takes down an answer, and tells the compaction before it what came of it.
func (w *compactionWalk) answer(rec int) error {
	line, err := w.l.line(rec)
	if err != nil {
		return err
	}
	m := line.Get("message").Message()
	usage := m.Usage.Usage()
	if n := len(w.part.List); n > 0 {
		c := &w.part.List[n-1]
		if w.waiting {
			c.Retried, w.waiting = true, false
		}
		if c.Next == 0 {
			c.Next = usage.Prompt()
		}
	}
	w.last = lastAnswer{id: w.l.Session.ID(rec), context: usage.Context()}
	message := strings.ToLower(m.Failure.Text())
	switch {
	case m.Stop.Is("length"):
		w.last.failed = fmt.Sprintf("answer %s was cut off for its length", sessionfmt.Quote(w.last.id))
	case m.Stop.Is("error") && slices.ContainsFunc(overflows, func(words string) bool { return strings.Contains(message, words) }):
		w.last.failed = fmt.Sprintf("answer %s failed: %s", sessionfmt.Quote(w.last.id), sessionfmt.Quote(m.Failure.Text()))
	}
	return nil
}

// edit takes down that the last answer was left out, as pi does it before it
// compacts for an overflow (spec/pi-1.5.md 7.3).
func (w *compactionWalk) edit(rec int) error {
	line, err := w.l.line(rec)
	if err != nil {
		return err
	}
	replacement := line.Get("replacement")
	if w.last.failed == "" && w.last.id != "" && line.Get("targetId").Is(w.last.id) && replacement.Exists() && replacement.IsNull() {
		w.last.failed = fmt.Sprintf("answer %s was left out by an edit", sessionfmt.Quote(w.last.id))
	}
	return nil
}

// tokensIn is a recorded number of tokens. Below nothing, or beyond what anybody can
// have counted, it is as if it were not there.
func tokensIn(v sessionfmt.Value) int64 {
	if n, ok := v.Float(); !ok || n < 0 || n > sessionfmt.MostUsage {
		return 0
	}
	return v.Int()
}
