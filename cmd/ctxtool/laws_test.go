package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

// appending are command lines that append to a session, S being put in.
var appending = []string{
	"label S turn:0 here", "label --session S a-name", "edit S turn:-1 --omit", "edit S request:-1 --omit", "edit S turn:0 --restore",
	"reduce --pass truncate:max=200 S --force",
	"reduce S --policy gsh --window 300 --force", "reduce S --policy y-agent --window 300 --force --as edits",
	"reduce S --policy swe-cli:keep=3 --window 300 --force --rules envelope --as transform",
	"reduce --pass superseded --pass retry-prune --pass stale-results --pass merge-notes S --force", "reduce --pass strip-thinking --pass drop-images S --force",
	"compact --pass compact:style=gsh S --force --rules envelope --as transform",
}

// TestLaw9: what --write appends is, byte for byte, what the plan said at the same time,
// after what was there (law 2), and so the file is, byte for byte, what -o wrote. That it is
// the envelope which the plan promised compact holds, by TestStoreKeepsThePromise.
func TestLaw9(t *testing.T) {
	t.Parallel()
	var ran atomic.Int64
	t.Run("sessions", func(t *testing.T) {
		for k, c := range corpus.All(t) {
			if len(c.Data) > 300<<10 && !corpus.Whole() {
				continue
			}
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				for _, line := range dealt(k, 1, appending) {
					if appends(t, c, line) {
						ran.Add(1)
					}
				}
			})
		}
	})
	if n := ran.Load(); n < 60 {
		t.Errorf("only %d appends", n)
	}
}

// appends runs a line that appends as a plan, into another file and for real, and reports
// whether it did append.
func appends(t *testing.T, c corpus.Session, line string) bool {
	dir := t.TempDir()
	name, promised := filepath.Join(dir, "s.jsonl"), filepath.Join(dir, "promised.jsonl")
	must.Do(os.WriteFile(name, c.Data, 0o600))
	args := append(commandLine(line, "S", name), "--now", "2027-01-02T03:04:05Z")
	plan, status := said(t, append(args, "-f", "entries")...)
	if status != exitOK {
		return false
	}
	said(t, append(args, "-o", promised)...)
	if _, status := said(t, append(args, "--write")...); status != exitOK {
		return false // no plain file, say
	}
	is := must.Get(os.ReadFile(name))
	if want := append(bytes.Clone(c.Data), plan...); !bytes.Equal(is, want) {
		t.Errorf("%s: the file is not what was there and what the plan says", line)
	}
	if want, err := os.ReadFile(promised); err != nil || !bytes.Equal(is, want) {
		t.Errorf("%s: the file is not the one that -o wrote: %v", line, err)
	}
	return true
}

// TestSynced: what a command has written is synced before the command says so: a file that
// is appended to, a file that appears under its name, and the folder that it appears in.
func TestSynced(t *testing.T) {
	t.Parallel()
	torn := must.Get(os.ReadFile(filepath.Join(corpus.Root(t), bad+"torn.jsonl")))
	sound := must.Get(os.ReadFile(filepath.Join(corpus.Root(t), good+"v2.jsonl")))
	linear := must.Get(os.ReadFile(filepath.Join(corpus.Root(t), good+"linear.jsonl")))
	for line, data := range map[string][]byte{
		"label S leaf here --write": linear, "reduce --pass truncate:max=10 S --write --force": linear, "edit S turn:0 --omit -o OUT": linear,
		"repair S --write --force": torn, "migrate S --write --force": sound, "redact S -o OUT": linear, "log S -o OUT": linear,
	} {
		dir := t.TempDir()
		must.Do(os.WriteFile(filepath.Join(dir, "s.jsonl"), data, 0o600))
		in := testEnv(dir)
		synced := map[string]bool{} // contents of files, and folders
		in.disk.Sync = func(f *os.File) error {
			if info, err := f.Stat(); err == nil && info.IsDir() {
				synced["folder"] = true
				return f.Sync()
			}
			text, err := os.ReadFile(f.Name())
			synced[string(text)] = true
			return errors.Join(err, f.Sync())
		}
		if r := in.ran(commandLine(line, "S", "s.jsonl", "OUT", "out.jsonl")...); r.status != exitOK {
			t.Errorf("%s: status %d: %s", line, r.status, &r.stderr)
			continue
		}
		files := must.Get(filepath.Glob(filepath.Join(dir, "*")))
		appended := len(files) == 1
		for _, file := range files {
			text := must.Get(os.ReadFile(file))
			if !bytes.Equal(text, data) && !synced[string(text)] {
				t.Errorf("%s: %s was not synced as it is now", line, filepath.Base(file))
			}
		}
		if !appended && !synced["folder"] || len(synced) == 0 {
			t.Errorf("%s: the folder was not synced", line)
		}
	}
}
