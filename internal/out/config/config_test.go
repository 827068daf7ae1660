package config

import (
	"fmt"
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
		c := &Config{files: []*layer{l}, getenv: func(string) string { return "" }}
		if got, _ := c.Lookup("max-iterations"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestMistakes: what a file sets wrongly is an error at its line, or that of its table.
func TestMistakes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\nmodels = 3":                                           "2: models: must be a table",
		"[models]\na = 1":                                        "1: models.a: must be a table",
		"[Models.\"a/b\"]\ninput = 1":                            "",
		"policies = [3]":                                         "1: policies: must be a table",
		"[policies.x]\nlike = 'pi'\nwindw = 3":                   "3: unknown key policies.x.windw",
		"policies.x.like = 'pi'\npolicies.x.wind = 4":            "2: unknown key policies.x.wind",
		"[policies.x]\nlike = 3":                                 "2: policies.x.like: must be a text",
		"[policies.x]\nLike = 'pi'\n\nwindow = '3'":              "4: policies.x.window: must be a whole number",
		"[policies.x]\nlayers = [3]":                             "2: policies.x.layers: must be a list of tables",
		"[policies.x]\n[[policies.x.layers]]\npass = 'truncate'": "",
	} {
		name := filepath.Join(t.TempDir(), "c.toml")
		must.Do(os.WriteFile(name, []byte(text), 0o600))
		if want != "" {
			want = name + ":" + want
		}
		_, err := Read(sessionfmt.Disk{}, os.Getenv, []string{name}, "")
		if got := fmt.Sprint(err); got != want && !(err == nil && want == "") {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
