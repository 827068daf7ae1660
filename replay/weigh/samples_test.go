package weigh_test

import (
	"fmt"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/internal/test/samples"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
)

// TestSamples: what each message weighs by each counter: text, thinking, calls, images.
func TestSamples(t *testing.T) {
	var counters []*tokens.Counter
	for _, name := range tokens.Names() {
		counters = append(counters, must.Get(tokens.Find(name)))
	}
	samples.Hold(t, func(s *sessionfmt.Session) (lines []string) {
		r, w := s.NewReader(), &weigh.Weigher{}
		for i := range s.Len() {
			line, err := r.Line(i)
			m := line.Get("message").Message()
			if err != nil || len(m.Blocks) == 0 {
				continue
			}
			text := fmt.Sprintf("%d %v:", i, m.Kind)
			for _, c := range counters {
				all := w.Reset(c).Message(m)
				text += fmt.Sprintf(" %v %v %d,", all, w.Reset(c).Content(m), weigh.MessageTokens(c, m))
			}
			lines = append(lines, text)
		}
		return lines
	})
}

// TestSizes: what a recorded size leaves to its counted parts, and when it contradicts them.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		size    weigh.Size
		counted int
		name    string
		rest    int
	}{
		{weigh.Size{Tokens: 1000}, 900, "not in the file", 100},
		{weigh.Size{Tokens: 1000}, 1100, "counted too much", -100},
		{weigh.Size{Tokens: 40_000}, 52_000, "counted too much", -12_000},
		{weigh.Size{Tokens: 40_000}, 52_001, "removed outside of the file", -12_001},
		{weigh.Size{Tokens: 10_000}, 17_999, "counted too much", -7999},
		{weigh.Size{Tokens: 10_000}, 18_000, "removed outside of the file", -8000},
		{weigh.Size{Tokens: 60_000, Estimated: 20_000}, 72_000, "counted too much", -12_000},
		{weigh.Size{Tokens: 60_000, Estimated: 20_000}, 72_001, "removed outside of the file", -12_001},
		{weigh.Size{Tokens: 10_000, Estimated: 10_000}, 99_000, "counted too much", -89_000},
	} {
		if name, rest := c.size.Rest(c.counted); name != c.name || rest != c.rest {
			t.Errorf("%+v, counted %d: %s %d, want %s %d", c.size, c.counted, name, rest, c.name, c.rest)
		}
	}
	unknown := weigh.Counts{Messages: 50, Total: 50, NoSystem: true}
	for _, c := range []struct {
		size weigh.Size
		n    weigh.Counts
		want weigh.Size
	}{
		{weigh.Size{Tokens: 80}, unknown, weigh.Size{Tokens: 80}},
		{weigh.Size{Tokens: 50}, unknown, weigh.Size{Tokens: 50}},
		{weigh.Size{Tokens: 40, Estimated: 40}, unknown, weigh.Size{Tokens: 50, Estimated: 50}},
		{weigh.Size{Tokens: 40}, unknown, weigh.Size{Tokens: 50}},
		{weigh.Size{Tokens: 80}, weigh.Counts{Messages: 50, Total: 60}, weigh.Size{Tokens: 60}},
	} {
		if got := c.size.Or(c.n); got != c.want {
			t.Errorf("%+v or %+v: %+v, want %+v", c.size, c.n, got, c.want)
		}
	}
}
