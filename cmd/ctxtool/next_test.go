package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

// TestNext: the command that a plan ends with does what the plan says, and a plan made after it has
// nothing left to do.
func TestNext(t *testing.T) {
	t.Parallel()
	made := filepath.Dir(demo) + "/"
	for _, line := range []string{
		"reduce --pass truncate:max=20 s.jsonl", "compact --pass compact:keep=100 s.jsonl", "prune --pass prune:protect=10 s.jsonl",
		"reduce s.jsonl", "reduce dir --policy gsh --target 20", "repair bad.jsonl", "migrate v1.jsonl", "migrate dir",
	} {
		dir := t.TempDir()
		for from, to := range map[string]string{
			demo: "s.jsonl", made + "good/cache.jsonl": "dir/b.jsonl", made + "good/v1.jsonl": "v1.jsonl",
			made + "good/v2.jsonl": "dir/v2.jsonl", made + "bad/glued.jsonl": "bad.jsonl",
		} {
			must.Do(os.MkdirAll(filepath.Join(dir, filepath.Dir(to)), 0o700))
			must.Do(os.WriteFile(filepath.Join(dir, to), must.Get(os.ReadFile(filepath.Join(corpus.Root(t), from))), 0o600))
		}
		for n := 0; ; n++ {
			r := ranIn(dir, strings.Fields(line)...)
			_, next, more := strings.Cut(r.stdout.String(), ":\n  ctxtool ")
			if r.status != exitOK || n == 3 || !more && n == 0 {
				t.Fatalf("%s: status %d, %s%s", line, r.status, &r.stdout, &r.stderr)
			}
			if !more {
				break
			}
			if !strings.Contains(next, " --write") { // a plan with a target
				line = strings.TrimSpace(next)
				continue
			}
			if r := ranIn(dir, strings.Fields(next+" --force")...); r.status != exitOK {
				t.Fatalf("%s: status %d, %s", next, r.status, &r.stderr)
			}
		}
	}
}
