package main

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

// TestAtOnce: many commands that write to one session at once all succeed, where what
// they say does not depend on what the others have said.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	const many = 40
	demo := must.Get(os.ReadFile(filepath.Join(corpus.Root(t), "testdata", "sessions", "demo.jsonl")))
	for name, words := range map[string]string{
		"label": "label s.jsonl turn:2 L --write", "name": "label --session s.jsonl N --write",
		"edit": "edit s.jsonl 4eeafed6 --replace F --write --force",
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "s.jsonl")
		must.Do(os.WriteFile(file, demo, 0o600))
		for k := range many {
			must.Do(os.WriteFile(filepath.Join(dir, "n"+string(rune('a'+k))), []byte(string(rune('a'+k))), 0o600))
		}
		var wg sync.WaitGroup
		for k := range many {
			wg.Go(func() {
				if r := ranIn(dir, commandLine(words, "L", "l"+string(rune('a'+k)), "N", "n"+string(rune('a'+k)), "F", "n"+string(rune('a'+k)))...); r.status != exitOK {
					t.Errorf("%s: %s", name, &r.stderr)
				}
			})
		}
		wg.Wait()
		after := must.Get(os.ReadFile(file))
		if got := bytes.Count(after[len(demo):], []byte("\n")); got != many || !bytes.HasPrefix(after, demo) {
			t.Errorf("%s: %d entries are new, want %d", name, got, many)
		}
		if r := ranIn(dir, "check", "s.jsonl"); r.status != exitOK {
			t.Errorf("%s: %s", name, &r.stdout)
		}
	}
}
