package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// codesOf are the findings of a session, as code@line.
func codesOf(t *testing.T, data string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "s.jsonl")
	must.Do(os.WriteFile(name, []byte(data), 0o600))
	choice := must.Get(Choose(nil, []string{"times"}))
	var codes []string
	for _, f := range File(name, Options{Choice: choice}).Findings {
		codes = append(codes, f.Code+"@"+string(rune('0'+f.Line)))
	}
	return strings.Join(codes, " ")
}

const called = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}
{"type":"message","id":"u","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"go"}}
{"type":"message","id":"a","parentId":"u","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"ls","arguments":{}}],"stopReason":"toolUse"}}
{"type":"message","id":"r","parentId":"a","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"toolResult","toolCallId":"c","toolName":"ls","content":[]}}
`

// TestTrapN22EditTakesCallsAway: an answer whose calls an edit has taken away leaves
// its results alone.
func TestTrapN22EditTakesCallsAway(t *testing.T) {
	edit := `{"type":"context_edit","id":"e","parentId":"r","timestamp":"2026-01-01T00:00:01.000Z","targetId":"a","replacement":{"content":"done"}}` + "\n"
	if got := codesOf(t, called+edit); got != "result-lost-call@4" {
		t.Errorf("%s", got)
	}
	if got := codesOf(t, called); got != "" {
		t.Errorf("without the edit: %s", got)
	}
}

// TestTrapN23EditTakesResultAway: a result that an edit has omitted leaves its call
// alone.
func TestTrapN23EditTakesResultAway(t *testing.T) {
	edit := `{"type":"context_edit","id":"e","parentId":"r","timestamp":"2026-01-01T00:00:01.000Z","targetId":"r","replacement":null}` + "\n"
	if got := codesOf(t, called+edit); got != "call-lost-result@3" {
		t.Errorf("%s", got)
	}
	again := strings.Replace(strings.Replace(edit, `"id":"e","parentId":"r"`, `"id":"f","parentId":"e"`, 1), `"targetId":"r"`, `"targetId":"a"`, 1)
	if got := codesOf(t, called+edit+again); got != "" {
		t.Errorf("with its call omitted too: %s", got)
	}
}
