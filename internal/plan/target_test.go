package plan

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ctxtool/internal/corpus"
	"ctxtool/sessionfmt"
)

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
