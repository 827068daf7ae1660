package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

// TestOddNames: whatever the name of a file holds, a terminal is shown no escape, and a
// log no line that is not ours.
func TestOddNames(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no such names on Windows")
	}
	dir := t.TempDir()
	const odd = "\x1b[31m\n::error::pwned\r\u202e.jsonl"
	for name, from := range map[string]string{"good" + odd: "demo.jsonl", "bad" + odd: "bad/orphan.jsonl", "none" + odd: "bad/not-a-session.jsonl"} {
		data, err := os.ReadFile(filepath.Join(corpus.Root(t), "testdata", "sessions", from))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	obeyed := regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u202e]|(?m:^::error::pwned)")
	for _, words := range []string{
		"replay S", "replay S -f json", "replay S --strict", "replay S --at nowhere", "replay S --tail --rules pi", "replay S -o missing\x1b/x",
		"log S", "log --tree S", "show S leaf", "diff S root leaf", "diff S S", "trace S x", "cache S", "cache S -f csv", "stats S", "stats S -f csv",
		"stats S -f markdown", "stats S --require cost.total<=0", "stats S --require cost.total<=0 -f github", "stats S --require cost.total<=0 -f junit", "stats S --require cost.total<=0 -f sarif",
		"count S", "count S -f csv", "reduce S --policy gsh --window 200", "reduce --pass truncate S", "reduce --pass strip-thinking S", "undo S", "render S", "check S", "check S -f github",
		"check S -f markdown", "repair S", "redact S", "migrate S", "label S leaf x", "label --session S x", "edit S leaf --omit", "branch S leaf", "ls S", "ls S --strict",
	} {
		for _, target := range []string{"good" + odd, "bad" + odd, "none" + odd, "."} {
			r := ranIn(dir, commandLine(words, "S", target)...)
			for _, out := range []string{r.stdout.String(), r.stderr.String()} {
				if at := obeyed.FindStringIndex(out); at != nil {
					t.Errorf("%s, %.4q: %q", words, target, out[max(0, at[0]-40):min(len(out), at[1]+40)])
				}
			}
		}
	}
}

// TestOldNames: no document names a command by what it was called, as programs are configured.
func TestOldNames(t *testing.T) {
	t.Parallel()
	old := strings.Join(slices.Collect(maps.Keys(renamed)), "|")
	called := regexp.MustCompile(`(?:ctxtool |\["ctxtool", "|"args": \["|args = \[")(?:` + old + `)\b`)
	pages := must.Get(filepath.Glob("../../docs/*.md"))
	for _, pattern := range []string{"../../docs/*/*.md", "../../*.md"} {
		pages = append(pages, must.Get(filepath.Glob(pattern))...)
	}
	for _, page := range pages {
		if found := called.FindString(string(must.Get(os.ReadFile(page)))); found != "" {
			t.Errorf("%s: %s", page, found)
		}
	}
}
