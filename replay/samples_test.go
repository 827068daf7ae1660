package replay_test

import (
	"fmt"
	"testing"

	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/samples"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// TestSamples: the context after each entry by each of the rules, as a hash, and that at the leaf by its messages.
func TestSamples(t *testing.T) {
	samples.Hold(t, func(s *sessionfmt.Session) (lines []string) {
		for _, rules := range []replay.Rules{replay.ByPi, replay.ByEnvelope} {
			r := replay.New(s, replay.Options{Rules: rules, Lenient: true})
			for i := range s.Len() {
				e, err := r.At(sessionfmt.After(i))
				if err != nil {
					lines = append(lines, fmt.Sprintf("%v %d: %v", rules, i, err))
					continue
				}
				all := contextOf(t, e)
				lines = append(lines, fmt.Sprintf("%v %d: turn %d request %d, %d cached %d uncached %d listed, edits %v, "+
					"transforms %v ephemerals %d, model by %d, thinking by %d, %s", rules, i, e.TurnIndex, e.RequestIndex,
					e.Cached(), e.Uncached(), e.Listed(), e.Edits(), e.Transforms, e.Ephemerals, e.ModelBy, e.ThinkingBy,
					golden.Digest(all)))
				if i == s.Leaf() && rules == replay.ByEnvelope {
					lines = append(lines, all...)
				}
			}
		}
		return lines
	})
}

// contextOf describes what a context has: its prompt, each message with its origin and the hash of its text, and how
// sure it is.
func contextOf(t *testing.T, e *replay.Envelope) (lines []string) {
	p, err := e.Prompt()
	if err != nil {
		return []string{err.Error()}
	}
	for _, part := range p.Parts {
		lines = append(lines, fmt.Sprintf("part %s %v %s", part.Name, part.Origin, golden.Digest(part.Text)))
	}
	for _, tool := range append(p.Tools, p.Omitted...) {
		lines = append(lines, fmt.Sprintf("tool %s %v", tool.Name, tool.Origin))
	}
	model, limit, from, err := e.Model()
	size, sizeErr := e.Size()
	reading, readingErr := e.Reading()
	lines = append(lines, fmt.Sprintf("options %s, model %v %d %s %v, size %v %v, reading %s %v", p.Options.Append(nil), model,
		limit, from, err, size, sizeErr, golden.Digest(reading), readingErr))
	k := 0
	for m, err := range e.ProviderMessages() {
		if err != nil {
			return append(lines, err.Error())
		}
		lines = append(lines, fmt.Sprintf("message %v %v %s", m.Kind, m.Origin, golden.Digest(string(m.Raw))))
		k++
	}
	for i := range e.Len() {
		p := e.Piece(i)
		rec, omits := p.Edit()
		lines = append(lines, fmt.Sprintf("piece %v edit %d %t own %t sent %t stored %t reframed %t summary %t", p.Kind(), rec,
			omits, p.Own(), p.Sent(), p.Stored(), p.Reframed(), p.Summary()))
	}
	return lines
}
