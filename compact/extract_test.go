package compact

import (
	"strings"
	"testing"

	"ctxtool/internal/corpus"
	"ctxtool/internal/tokens"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// worked is a stretch of work with a bit of everything.
func worked() []said {
	return []said{
		user("Fix the login. You must never touch the config file. See https://example.com/bug/7."),
		answer("I look.", call("1", "read", `{"path":"auth.go"}`)), failed("1", "package auth", false),
		answer("", call("2", "bash", `{"command":"go test ./..."}`)), failed("2", "ok  a\n--- FAIL: TestLogin: got nil\nFAIL\n\nCommand exited with code 1", true),
		answer("I decided to check the token first because the session is lazy.", call("3", "edit", `{"path":"auth.go"}`)), failed("3", "done", false),
		answer("", call("4", "bash", `{"command":"go vet ./..."}`)), failed("4", "auth.go:3: undefined: tok", true),
		answer("", call("5", "bash", `{"command":"go test ./..."}`)), failed("5", "ok", false),
		answer("The tests pass.\n\nNext steps:\n1. mend the vet finding\n2. commit"),
	}
}

// extract is the summary of a stretch.
func extract(t testing.TB, v *View, budget int, previous string, part Part) string {
	t.Helper()
	text, err := Extract.New(budget)(Request{View: v, Style: StyleGSH, Part: part, Messages: v.live(), Previous: previous})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

const workedSummary = `## Goal
Fix the login. You must never touch the config file. See https://example.com/bug/7.

## Constraints & Preferences
- You must never touch the config file.

## Progress
### Done
- [x] ` + "`go test ./...`" + ` passes
- [x] edited auth.go

### Blocked
- ` + "`go vet ./...`" + ` fails: auth.go:3: undefined: tok

## Key Decisions
- I decided to check the token first because the session is lazy.

## Next Steps
1. mend the vet finding
2. commit

## Critical Context
- Last said: The tests pass. Next steps: 1. mend the vet finding 2. commit
- https://example.com/bug/7

<modified-files>
auth.go
</modified-files>`

// TestExtract: each thing that counts is in its section, and a failure that has been
// mended is none.
func TestExtract(t *testing.T) {
	v := of(t, worked()...)
	if got := extract(t, v, 4000, "", History); got != workedSummary {
		t.Errorf("%s", got)
	}
	prefix := extract(t, v, 4000, "", TurnPrefix)
	for _, want := range []string{"## Original Request\nFix the login.", "## Progress So Far\n", "## Context Needed to Continue\n- You must never"} {
		if strings.Count(prefix, want) != 1 {
			t.Errorf("no %q in\n%s", want, prefix)
		}
	}
	open := of(t, worked()[:3]...)
	if got := extract(t, open, 4000, "", History); !strings.Contains(got, "### In Progress\n- [ ] Fix the login.") {
		t.Errorf("what is not finished is not in progress:\n%s", got)
	}
}

// TestExtractFolds: an earlier summary goes in, section by section; what has been mended
// or said anew since takes the place of what it said.
func TestExtractFolds(t *testing.T) {
	later := of(t, summarised(workedSummary), user("Now mend the vet finding."), answer("", call("1", "bash", `{"command":"go vet ./..."}`)), failed("1", "", false), answer("Done."))
	got := extract(t, later, 4000, workedSummary, History)
	for _, want := range []string{"See https://example.com/bug/7.\nNow mend", "- You must never", "- [x] edited auth.go", "`go vet ./...` passes", "- Last said: Done.", "## Next Steps\n1. mend"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for _, no := range []string{"### Blocked", "The tests pass."} {
		if strings.Contains(got, no) {
			t.Errorf("%q in\n%s", no, got)
		}
	}
	if again := extract(t, of(t, user("go on")), 4000, got, History); !strings.Contains(again, "- I decided to check") {
		t.Errorf("a decision is lost when folded in twice:\n%s", again)
	}
	if other := extract(t, of(t, user("x")), 4000, "Remember the milk.", History); !strings.Contains(other, "## Critical Context\n- Remember the milk.") {
		t.Errorf("a summary of another shape is lost:\n%s", other)
	}
}

// TestExtractFits: whatever the budget, the summary is within it, says something, and is
// the same each time.
func TestExtractFits(t *testing.T) {
	seen := 0
	for _, s := range corpus.All(t) {
		v := viewed(t, s.Data, replay.Options{})
		if v == nil || v.Tokens(&tokens.Pi) < 500 || len(s.Data) > 1<<20 {
			continue
		}
		for _, budget := range []int{60, 400, 4000} {
			for _, part := range []Part{History, TurnPrefix, Sequence} {
				got := extract(t, v, budget, "", part)
				if n := tokens.Pi.Of(sessionfmt.Units(got)); n > budget || got == "" {
					t.Errorf("%s: %d tokens in a budget of %d: %.200s", s.Name, n, budget, got)
				}
				if again := extract(t, v, budget, "", part); budget == 400 && again != got {
					t.Errorf("%s: two runs give two summaries", s.Name)
				}
			}
		}
		seen++
	}
	if seen < 20 {
		t.Errorf("only %d sessions", seen)
	}
}

// TestFindSummarizer: an unknown name is told the known ones.
func TestFindSummarizer(t *testing.T) {
	for _, s := range Summarizers() {
		if got, err := FindSummarizer(s.Name); got != s || err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	if _, err := FindSummarizer("x"); err == nil || !strings.Contains(err.Error(), "extract") {
		t.Errorf("%v", err)
	}
}
