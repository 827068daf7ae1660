package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/out/show"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

// readingLines are the command lines that read a session, FILE and OUT being put in.
func readingLines() (lines []string) {
	for _, f := range show.Formats {
		for _, more := range []string{
			"", " --lenient", " --strict", " --rules pi --tail", " --rules envelope", " --before", " --ephemeral",
		} {
			lines = append(lines, "replay FILE -f "+f.Name+" -o OUT"+more)
		}
	}
	return append(lines,
		"log --tree FILE -o OUT", "log --tree FILE -f jsonl -o OUT", "log --tree FILE --fold=false --kind user,unknown -o OUT",
		"log FILE -o OUT", "log FILE --all -o OUT", "log FILE -f jsonl --all -o OUT", "log FILE --grep a --kind user -o OUT",
		"show FILE leaf -o OUT", "show FILE leaf -f json -o OUT", "show FILE leaf -f raw -o OUT",
		"cache FILE -o OUT", "cache FILE --all --collapse-system -f jsonl -o OUT", "cache FILE -f csv --redact -o OUT",
		"ls FILE -o OUT", "ls FILE --json -o OUT",
		"render FILE -o OUT", "render FILE --all --target file --include system,ephemerals -o OUT", "replay FILE -f full -o OUT",
		"replay FILE --redact -o OUT", "log --tree FILE --redact -o OUT", "log FILE --redact -o OUT", "check FILE --redact -o OUT",
		"trace FILE -e . -o OUT", "trace FILE -F nowhere-at-all -f jsonl -o OUT", "trace FILE leaf --all -f jsonl -o OUT", "trace FILE --blame -o OUT", "trace FILE --redact --blame -f jsonl -o OUT",
		"diff FILE root leaf -o OUT", "diff FILE -f json -o OUT", "diff FILE leaf -f markdown -o OUT", "diff FILE root leaf -f stat -o OUT", "diff FILE root leaf --entries -o OUT",
		"stats FILE -o OUT"+everyLens(), "stats FILE -f json -o OUT"+everyLens(), "stats FILE -f jsonl -o OUT", "stats FILE -f markdown -o OUT"+everyLens(),
		"stats FILE --lens cost -f csv --by day,model,branch -o OUT", "stats FILE --lens context --counter o200k -o OUT",
		"stats FILE --require cost.total<=1 --require context.tokens<=1 -f junit -o OUT", "stats FILE --require check.errors<=0 -f github -o OUT", "stats FILE --require check.errors<=0 -f sarif -o OUT", "stats FILE --redact -o OUT"+everyLens(),
		"check FILE -o OUT", "check FILE -f json -o OUT", "check FILE -f sarif -o OUT",
	)
}

// planningLines are the command lines that print what they would write, FILE being put in.
var planningLines = []string{
	"repair FILE", "repair FILE -f diff", "repair FILE --answer-calls -f json", "label FILE leaf here", "label --session FILE nothing -f entries",
	"migrate FILE", "migrate FILE --compaction transform -f diff", "migrate FILE --compaction pair -f json",
	"redact FILE", "redact FILE -f json --images drop", "redact FILE --structure-only",
	"edit FILE leaf --omit -f json", "edit FILE turn:-1 --restore",
	"reduce --pass truncate:max=100 FILE -f json", "reduce --pass strip-thinking --pass drop-images FILE", "reduce --pass prune:protect=10 --pass superseded --pass retry-prune --pass merge-notes FILE",
	"compact --pass compact:keep=100 FILE --as transform --rules envelope -f json", "reduce FILE --policy y-agent --window 1000", "undo FILE",
}

// planned runs a command that plans: it answers, or says why not, and writes nothing.
func planned(t *testing.T, line, file string) {
	t.Helper()
	switch r := ranIn("", commandLine(line, "FILE", file)...); {
	case r.status == exitOK && r.stdout.Len() == 0:
		t.Errorf("%s: status 0 and no plan", line)
	case r.status != exitOK && (r.stdout.Len() > 0 || r.stderr.Len() == 0):
		t.Errorf("%s: status %d, %.80q and %.80q", line, r.status, r.stdout.Bytes(), r.stderr.Bytes())
	}
}

// Of the lines above each session is tried with so many in the quick run: over all
// sessions each line is tried some five times, and each class of damage by lines of every
// command in turn.
const (
	readingsEach = 3
	plansEach    = 2
)

// TestUntouched: whatever is wrong with a session, no command that reads changes
// a byte of it; an answer is whole, and where there is none a message names the
// file and no output appears.
func TestUntouched(t *testing.T) {
	t.Parallel()
	for k, c := range append(corpus.Own(t), corpus.Shared(t)...) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, filepath.Base(c.Name))
			out := filepath.Join(dir, "out")
			must.Do(os.WriteFile(file, c.Data, 0o444))
			before := must.Get(os.Stat(file))
			each := readingsEach
			if len(c.Data) > 300<<10 {
				each = 1
			}
			for _, line := range dealt(k, each, readingLines()) {
				answered(t, line, file, out)
				after, err := os.Stat(file)
				if err != nil || !after.ModTime().Equal(before.ModTime()) || !os.SameFile(before, after) {
					t.Fatalf("%s touched the file: %v", line, err)
				}
			}
			for _, line := range dealt(k, min(each, plansEach), planningLines) {
				planned(t, line, file)
			}
			left, err := os.ReadDir(dir)
			if err != nil || len(left) != 1 {
				t.Errorf("left over: %v, %v", left, err)
			}
			if data, err := os.ReadFile(file); err != nil || !bytes.Equal(data, c.Data) {
				t.Errorf("the file has changed: %v", err)
			}
		})
	}
}

// answered runs a command that answers into a file: the answer is whole, or there is none
// and a message names the session.
func answered(t *testing.T, line, file, out string) {
	t.Helper()
	r := ranIn("", commandLine(line, "FILE", file, "OUT", out)...)
	command, _, _ := strings.Cut(line, " ")
	_, err := os.Stat(out)
	switch {
	case r.stdout.Len() > 0:
		t.Errorf("%s printed %.80q although it has -o", line, r.stdout.Bytes())
	case r.status == exitOK, r.status == exitFound && slices.Contains([]string{"check", "trace", "diff", "stats"}, command):
		if err != nil {
			t.Errorf("%s: status %d and no output", line, r.status)
		}
		os.Remove(out)
	case r.status == exitUsage && command == "show": // nothing to show
	case r.status == exitNothing && command == "check": // what cannot be read is a finding
		os.Remove(out)
	case r.status != exitNothing:
		t.Errorf("%s: status %d: %s", line, r.status, &r.stderr)
	case err == nil:
		t.Errorf("%s: status %d, and an output", line, r.status)
	case !strings.Contains(r.stderr.String(), "ctxtool: "+file):
		t.Errorf("%s: the message does not name the file: %s", line, &r.stderr)
	}
}
