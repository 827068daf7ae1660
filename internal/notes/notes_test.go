package notes

import (
	"strings"
	"testing"

	"ctxtool/internal/corpus"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// TestOf: notes of any session are lines under their headings, the same each time, and an
// update by the session that they are of changes nothing.
func TestOf(t *testing.T) {
	for _, c := range corpus.Sample(t) {
		t.Run(c.Name, func(t *testing.T) {
			s, err := sessionfmt.OpenReader(c.Name, strings.NewReader(string(c.Data)), sessionfmt.Options{})
			if err != nil {
				t.Skip(err)
			}
			r := replay.New(s, replay.Options{Leaf: s.Leaf(), Rules: replay.Rules(0).Decide(s, s.Leaf())})
			n, _, err := Read(r, s.Leaf())
			if err != nil {
				t.Fatal(err)
			}
			text := Of(n)
			for line := range strings.Lines(text) {
				if line[0] == '#' && !strings.HasPrefix(line, "# Session Memory: ") && !strings.HasPrefix(line, "## Project: ") && !Valid(line) {
					t.Errorf("a heading that is none: %q", line)
				}
				if strings.Contains(line, "<!--") {
					t.Errorf("a comment: %q", line)
				}
			}
			marked := Marked(text)
			if again := Update(marked, text, n.Settled); again != marked {
				t.Errorf("an update makes of\n%s\nthis:\n%s", marked, again)
			}
			if _, err := Digest([]*Session{n, n}, 1<<20, func(text string) int { return len(text) }); err != nil {
				t.Error(err)
			}
		})
	}
}
