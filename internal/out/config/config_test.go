package config

import (
	"os"
	"path/filepath"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// TestGSHNames: a setting that gsh has too is read under both names, its own first.
func TestGSHNames(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"max-iterations = 7":                                         "7",
		"[context]\nmax_iterations = 8":                              "8",
		"max-iterations = 7\n[context]\nmax_iterations = 8":          "7",
		"[context]\nmax_iterations = 0\nprune_protect_tokens = 1000": "0",
		"[context]\nmax-iterations = 8":                              "",
	} {
		name := filepath.Join(t.TempDir(), "config.toml")
		must.Do(os.WriteFile(name, []byte(text), 0o600))
		l := must.Get(readLayer(sessionfmt.Disk{}, name, false))
		c := &Config{files: []layer{l}, getenv: func(string) string { return "" }}
		if got, _ := c.Lookup("max-iterations"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
