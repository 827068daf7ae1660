package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// writers are command lines that write a session, S and OUT being put in.
var writers = []string{
	"label S turn:0 here -o OUT", "label S turn:0 -o OUT", "label --session S a-name -o OUT",
	"edit S turn:-1 --omit -o OUT", "edit S request:-1 --omit -o OUT", "edit S request:-1 --replace TEXT -o OUT", "edit S turn:0 --restore -o OUT",
	"branch S leaf -o OUT", "branch S request:-1 -o OUT", "reduce S --policy gsh --window 300 --as edits -o OUT", "reduce S --policy y-agent --window 300 --as edits -o OUT",
	"reduce S --pass superseded --pass retry-prune --pass stale-results --pass merge-notes -o OUT", "reduce S --pass strip-thinking --pass drop-images -o OUT",
	"compact S --pass compact:keep=50 -o OUT", "compact S --pass compact:style=swe-cli,keep=2 --rules envelope --as transform -o OUT",
	"patch S --set-part policy=TEXT --remove-part none --why x --as edits -o OUT", "patch S --remove-tool read --why x --as edits -o OUT",
	"patch S --append-message TEXT --set reasoning=low --why x --as edits -o OUT", "patch S --at turn:0 --append-message TEXT --why x --as edits -o OUT",
	"repair S -o OUT", "repair S --answer-calls -o OUT", "migrate S -o OUT",
}

// writersEach is how many of them each session is tried with in the quick run.
const writersEach = 2

// TestPiLoadsWhatWeWrite: pi loads what the writing commands write, builds the
// context from it that we print, goes on at the leaf that we name, and leaves the
// file as it is. Where it does not, it failed on the session before us.
func TestPiLoadsWhatWeWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	must.Do(os.WriteFile(text, []byte("Shorter.\n"), 0o600))
	files, from := map[string][]byte{}, map[string]string{} // what is written, and the session that it is made from
	ours := map[string]string{}
	for i, c := range corpus.All(t) {
		if len(c.Data) > 300<<10 && !corpus.Whole() {
			continue
		}
		name := filepath.Join(dir, fmt.Sprintf("%d.jsonl", i))
		must.Do(os.WriteFile(name, c.Data, 0o600))
		for k, line := range dealt(i, writersEach, writers) {
			out := filepath.Join(dir, fmt.Sprintf("%d-%d.jsonl", i, k))
			if ranIn("", commandLine(line, "S", name, "OUT", out, "TEXT", text)...).status != exitOK {
				continue // refused, which scripts look at
			}
			data := must.Get(os.ReadFile(out))
			if bytes.Equal(data, c.Data) {
				continue // as it was before
			}
			what := c.Name + ": " + line
			files[what], ours[what], from[what] = data, out, c.Name
			files[c.Name] = c.Data
		}
	}
	answers := corpus.Pi(t, files)
	same := 0
	for what, session := range from {
		pi, was := answers[what], answers[session]
		switch {
		case !fails(pi):
			compareWithPi(t, what, ours[what], pi)
			same++
		case !fails(was):
			t.Errorf("%s: pi loads the session, and fails on what is written: %s%s", what, pi.Read.Throws, pi.Open.Throws)
		}
	}
	if same < corpus.Least(t, 100, 80) {
		t.Errorf("only %d files compared", same)
	}
}

// fails reports whether pi refuses a file, throws on it or never ends.
func fails(pi corpus.PiAnswer) bool {
	return pi.Read.Endless || pi.Read.Refused || pi.Read.Throws != "" || pi.Open.Throws != ""
}

func compareWithPi(t *testing.T, name, file string, pi corpus.PiAnswer) {
	t.Helper()
	r := ranIn("", "replay", file, "--rules", "pi", "-f", "context")
	if r.status != exitOK {
		t.Errorf("%s: replay: %s", name, &r.stderr)
		return
	}
	v := must.Get(jsonl.ParseValue(r.stdout.Bytes()))
	if got := v.AppendMinified(nil); !bytes.Equal(got, pi.Read.Context) {
		t.Errorf("%s: context\n got %.400s\n  pi %.400s", name, got, pi.Read.Context)
	}
	data := must.Get(os.ReadFile(file))
	if s, err := sessionfmt.OpenReader(name, bytes.NewReader(data), sessionfmt.Options{}); err == nil {
		if s.Version == 3 && bytes.Equal(bytes.ToValidUTF8(data, nil), data) && pi.Open.After != string(data) {
			t.Errorf("%s: pi changes the file", name)
		}
		if leaf := s.Leaf(); leaf >= 0 && s.Version == 3 && s.ID(leaf) != pi.Open.Leaf {
			t.Errorf("%s: pi goes on at %q, we at %q", name, pi.Open.Leaf, s.ID(leaf))
		}
		s.Close()
	}
}

// TestPiRestores: from a reduced session in which each edited message is restored by a command of
// its own, pi builds the context from before.
func TestPiRestores(t *testing.T) {
	t.Parallel()
	dir, files, restored := t.TempDir(), map[string][]byte{}, 0
	run := func(args ...string) {
		t.Helper()
		if r := ranIn("", args...); r.status != exitOK {
			t.Fatalf("%v: %s", args, &r.stderr)
		}
	}
	for i, c := range corpus.All(t) {
		if !corpus.Whole() && len(c.Data) > 300<<10 || bytes.Contains(c.Data, []byte(`"context_edit"`)) {
			continue
		}
		file := filepath.Join(dir, fmt.Sprintf("%d.jsonl", i))
		must.Do(os.WriteFile(file, c.Data, 0o600))
		if ranIn("", "reduce", file, "--pass", "truncate:max=300", "--as", "edits", "--write", "--force").status != exitOK {
			continue // refused, which scripts look at
		}
		run("prune", file, "--as", "edits", "--write", "--force")
		run("reduce", file, "--pass", "strip-thinking", "--as", "edits", "--write", "--force")
		reduced := must.Get(os.ReadFile(file))
		for line := range bytes.Lines(reduced[len(c.Data):]) {
			if v := jsonl.Value(line); v.Get("type").Is("context_edit") {
				run("edit", file, v.Get("targetId").Text(), "--restore", "--write", "--force")
				restored++
			}
		}
		if len(reduced) > len(c.Data) {
			files[c.Name], files[c.Name+", restored"] = c.Data, must.Get(os.ReadFile(file))
		}
	}
	answers := corpus.Pi(t, files)
	for name := range files {
		was, is := answers[name], answers[name+", restored"]
		if strings.HasSuffix(name, ", restored") || fails(was) {
			continue
		}
		if !bytes.Equal(was.Read.Context, is.Read.Context) {
			t.Errorf("%s: pi builds another context: %s", name, is.Read.Throws)
		}
	}
	if restored < corpus.Least(t, 100, 50) {
		t.Errorf("only %d messages restored", restored)
	}
	t.Logf("%d messages restored in %d sessions", restored, len(files)/2)
}
