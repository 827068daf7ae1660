package compact

import (
	"testing"

	"ctxtool/replay/models"
)

// TestGshWindows: the window that gsh takes a model to have.
func TestGshWindows(t *testing.T) {
	for _, test := range []struct {
		provider, id string
		want         int64
	}{
		{"anthropic", "claude", 200_000}, {"openai", "gpt-4o-mini", 128_000}, {"openai", "gpt-4-0613", 8192},
		{"openai", "o3-pro", 200_000}, {"openai", "gpt-5", 128_000}, {"ollama", "llama3", 4000}, {"x", "gpt-4", 100_000}, {"", "", 100_000},
	} {
		if got := GSHPolicy.WindowOf(models.Ref{Provider: test.provider, ID: test.id}); got != test.want {
			t.Errorf("%s/%s: %d, want %d", test.provider, test.id, got, test.want)
		}
	}
}
