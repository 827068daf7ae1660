package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/corpus"
)

// appending are command lines that append to a session, S being put in.
var appending = []string{
	"label S turn:0 here", "name S a-name", "edit S turn:-1 --omit", "edit S request:-1 --omit", "edit S turn:0 --restore",
	"truncate S --max 200 --force",
	"reduce S --policy gsh --window 300 --force", "reduce S --policy y-agent --window 300 --force --as edits",
	"reduce S --policy swe-cli --keep 3 --window 300 --force --rules envelope --as transform",
	"prune S --pass superseded,retry-prune,stale-results,merge-notes --force", "strip S --thinking --images --force",
	"compact S --style gsh --force --rules envelope --as transform",
}

// TestLaw9: what --write appends is, byte for byte, what the plan said at the same
// time, behind what was there (law 2); and replayed it is the envelope that -o
// promised.
func TestLaw9(t *testing.T) {
	const now = "2027-01-02T03:04:05Z"
	ran := 0
	for _, c := range corpus.All(t) {
		if len(c.Data) > 1<<20 {
			continue
		}
		dir := t.TempDir()
		name, promised := filepath.Join(dir, "s.jsonl"), filepath.Join(dir, "promised.jsonl")
		for _, line := range appending {
			if err := os.WriteFile(name, c.Data, 0o600); err != nil {
				t.Fatal(err)
			}
			args := append(strings.Fields(strings.Replace(line, "S", name, 1)), "--now", now)
			plan, status := said(t, append(args, "-f", "entries")...)
			if status != exitOK {
				continue
			}
			said(t, append(args, "-o", promised)...)
			if _, status := said(t, append(args, "--write")...); status != exitOK {
				continue // no plain file, say
			}
			ran++
			is, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if want := append(bytes.Clone(c.Data), plan...); !bytes.Equal(is, want) {
				t.Errorf("%s: %s: the file is not what was there and what the plan says", c.Name, line)
			}
			got, _ := said(t, "replay", name, "-f", "json")
			want, _ := said(t, "replay", promised, "-f", "json")
			if !bytes.Equal(got, want) {
				t.Errorf("%s: %s: another envelope than the one promised", c.Name, line)
			}
		}
	}
	if ran < 200 {
		t.Errorf("only %d appends", ran)
	}
	t.Logf("%d appends", ran)
}
