//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// A growing is a store whose sessions grow, and are rewritten now and then.
type growing struct {
	dir, archive string
	was          map[string][][]byte // what each session was before it was rewritten, and what it is
}

// TestKeepKilled: keep is killed at any moment, alone and two at a time, over a store that grows. What the
// archive has is always the beginning of what a session was; nothing that it had is gone; and a last run has
// all of it.
func TestKeepKilled(t *testing.T) {
	t.Parallel()
	g := growing{t.TempDir(), filepath.Join(t.TempDir(), "kept"), map[string][][]byte{}}
	had := map[string][]byte{}
	interrupted := 0
	for round := range corpus.Pick(12, 200) {
		g.grow(round)
		var runs []*exec.Cmd
		for range 1 + round%3/2 {
			c := exec.Command("ctxtool", "keep", g.dir, "--to", g.archive, "-q")
			c.Env = append(os.Environ(), "HOME=/nowhere")
			must.Do(c.Start())
			runs = append(runs, c)
		}
		time.Sleep(time.Duration(rand.IntN(60_000)) * time.Microsecond)
		for _, c := range runs {
			c.Process.Kill()
			if c.Wait(); !c.ProcessState.Exited() {
				interrupted++
			}
		}
		had = g.verify(t, had)
	}
	if interrupted == 0 {
		t.Error("no run was interrupted")
	}
	time.Sleep(10 * time.Millisecond)
	last := exec.Command("ctxtool", "keep", g.dir, "--to", g.archive)
	last.Env = append(os.Environ(), "HOME=/nowhere")
	if out, err := last.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	had = g.verify(t, had)
	for name, states := range g.was {
		place := filepath.Join(g.archive, g.dir, name+".zst")
		if !bytes.Equal(had[place], states[len(states)-1]) {
			t.Errorf("%s: the copy has %d bytes, the session %d", name, len(had[place]), len(states[len(states)-1]))
		}
	}
	t.Logf("%d runs interrupted, %d files", interrupted, len(had))
}

// grow adds a session, lets all others grow, and rewrites one.
func (g *growing) grow(round int) {
	first := fmt.Sprintf("2026_%d.jsonl", round%7)
	g.was[first] = append(g.was[first], nil)
	for name, states := range g.was {
		last := &states[len(states)-1]
		line := fmt.Sprintf(`{"type":"custom","id":"%d-%d","data":"%s"}`, round, rand.Int(), strings.Repeat("x", rand.IntN(100)))
		*last = slices.Concat(*last, bytes.Repeat([]byte(line+"\n"), 1+rand.IntN(3000)))
		must.Do(os.WriteFile(filepath.Join(g.dir, name), *last, 0o600))
	}
}

// verify reads all that an archive has, and holds it to what sessions were and to what it had.
func (g *growing) verify(t *testing.T, had map[string][]byte) (has map[string][]byte) {
	t.Helper()
	has = map[string][]byte{}
	filepath.WalkDir(g.archive, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		c, err := sessionfmt.Disk{}.OpenContent(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return nil
		}
		defer c.Close()
		has[name] = must.Get(io.ReadAll(c))
		base, _, _ := strings.Cut(filepath.Base(name), ".zst")
		if !slices.ContainsFunc(g.was[base], func(state []byte) bool { return bytes.HasPrefix(state, has[name]) }) {
			t.Errorf("%s is nothing that the session was", name)
		}
		return nil
	})
	for name, text := range had {
		stem, _, _ := strings.Cut(name, ".orig-")
		still := false
		for now, is := range has {
			still = still || strings.HasPrefix(now, stem) && bytes.HasPrefix(is, text)
		}
		if !still {
			t.Errorf("%s is gone", name)
		}
	}
	return has
}
