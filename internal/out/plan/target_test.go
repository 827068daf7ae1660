package plan

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestSameChange: a change is the same unless what it is about is another entry now, or
// the file another session.
func TestSameChange(t *testing.T) {
	demo := must.Get(os.ReadFile(filepath.Join(corpus.Root(t), "testdata", "sessions", "demo.jsonl")))
	more := append(bytes.Clone(demo), `{"type":"label","id":"ffffffff","parentId":"fbe34465","timestamp":"2026-11-03T00:00:00.000Z","targetId":"ab5b3abe","label":"x"}`+"\n"...)
	other := bytes.Replace(demo, []byte("01a19b89"), []byte("01a19b88"), 1)
	batch := func(data []byte, at func(s *sessionfmt.Session) int, now int64) (*sessionfmt.Session, *sessionfmt.Batch) {
		s := must.Get(sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{}))
		b := s.NewBatch(s.Leaf(), time.UnixMilli(now))
		b.Add(jsonl.Label, jsonl.Field{Name: "targetId", Value: jsonl.AppendQuoted(nil, s.ID(at(s)))})
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

// TestPromise: a new file that would have another context than the session is not written.
func TestPromise(t *testing.T) {
	demo := filepath.Join(corpus.Root(t), "testdata", "sessions", "demo.jsonl")
	out := filepath.Join(t.TempDir(), "out.jsonl")
	written := func(text string) error {
		target := Target{Output: out}
		p, err := target.Make(func() (*sessionfmt.Session, error) { return sessionfmt.Open(demo, sessionfmt.Options{}) },
			func(s *sessionfmt.Session) (*Plan, error) {
				p := New("branch", "s", s)
				p.promise = keeps(s, s.Leaf())
				p.fresh = func(w io.Writer) error {
					_, err := io.Copy(w, io.MultiReader(s.Plain(), strings.NewReader(text)))
					return err
				}
				return p, nil
			})
		p.Close()
		return err
	}
	said := `{"type":"message","id":"ffffffff","parentId":"fbe34465","timestamp":"2026-11-03T00:00:00.000Z","message":{"role":"user","content":"more","timestamp":1}}` + "\n"
	if err := written(said); err == nil || !strings.Contains(err.Error(), "nothing is written: the context would change") {
		t.Error(err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("it is written anyway")
	}
	if err := written(""); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(out); err != nil {
		t.Error(err)
	}
}
