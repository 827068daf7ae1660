package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ctxtool/internal/base/help"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

// answers are command lines with every answer of every command that has forms. S is a session,
// DIR a folder of them, and UNDO a session with a batch.
var answers = []string{
	"search --recent 5 S", "cache S", "cache DIR", "check S", "check DIR", "compact S", "lost S", "keep DIR --to kept", "config", "cost S", "cost DIR", "count S", "diff S root leaf", "doctor S", "doctor DIR",
	"diff S root leaf --entries", "edit S leaf --omit", "label S leaf x", "log S", "log S --request 0", "ls DIR", "migrate S", "label --session S x",
	"patch S --remove-tool bash --why x", "policies", "prune S", "redact S", "redact DIR", "reduce S --policy gsh --window 200", "render S", "repair S", "replay S", "search the DIR", "show S", "simulate S", "simulate DIR", "stats S --lens cost", "stats DIR --lens cost",
	"models claude", "origin note.txt --sessions-dir repo", "status S", "reduce --pass strip-thinking S", "trace S the", "trace S --blame leaf", "log --tree S", "reduce --pass truncate:max=20 S", "undo UNDO",
}

// needed are flags that an answer requires in some form.
var needed = map[string]string{
	"stats -f github": "--require cost.total>=0", "stats -f junit": "--require cost.total>=0",
	"stats -f sarif": "--require cost.total>=0",
}

// TestForms: every form that a command offers answers, by -f and by --json.
func TestForms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	demo, err := os.ReadFile(filepath.Join(corpus.Root(t), demo))
	if err != nil {
		t.Fatal(err)
	}
	must.Do(os.MkdirAll(filepath.Join(dir, "dir"), 0o700))
	for _, name := range []string{"s.jsonl", "dir/a.jsonl", "dir/b.jsonl"} {
		must.Do(os.WriteFile(filepath.Join(dir, name), demo, 0o600))
	}
	header, _, _ := bytes.Cut(demo, []byte("\n"))
	must.Do(os.MkdirAll(filepath.Join(dir, "nothing"), 0o700))
	for _, name := range []string{"none.jsonl", "nothing/none.jsonl"} {
		must.Do(os.WriteFile(filepath.Join(dir, name), append(header, '\n'), 0o600))
	}
	if r := ranIn(dir, "reduce", "--pass", "truncate:max=20", "s.jsonl", "-o", "undo.jsonl"); r.status != exitOK {
		t.Fatal(&r.stderr)
	}
	tried := map[string]bool{}
	for _, line := range answers {
		name, _, _ := strings.Cut(line, " ")
		if name == "origin" && !repository(t, dir, demo) {
			tried[name] = true
			continue
		}
		tried[cmp.Or(commandOf([]string{name}), name)] = true
		cmd, _, _ := newRoot(&env{machine: machine{stdin: os.Stdin}}, commandOf([]string{name})).Find([]string{name})
		_, list, _ := strings.Cut(cmd.Flag("format").Usage, "`FORM`: ")
		forms := strings.Split(list, ", ")
		for k := range forms {
			forms[k] = "-f " + forms[k]
		}
		if help.Takes(cmd, "json") {
			forms = append(forms, "--json")
		}
		for _, form := range forms {
			if form == "-f swe-cli" && strings.Contains(line, "--") {
				continue // the log of a whole path
			}
			words := strings.TrimSpace(line + " " + form + " " + needed[name+" "+form])
			r := ranIn(dir, commandLine(words, "S", "s.jsonl", "DIR", "dir", "UNDO", "undo.jsonl")...)
			if r.status > exitFound {
				t.Errorf("%s: status %d: %s", words, r.status, &r.stderr)
			}
			// A session without entries has an answer, or an error.
			none := ranIn(dir, commandLine(words, "S", "none.jsonl", "DIR", "nothing", "UNDO", "none.jsonl")...)
			if none.status > exitFound && none.stderr.Len() == 0 {
				t.Errorf("%s without entries: status %d, and no message", words, none.status)
			}
			values := json.NewDecoder(&r.stdout)
			for err = nil; err == nil && strings.Contains(form, "json"); {
				err = values.Decode(new(json.RawMessage))
			}
			if err != nil && err != io.EOF {
				t.Errorf("%s: not JSON: %v", words, err)
			}
		}
	}
	for _, c := range commands {
		cmd, _, _ := newRoot(&env{machine: machine{stdin: os.Stdin}}, c.name).Find([]string{c.name})
		if cmd.Flag("format") != nil && !tried[c.name] {
			t.Errorf("no form of %s is tried", c.name)
		}
	}
}

// repository makes a git repository of a folder, with a file and the session of somebody who worked there. It reports
// whether there is git.
func repository(t *testing.T, dir string, session []byte) bool {
	if _, err := exec.LookPath("git"); err != nil {
		t.Log("left out: the forms of origin, without git(1)")
		return false
	}
	must.Do(os.MkdirAll(filepath.Join(dir, "repo"), 0o700))
	cwd := regexp.MustCompile(`"cwd":"[^"]*"`)
	session = cwd.ReplaceAll(session, []byte(`"cwd":"`+filepath.ToSlash(dir)+`"`))
	must.Do(os.WriteFile(filepath.Join(dir, "repo", "s.jsonl"), session, 0o600))
	must.Do(os.WriteFile(filepath.Join(dir, "note.txt"), []byte("A note.\n"), 0o600))
	for _, args := range [][]string{{"init", "-q"}, {"add", "note.txt"}, {"commit", "-q", "-m", "a note"}} {
		git := exec.Command("git", append([]string{"-c", "user.name=Mara", "-c", "user.email=m@example.org"}, args...)...)
		git.Dir = dir
		git.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	return true
}
