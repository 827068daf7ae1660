package trace_test

import (
	"fmt"
	"testing"

	"ctxtool/internal/lens/trace"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/samples"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// TestSamples: the history of each entry, of a word that many messages have, and of a file.
func TestSamples(t *testing.T) {
	samples.Hold(t, func(s *sessionfmt.Session) (lines []string) {
		r := replay.New(s, replay.Options{Lenient: true})
		follow := func(name string, q *trace.Query) {
			all, err := trace.Follow(r, s.Leaf(), q)
			if err != nil {
				lines = append(lines, fmt.Sprintf("%s: %v", name, err))
				return
			}
			line := fmt.Sprintf("%s: %d steps, %d requests, %d files %s", name, all.Steps, all.Requests, len(all.Files),
				golden.Digest(all.Files))
			for _, l := range all.Lives {
				line += fmt.Sprintf("; %s seen %v now %t, %s", l.As, l.Seen, l.Now, golden.Digest(l))
			}
			for l, err := range all.Strays(r, s.Leaf(), q) {
				if err == nil {
					line += fmt.Sprintf("; stray %s %s", l.Why, golden.Digest(l))
				}
			}
			lines = append(lines, line)
		}
		for i := range s.Len() {
			follow(fmt.Sprint(i), &trace.Query{Entry: i})
		}
		for _, text := range []string{"the", "read", "internal/outbox/outbox.go", "a"} {
			follow(text, &trace.Query{Text: text})
		}
		return lines
	})
}
