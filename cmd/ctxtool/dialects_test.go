package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// lensLines are command lines that answer for a session of any agent, FILE and OUT being put in.
var lensLines = []string{
	"ls FILE", "ls FILE --json", "status FILE", "log FILE --all", "log FILE -f jsonl", "log FILE --request 0", "log --tree FILE", "log --tree FILE -f jsonl", "show FILE", "show FILE request:0 -f json",
	"replay FILE -f summary", "replay FILE -f full", "replay FILE -f context", "replay FILE -f llm", "replay FILE -f json", "replay FILE -f native",
	"trace FILE -e .", "trace FILE --blame", "cache FILE", "cache FILE -f jsonl",
	"stats FILE LENSES", "stats FILE -f json LENSES", "notes FILE", "search -e . FILE",
	"render FILE", "render FILE -f html -o -", "simulate FILE", "simulate FILE --json", "reduce FILE", "reduce FILE -f json",
	"patch FILE --remove-tool bash --why x --now 2026-01-31", "redact FILE -o -",
}

// findingLines are those whose status tells what they found.
var findingLines = []string{"diff FILE root leaf", "diff FILE root leaf -f json", "check FILE -f json", "lost FILE"}

// foreignLines are those that refuse a session of another agent, and write nothing.
var foreignLines = []string{
	"reduce FILE --write --force", "reduce --pass truncate:max=1 FILE --write --force", "label FILE leaf here --write", "label --session FILE here --write", "edit FILE leaf --omit --write --force",
	"undo FILE --write --force", "repair FILE --write", "migrate FILE --write",
}

// madeSessions are the sessions in testdata/dialects, made by hand.
func madeSessions(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"*.json*", "gemini/chats/*"} {
		found, err := filepath.Glob(filepath.Join(corpus.Root(t), "testdata/dialects", pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no sessions at %s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	return files
}

// TestDialectLenses: each lens has an answer for the sessions of each agent, and each report on
// one of another agent says how sure it is.
func TestDialectLenses(t *testing.T) {
	t.Parallel()
	for _, file := range madeSessions(t) {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := must.Get(sessionfmt.Open(file, sessionfmt.Options{}))
			foreign := s.Dialect() != nil
			s.Close()
			for _, line := range slices.Concat(lensLines, findingLines) {
				r := ranIn("", commandLine(strings.ReplaceAll(line, "LENSES", everyLens()), "FILE", file)...)
				if r.status != exitOK && (r.status != exitFound || !slices.Contains(findingLines, line)) || r.stdout.Len() == 0 {
					t.Errorf("%s: status %d, %d bytes: %s", line, r.status, r.stdout.Len(), r.stderr.Bytes())
				}
				if strings.Contains(line, "json") && !strings.Contains(line, "redact") && foreign && !bytes.Contains(r.stdout.Bytes(), []byte(`"certainty":{"messages":"rule",`)) && slices.Contains(certain, strings.Fields(line)[0]) {
					t.Errorf("%s: no certainty: %.300s", line, r.stdout.Bytes())
				}
				if strings.Contains(line, "-f summary") && foreign && !strings.Contains(r.stdout.String(), ": messages by rule") {
					t.Errorf("%s: it does not say how sure it is: %s", line, r.stdout.Bytes())
				}
				if lines := bytes.Count(r.stderr.Bytes(), []byte("\n")); lines > 1 && !strings.Contains(line, "-o -") {
					t.Errorf("%s: %d lines besides the answer: %s", line, lines, r.stderr.Bytes())
				}
			}
			if foreign {
				refuses(t, file)
			}
		})
	}
}

// certain are the commands whose JSON has the certainty of another agent's session.
var certain = []string{"ls", "log --tree", "replay", "stats", "check", "diff", "reduce", "simulate"}

// refuses holds that no command writes to a session.
func refuses(t *testing.T, file string) {
	t.Helper()
	dir, name := t.TempDir(), filepath.Base(file)
	was, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name), was, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range foreignLines {
		r := ranIn(dir, commandLine(line, "FILE", name)...)
		if r.status != exitNothing || r.stdout.Len() > 0 || r.stderr.Len() == 0 {
			t.Errorf("%s: status %d, %.80q, %s", line, r.status, r.stdout.Bytes(), r.stderr.Bytes())
		}
	}
	is, err := os.ReadFile(filepath.Join(dir, name))
	if beside, _ := os.ReadDir(dir); err != nil || !bytes.Equal(was, is) || len(beside) != 1 {
		t.Errorf("%v: bytes changed %v, %d files", err, !bytes.Equal(was, is), len(beside))
	}
}
