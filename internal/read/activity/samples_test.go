package activity_test

import (
	"fmt"
	"testing"

	"ctxtool/internal/read/activity"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/samples"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestSamples: what the prompts and calls of sessions do.
func TestSamples(t *testing.T) {
	samples.Hold(t, func(s *sessionfmt.Session) (lines []string) {
		r := s.NewReader()
		for i := range s.Len() {
			line, err := r.Line(i)
			if err != nil {
				continue
			}
			m := line.Get("message").Message()
			if m.Kind == jsonl.User {
				lines = append(lines, fmt.Sprintf("%d prompt %s", i, golden.Digest(activity.ReadPrompt(m.Content.Text()))))
			}
			for c := range activity.Calls(m) {
				lines = append(lines, fmt.Sprintf("%d %v %q %q %q runs %t paths %q replaced %s, %s", i, c.Action, c.Tool, c.Subject(), c.Command, c.Runs(), c.Paths,
					golden.Digest(c.Replacements()), golden.Digest(c)))
			}
		}
		return lines
	})
}
