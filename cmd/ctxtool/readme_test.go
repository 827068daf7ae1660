package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/golden"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
)

// documents are the pages whose examples are run.
func documents(t *testing.T) (docs []string) {
	t.Helper()
	root := corpus.Root(t)
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/guide/*.md"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		docs = append(docs, names...)
	}
	return docs
}

var (
	block     = regexp.MustCompile("(?ms)^```(console|\\w+ (\\S+))\n(.*?)^```$")
	hookOf    = regexp.MustCompile(`^(?:exec:)?(sh|node|python3) `)
	shellWord = regexp.MustCompile(`'[^']*'|[^\s']+`)
)

// TestReadmeAndGuide runs every `$` line of a page's console blocks, in order, in a folder
// that has copies of testdata/sessions, agents and dialects, and compares what it prints,
// standard error last. A line of three dots stands for any lines. A block with a file's name
// after its language is that file. Examples of the guide run among the sessions, at noon of the day after demo.jsonl.
func TestReadmeAndGuide(t *testing.T) {
	t.Parallel()
	for _, name := range documents(t) {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			page := must.Get(os.ReadFile(name))
			if blocks := block.FindAllSubmatch(page, -1); blocks != nil {
				golden.Equal(t, name, runPage(t, page, exampleFolder(t, filepath.Base(filepath.Dir(name)) == "guide")))
			}
		})
	}
}

// exampleFolder is a new folder with copies of testdata/sessions, agents and dialects, or the
// first of these copies.
func exampleFolder(t *testing.T, among bool) string {
	dir := t.TempDir()
	sessions := filepath.Join(dir, "testdata", "sessions")
	for _, folder := range []string{"sessions", "agents", "dialects"} {
		must.Do(os.CopyFS(filepath.Join(dir, "testdata", folder), os.DirFS(filepath.Join(corpus.Root(t), "testdata", folder))))
	}
	old := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	err := filepath.WalkDir(sessions, func(name string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(name, old, old))
	})
	if err != nil {
		t.Fatal(err)
	}
	if among {
		return sessions
	}
	return dir
}

// runPage is a page with what its examples print.
func runPage(t *testing.T, page []byte, dir string) []byte {
	return block.ReplaceAllFunc(page, func(b []byte) []byte {
		m := block.FindSubmatch(b)
		if file := string(m[2]); file != "" {
			must.Do(os.WriteFile(filepath.Join(dir, file), m[3], 0o600))
			return b
		}
		out := "```console\n"
		for _, example := range strings.Split("\n"+string(m[3]), "\n$ ")[1:] {
			command, want, _ := strings.Cut(strings.TrimSuffix(example, "\n"), "\n")
			if want != "" {
				want += "\n"
			}
			out += "$ " + command + "\n" + shortened(runExample(t, dir, command), want)
		}
		return []byte(out + "```")
	})
}

// runExample is what a command prints, or, of one with filters after it, what the last of
// slow matches what only a slow machine says.
var slow = regexp.MustCompile(`(?m)^waiting for .*\n`)

// them does.
func runExample(t *testing.T, dir, pipeline string) string {
	in := testEnv(dir)
	in.now = func() time.Time { return time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC) }
	var stdout, stderr bytes.Buffer
	words := shellWord.FindAllString(pipeline, -1)
	for len(words) > 0 {
		n := slices.Index(append(words, "|"), "|")
		args := slices.Clone(words[:n])
		for i := range args {
			args[i] = strings.Trim(args[i], "'")
		}
		words = words[min(n+1, len(words)):]

		input := filepath.Join(t.TempDir(), "stdin")
		must.Do(os.WriteFile(input, stdout.Bytes(), 0o600))
		stdin := must.Get(os.Open(input))
		stdout.Reset()
		stderr.Reset()
		for _, arg := range args {
			if hook := hookOf.FindStringSubmatch(arg); hook != nil {
				if _, err := exec.LookPath(hook[1]); err != nil {
					testenv.Skip(t, "%v", err)
				}
			}
		}
		if args[0] == "ctxtool" {
			in.stdin, in.stdout, in.stderr = stdin, &stdout, &stderr
			in.run(args[1:])
		} else if path, err := exec.LookPath(args[0]); err != nil {
			t.Skip(err)
		} else {
			cmd := exec.Command(path, args[1:]...)
			cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = stdin, &stdout, &stderr, dir
			if err := cmd.Run(); err != nil {
				t.Errorf("%s: %v", pipeline, err)
			}
		}
		stdin.Close()
	}
	return stdout.String() + slow.ReplaceAllString(stderr.String(), "")
}

// shortened is an output as the page shows it: where that has dots, the page's text if it
// fits, else as many lines before the dots and after them. Where dots stand twice and the
// text does not fit, the output is whole, for somebody to choose from.
func shortened(out, page string) string {
	const dots = "...\n"
	pattern := strings.ReplaceAll(regexp.QuoteMeta(page), `\.\.\.`+"\n", `(?s:(?:.*\n)?)`)
	if regexp.MustCompile("^" + pattern + "$").MatchString(out) {
		return page
	}
	shown, lines := strings.SplitAfter(page, "\n"), strings.SplitAfter(out, "\n")
	before := slices.Index(shown, dots)
	if before < 0 || slices.Contains(shown[before+1:], dots) {
		return out
	}
	after := len(shown) - 1 - before
	return strings.Join(lines[:min(before, len(lines))], "") + dots + strings.Join(lines[max(len(lines)-after, 0):], "")
}

// TestReadme: the first screen is enough, and so is the page.
func TestReadme(t *testing.T) {
	text := must.Get(os.ReadFile(filepath.Join(corpus.Root(t), "README.md")))
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
		text := must.Get(os.ReadFile(name))
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
	example := must.Get(os.ReadFile(filepath.Join(corpus.Root(t), "docs", "config.toml")))
	dir := t.TempDir()
	text := strings.ReplaceAll(string(example), "# implemented", "implemented")
	must.Do(os.WriteFile(filepath.Join(dir, "example.toml"), []byte(text), 0o600))
	r := ranIn(dir, "config", "--config", "example.toml")
	if r.status != exitOK || strings.Contains(r.stdout.String(), "unknown") {
		t.Errorf("status %d\n%s%s", r.status, &r.stdout, &r.stderr)
	}
	if n := strings.Count(r.stdout.String(), "example.toml"); n != 18 {
		t.Errorf("%d settings are read, want 18\n%s", n, &r.stdout)
	}
}
