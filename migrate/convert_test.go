package migrate

import (
	"path/filepath"
	"testing"

	"ctxtool/sessionfmt"
)

// TestConvert converts real sessions of Codex and Claude Code, and holds the contexts to each
// other.
func TestConvert(t *testing.T) {
	files, _ := filepath.Glob("../../shared/vectors/codex/*/rollout*")
	transcripts, _ := filepath.Glob("../../shared/corpus/claude-code/*.jsonl*")
	if files = append(files, transcripts...); len(files) == 0 {
		t.Skip("left out: no sessions at ../shared/vectors/codex and ../shared/corpus/claude-code")
	}
	for _, file := range files {
		was, err := sessionfmt.Open(file, sessionfmt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer was.Close()
		is, err := Convert(was)
		if err != nil {
			t.Error(err)
			continue
		}
		defer is.Close()
		for _, f := range is.Findings {
			t.Errorf("%s: %v", file, f)
		}
	}
}
