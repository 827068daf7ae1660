package main

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"ctxtool/internal/corpus"
	"ctxtool/sessionfmt"
)

// TestAtOnce: many commands that write to one session at once all succeed, where what
// they say does not depend on what the others have said.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	const many = 40
	demo, err := os.ReadFile(filepath.Join(corpus.Root(t), "testdata", "sessions", "demo.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for name, words := range map[string]string{
		"label": "label s.jsonl turn:2 L --write", "name": "name s.jsonl N --write", "edit": "edit s.jsonl 4eeafed6 --replace F --write",
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "s.jsonl")
		if err := os.WriteFile(file, demo, 0o600); err != nil {
			t.Fatal(err)
		}
		for k := range many {
			if err := os.WriteFile(filepath.Join(dir, "n"+string(rune('a'+k))), []byte(string(rune('a'+k))), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		for k := range many {
			wg.Go(func() {
				if r := ranIn(dir, commandLine(words, "L", "l"+string(rune('a'+k)), "N", "n"+string(rune('a'+k)), "F", "n"+string(rune('a'+k)))...); r.status != exitOK {
					t.Errorf("%s: %s", name, &r.stderr)
				}
			})
		}
		wg.Wait()
		after, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Count(after[len(demo):], []byte("\n")); got != many || !bytes.HasPrefix(after, demo) {
			t.Errorf("%s: %d entries are new, want %d", name, got, many)
		}
		if r := ranIn(dir, "check", "s.jsonl"); r.status != exitOK {
			t.Errorf("%s: %s", name, &r.stdout)
		}
	}
}

// TestSameChange: a change is the same unless what it is about is another entry now, or
// the file another session.
func TestSameChange(t *testing.T) {
	demo, err := os.ReadFile(filepath.Join(corpus.Root(t), "testdata", "sessions", "demo.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	more := append(bytes.Clone(demo), `{"type":"label","id":"ffffffff","parentId":"fbe34465","timestamp":"2026-11-03T00:00:00.000Z","targetId":"ab5b3abe","label":"x"}`+"\n"...)
	other := bytes.Replace(demo, []byte("01a19b89"), []byte("01a19b88"), 1)
	batch := func(data []byte, at func(s *sessionfmt.Session) int, now int64) (*sessionfmt.Session, *sessionfmt.Batch) {
		s, err := sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b := s.NewBatch(s.Leaf(), time.UnixMilli(now))
		b.Add(sessionfmt.Label, sessionfmt.Field{Name: "targetId", Value: sessionfmt.AppendQuoted(nil, s.ID(at(s)))})
		return s, b
	}
	first, leaf := func(*sessionfmt.Session) int { return 3 }, (*sessionfmt.Session).Leaf
	for _, c := range []struct {
		name string
		at   func(s *sessionfmt.Session) int
		data []byte
		want bool
	}{{"an entry", first, more, true}, {"the leaf", leaf, more, false}, {"an entry of another session", first, other, false}} {
		was, before := batch(demo, c.at, 1_800_000_000_000)
		is, after := batch(c.data, c.at, 1_900_000_000_000)
		if got, err := sameChange(was, is, before, after); got != c.want || err != nil {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}
