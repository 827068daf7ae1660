package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ctxtool/internal/corpus"
)

// documents are the pages whose examples are run.
func documents(t *testing.T) []string {
	t.Helper()
	root := corpus.Root(t)
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	return append(docs, filepath.Join(root, "README.md"))
}

var consoleBlock = regexp.MustCompile("(?ms)^```console\n(.*?)^```$")

// TestExamples runs every `$ ctxtool` line of a console block and compares what
// it prints, both streams together. A line of three dots stands for any lines.
func TestExamples(t *testing.T) {
	t.Parallel()
	n := 0
	for _, name := range documents(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range consoleBlock.FindAllStringSubmatch(string(text), -1) {
			for _, example := range strings.Split("\n"+block[1], "\n$ ")[1:] {
				command, want, _ := strings.Cut(example, "\n")
				n++
				t.Run(filepath.Base(name)+"/"+command, func(t *testing.T) { runExample(t, command, want) })
			}
		}
	}
	if n == 0 {
		t.Error("no examples: the pattern is wrong")
	}
}

func runExample(t *testing.T, command, want string) {
	args := strings.Fields(strings.ReplaceAll(command, "'", ""))
	if args[0] != "ctxtool" {
		t.Fatalf("only ctxtool is run here, not %s", args[0])
	}
	in := testEnv(corpus.Root(t))
	var out bytes.Buffer
	in.stdout, in.stderr = &out, &out
	in.run(args[1:])
	pattern := regexp.QuoteMeta(strings.TrimSuffix(want, "\n"))
	pattern = strings.ReplaceAll(pattern, `\.\.\.`+"\n", "(?s:.*\n)?")
	pattern = strings.TrimSuffix(pattern, `\.\.\.`)
	if strings.HasSuffix(want, "...\n") || strings.HasSuffix(want, "...") {
		pattern += "(?s:.*)"
	}
	if !regexp.MustCompile("^" + pattern + "\n?$").Match(out.Bytes()) {
		t.Errorf("prints\n%s\nthe page says\n%s", out.String(), want)
	}
}

// TestReadme: the first screen is enough, and so is the page.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(corpus.Root(t), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) > 121 {
		t.Errorf("%d lines, at most 120", len(lines)-1)
	}
	for _, command := range []string{"go run ./cmd/ctxtool replay testdata/sessions/demo.jsonl", "go test ./..."} {
		if first := strings.Join(lines[:min(25, len(lines))], "\n"); !strings.Contains(first, command) {
			t.Errorf("%q is not on the first screen", command)
		}
	}
}

// TestLinks: what a page links to is there.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#: ]+)(#[^)]*)?\)`)
	for _, name := range documents(t) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", filepath.Base(name), m[1])
			}
		}
	}
}

// TestExampleConfiguration: what the example sets is read, all of it.
func TestExampleConfiguration(t *testing.T) {
	t.Parallel()
	example, err := os.ReadFile(filepath.Join(corpus.Root(t), "docs", "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := strings.ReplaceAll(string(example), "# implemented", "implemented")
	if err := os.WriteFile(filepath.Join(dir, ".ctxtool.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := ranIn(dir, "config")
	if r.status != exitOK || strings.Contains(r.stdout.String(), "unknown") {
		t.Errorf("status %d\n%s%s", r.status, &r.stdout, &r.stderr)
	}
	if n := strings.Count(r.stdout.String(), ".ctxtool.toml"); n != 16 {
		t.Errorf("%d settings are read, want 16\n%s", n, &r.stdout)
	}
}
