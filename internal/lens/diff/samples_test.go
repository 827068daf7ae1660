package diff_test

import (
	"fmt"
	"testing"

	"ctxtool/internal/lens/diff"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/samples"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// TestSamples: what differs between entries that follow each other in the file, and from each to the leaf.
func TestSamples(t *testing.T) {
	samples.Hold(t, func(s *sessionfmt.Session) (lines []string) {
		r := replay.New(s, replay.Options{Lenient: true})
		for i := 1; i < s.Len(); i++ {
			for _, to := range []int{i, s.Leaf()} {
				span, err := diff.Between(r, i-1, to)
				if err != nil {
					lines = append(lines, fmt.Sprintf("%d %d: %v", i-1, to, err))
					continue
				}
				d, err := span.Diff(&tokens.Pi)
				if err != nil {
					lines = append(lines, fmt.Sprintf("%d %d: %v", i-1, to, err))
					continue
				}
				line := fmt.Sprintf("%d %d: shared %v, %v to %v, equal %t %t, parts %d %s, tools %d %s, options %d, messages %s", i-1, to,
					d.Shared, d.Tokens.A, d.Tokens.B, d.Equal(), d.MessagesDiffer(), len(d.Parts), golden.Digest(d.Parts),
					len(d.Tools), golden.Digest(d.Tools), len(d.Options), golden.Digest(d.Messages))
				for _, m := range d.Messages {
					line += fmt.Sprintf(" %s %d %d %d %d", m.Change, m.A, m.B, m.Count, m.Tokens)
				}
				lines = append(lines, line)
			}
		}
		return lines
	})
}
