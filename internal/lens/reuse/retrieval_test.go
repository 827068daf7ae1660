package reuse

import (
	"testing"

	"ctxtool/sessionfmt/jsonl"
)

// TestRetrievals: a result is used if a later answer names its file, or repeats a term that it
// has first. Further lookups are not uses, and a result that no answer follows is not judged.
func TestRetrievals(t *testing.T) {
	read := func(id, path string) string {
		return `{"role":"assistant","content":[{"type":"toolCall","id":"` + id + `","name":"read","arguments":{"path":"` + path + `"}}]}`
	}
	result := func(id, text string) string {
		return `{"role":"toolResult","toolCallId":"` + id + `","content":[{"type":"text","text":"` + text + `"}]}`
	}
	says := func(text string) string {
		return `{"role":"assistant","content":[{"type":"text","text":"` + text + `"}]}`
	}
	edit := func(path string) string {
		return `{"role":"assistant","content":[{"type":"toolCall","id":"e","name":"edit","arguments":{"path":"` + path + `"}}]}`
	}
	claude := `{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"Read","arguments":{"file_path":"src/a.go"}}]}`
	failed := `{"role":"toolResult","toolCallId":"c","isError":true,"content":[{"type":"text","text":"no such file"}]}`
	for _, test := range []struct {
		name     string
		messages []string
		used, of int
	}{
		{"edited", []string{read("c", "src/a.go"), result("c", "nothing"), edit("/w/src/a.go")}, 1, 1},
		{"of Claude Code", []string{claude, result("c", "nothing"), edit("/w/src/a.go")}, 1, 1},
		{"repeated", []string{read("c", "a.go"), result("c", "func drainAll() {}"), says("drainAll is wrong")}, 1, 1},
		{"said before", []string{says("drainAll may be wrong"), read("c", "a.go"), result("c", "func drainAll() {}"), says("drainAll is wrong")}, 0, 1},
		{"read again", []string{read("c", "a.go"), result("c", "x"), read("d", "a.go"), result("d", "y"), edit("a.go")}, 1, 2},
		{"ignored", []string{read("c", "a.go"), result("c", "func drainAll() {}"), says("Done.")}, 0, 1},
		{"not judged yet", []string{read("c", "a.go"), result("c", "x")}, 0, 0},
		{"failed", []string{read("c", "a.go"), failed, edit("a.go")}, 0, 0},
	} {
		r := NewRetrievals()
		for _, m := range test.messages {
			r.Message(jsonl.Value(m).Message())
		}
		if used, of := r.Count(); used != test.used || of != test.of {
			t.Errorf("%s: %d of %d, want %d of %d", test.name, used, of, test.used, test.of)
		}
	}
}
