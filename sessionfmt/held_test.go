package sessionfmt_test

import (
	"bytes"
	"testing"
	"time"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestHold: a copy that holds a batch is the session with the batch appended, and the session
// itself stays as it was.
func TestHold(t *testing.T) {
	held := 0
	for _, c := range corpus.Small(t) {
		s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
		if err != nil {
			continue
		}
		defer s.Close()
		if s.Leaf() < s.Len()-1 {
			continue // findings are about the end of the file
		}
		n, leaf, with := s.Len(), s.Leaf(), s.Copy()
		var lines []byte
		for k := range 3 { // each after the one before, enough to fill a small table of ids
			b := with.NewBatch(with.Leaf(), time.UnixMilli(0))
			for range 5 * k {
				b.Add(jsonl.CustomEntry, jsonl.Field{Name: "customType", Value: jsonl.Value(`"x"`)})
			}
			b.Add(jsonl.Label, jsonl.Field{Name: "label", Value: jsonl.Value(`"held"`)})
			if b.Err() != nil {
				break
			}
			if err := with.Hold(b); err != nil {
				t.Fatalf("%s: %v", c.Name, err)
			}
			lines = append(lines, b.Lines()...)
		}
		if lines == nil {
			continue
		}
		want := must.Get(sessionfmt.OpenReader(c.Name, bytes.NewReader(append(bytes.Clone(c.Data), lines...)), sessionfmt.Options{}))
		defer want.Close()
		sameIndex(t, c.Name, with, want)
		if s.Len() != n || s.Leaf() != leaf || s.Find(with.ID(with.Leaf())) >= 0 || !with.Held(n) || with.Held(n-1) {
			t.Fatalf("%s: the session has changed", c.Name)
		}
		held++
	}
	if held == 0 {
		t.Error("no session was tried")
	}
}

// TestReparent: a held entry can stand between two of the file.
func TestReparent(t *testing.T) {
	const file = headerLine + "{\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"user\",\"content\":\"one\"}}\n{\"type\":\"label\",\"id\":\"b\",\"parentId\":\"a\"}\n"
	s := must.Get(sessionfmt.OpenReader("s", bytes.NewReader([]byte(file)), sessionfmt.Options{}))
	defer s.Close()
	with := s.Copy()
	b := with.NewBatch(with.Find("a"), time.UnixMilli(0))
	id := b.Add(jsonl.CustomEntry)
	must.Do(with.Hold(b))
	with.Reparent(with.Find("b"), with.Find(id))
	path, found := with.Path(with.Find("b"))
	if len(path) != 3 || with.ID(path[1]) != id || len(found) > 0 {
		t.Errorf("the path is %v, %v", path, found)
	}
	if tree := with.Tree(); tree.Size(path[0]) != 3 {
		t.Errorf("the tree has %d entries", tree.Size(path[0]))
	}
	if before, _ := s.Path(s.Leaf()); len(before) != 2 {
		t.Errorf("the path of the session itself is %v", before)
	}
}
