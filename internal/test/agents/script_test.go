package agents

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ctxtool/internal/test/must"
)

// TestRepeat: repetitions are written out, within each other too, and unknown fields are an error.
func TestRepeat(t *testing.T) {
	name := filepath.Join(t.TempDir(), "long.json")
	write := func(text string) { must.Do(os.WriteFile(name, []byte(text), 0o644)) }
	write(`{"steps": [
		{"repeat": 2, "of": [
			{"do": "print", "turns": [{"repeat": 3, "prompt": "{{i}} of {{ii}}", "answers": [{"text": "{{3*a}}"}]}]},
			{"do": "wait"}]},
		{"do": "print", "prompt": "End."}]}`)
	var got []string
	for _, s := range must.Get(ReadScript(name)).Steps {
		got = append(got, s.Do)
		for _, turn := range s.Turns {
			got = append(got, string(turn.Prompt)+turn.Answers[0].Text[0])
		}
	}
	want := []string{"print", `"1 of 1"aaa`, `"2 of 1"aaa`, `"3 of 1"aaa`, "wait", "print", `"1 of 2"aaa`, `"2 of 2"aaa`,
		`"3 of 2"aaa`, "wait", "print"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
	write(`{"steps": [{"do": "print", "promt": "Misspelt."}]}`)
	if _, err := ReadScript(name); err == nil {
		t.Error("a field that no script has is read")
	}
}
