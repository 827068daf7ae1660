package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// TestRun: the same package makes the same files, with its version and day, and without
// models that are not for chat.
func TestRun(t *testing.T) {
	from := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(from, filepath.FromSlash(name))
		must.Do(os.MkdirAll(filepath.Dir(name), 0o700))
		must.Do(os.WriteFile(name, []byte(text), 0o600))
	}
	write("package.json", `{"name":"@acme/models","version":"1.2.3"}`)
	write("dist/providers/data/acme.json", `{"one":{"b":{"type":"chat","provider":"acme","id":"b","contextWindow":9,"cost":{"input":1}},
		"x":{"type":"image","provider":"acme","id":"x"}},"two":{"a":{"type":"chat","provider":"acme","id":"a","maxTokens":3}}}`)
	var first []byte
	for range 3 {
		to := t.TempDir()
		must.Do(run(from, "2026-01-31", to))
		packed := must.Get(os.ReadFile(filepath.Join(to, "models.tsv.gz")))
		if first == nil {
			first = packed
		}
		if !bytes.Equal(packed, first) {
			t.Error("two runs make two tables")
		}
		source, err := os.ReadFile(filepath.Join(to, "source.go"))
		if err != nil || !strings.Contains(string(source), `Date = "2026-01-31"`) || !strings.Contains(string(source), `Source = "@acme/models 1.2.3"`) {
			t.Errorf("source.go: %s, %v", source, err)
		}
	}
	all, err := catalogue(filepath.Join(from, "dist", "providers", "data"))
	if err != nil || len(all) != 2 || all[0].ID != "a" || all[1].ID != "b" || all[1].Cost.Input != 1 {
		t.Errorf("catalogue: %+v, %v", all, err)
	}
	if err := run(from, "today", t.TempDir()); err == nil {
		t.Error("a date that is none is taken")
	}
	if _, err := catalogue(t.TempDir()); err == nil {
		t.Error("an empty folder is a catalogue")
	}
}
