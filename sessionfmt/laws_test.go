package sessionfmt_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
	"unicode/utf8"

	"ctxtool/internal/corpus"
	"ctxtool/sessionfmt"
)

// everySession runs a test over every session that there is. Files that hold no
// session are passed over: they are their own tests' matter.
func everySession(t *testing.T, test func(t *testing.T, data []byte, s *sessionfmt.Session)) {
	n := 0
	for _, c := range corpus.All(t) {
		s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
		if err != nil {
			continue
		}
		n++
		t.Run(c.Name, func(t *testing.T) {
			defer s.Close()
			test(t, c.Data, s)
		})
	}
	t.Logf("%d sessions", n)
}

// TestLaw1LinesAsTheyStand: what is read of a line is the line, byte for byte.
func TestLaw1LinesAsTheyStand(t *testing.T) {
	everySession(t, func(t *testing.T, data []byte, s *sessionfmt.Session) {
		if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) || bytes.HasPrefix(data, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
			return
		}
		lines := bytes.Split(data, []byte("\n"))
		r := s.NewReader()
		for i := range s.Len() {
			want := bytes.TrimPrefix(lines[s.Line(i)-1], []byte("\xef\xbb\xbf"))
			got, err := r.Line(i)
			if err != nil {
				t.Fatal(err)
			}
			if want = bytes.TrimSpace(want); utf8.Valid(want) && !bytes.Equal(got, want) {
				t.Fatalf("line %d reads as %q, is %q", s.Line(i), got, want)
			}
		}
	})
}

// TestLaw3AnyNumberOfWorkers: the index does not depend on who made it.
func TestLaw3AnyNumberOfWorkers(t *testing.T) {
	everySession(t, func(t *testing.T, data []byte, s *sessionfmt.Session) {
		for _, workers := range []int{1, 3, 8} {
			other, err := sessionfmt.OpenReader(s.Name, bytes.NewReader(data), sessionfmt.Options{Workers: workers})
			if err != nil {
				t.Fatal(err)
			}
			defer other.Close()
			if !reflect.DeepEqual(s.Findings, other.Findings) || !reflect.DeepEqual(s.Coverage, other.Coverage) || s.Leaf() != other.Leaf() {
				t.Fatalf("%d workers find something else", workers)
			}
			a, _ := s.Path(s.Leaf())
			b, _ := other.Path(other.Leaf())
			if !reflect.DeepEqual(a, b) {
				t.Fatalf("%d workers find another path", workers)
			}
		}
	})
}

// FuzzOpen: no input makes opening, walking, naming or reading panic or hang.
func FuzzOpen(f *testing.F) {
	for _, c := range corpus.Small(f) {
		f.Add(c.Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := sessionfmt.OpenReader("fuzz", bytes.NewReader(data), sessionfmt.Options{Workers: 2})
		if err != nil {
			return
		}
		defer s.Close()
		r := s.NewReader()
		for i := range s.Len() {
			if line, err := r.Line(i); err != nil || len(line) == 0 {
				t.Fatalf("record %d: %q, %v", i, line, err)
			}
			if _, found := s.Path(i); len(found) > 1 {
				t.Fatalf("record %d: %d cycles on one path", i, len(found))
			}
		}
		for _, p := range []string{"leaf", "root", "request:-1", "turn:0", "aa", "zz"} {
			var wrong *sessionfmt.PointError
			if _, err := s.Point(p, s.Leaf()); err != nil && !errors.As(err, &wrong) {
				t.Fatal(err)
			}
		}
	})
}
