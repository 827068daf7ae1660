package notes

import (
	"strings"
	"testing"

	"ctxtool/compact"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
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
			r := replay.New(s, replay.Options{Rules: replay.Rules(0).Decide(s, s.Leaf())})
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
			marked := Update("", text, nil)
			if again := Update(marked, text, n.Settled); again != marked {
				t.Errorf("an update makes of\n%s\nthis:\n%s", marked, again)
			}
			if _, err := Digest([]*Session{n, n}, 1<<20, func(text string) int { return len(text) }); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDecisions: what was found and what is cut is no decision.
func TestDecisions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Tokens are signed with PyJWT instead of being kept in a table.": true,
		"The footer now uses `dim` rather than `muted`.":                 true,
		"We have decided to keep the old names.":                         true,
		"The selector has an old list instead of the theme.":             false,
		"It still uses chalk rather than the theme.":                     false,
		"Empty lines are now padded instead of":                          false,
		"Wrap it in `fg(`, instead of just (bold":                        false,
		"We should use the theme instead of chalk.":                      false,
	} {
		s := Session{Facts: &compact.Facts{}}
		s.Decisions = append(s.Decisions, struct {
			Key, Text string
			Record    int
		}{Text: text})
		if got := len(s.decisions()) == 1; got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestClaude: files that Claude Code's tools change are in the notes, and what the program
// itself writes as a prompt is not what the user asked last.
func TestClaude(t *testing.T) {
	const lines = `{"parentUuid":null,"type":"user","message":{"role":"user","content":"Make the lexer skip comments in every file."},"uuid":"a","sessionId":"s","timestamp":"2026-01-01T00:00:01Z"}
{"parentUuid":"a","type":"assistant","message":{"id":"m","role":"assistant","model":"claude-x","content":[{"type":"text","text":"I add a case for comments."},{"type":"tool_use","id":"t","name":"Edit","input":{"file_path":"lex.go","new_string":"x"}}]},"uuid":"b","sessionId":"s","timestamp":"2026-01-01T00:00:02Z"}
{"parentUuid":"b","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ok"}]},"uuid":"c","sessionId":"s","timestamp":"2026-01-01T00:00:03Z"}
{"parentUuid":"c","type":"user","message":{"role":"user","content":"<task-notification>The agent that reads the tests has ended.</task-notification>"},"uuid":"d","sessionId":"s","timestamp":"2026-01-01T00:00:04Z"}
{"parentUuid":"d","type":"user","message":{"role":"user","content":"This session is being continued from a previous conversation that ran out of context."},"uuid":"e","sessionId":"s","timestamp":"2026-01-01T00:00:05Z"}
`
	s := must.Get(sessionfmt.OpenReader("s.jsonl", strings.NewReader(lines), sessionfmt.Options{}))
	n, _, err := Read(replay.New(s, replay.Options{Rules: replay.Rules(0).Decide(s, s.Leaf())}), s.Leaf())
	if err != nil {
		t.Fatal(err)
	}
	text := Of(n)
	for _, want := range []string{"### Files Modified\n- `lex.go` (updated)", "### Current Task\nMake the lexer skip comments"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, not := range []string{"notification", "continued from"} {
		if strings.Contains(text, not) {
			t.Errorf("%q in\n%s", not, text)
		}
	}
}
