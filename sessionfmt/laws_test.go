package sessionfmt_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// everySession runs a test over every session that there is. Files that hold no
// session are passed over: they are their own tests' matter.
func everySession(t *testing.T, test func(t *testing.T, data []byte, s *sessionfmt.Session)) {
	n := 0
	for _, c := range append(corpus.All(t), corpus.Foreign(t)...) {
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
			if err == nil && s.Dialect() != nil {
				got, err = r.Raw(i)
				got, _, _ = bytes.Cut(got, []byte("\n")) // others belong to the entry too
			}
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
			other := must.Get(sessionfmt.OpenReader(s.Name, bytes.NewReader(data), sessionfmt.Options{Workers: workers}))
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

// TestLongFile: a file of many ranges, with lines longer than one of them, has every
// entry with its id, parent, line and time, whoever indexes it.
func TestLongFile(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(headerLine)
	const entries = 40_000
	for i := range entries {
		text := "x"
		if i%15_000 == 14_999 {
			text = strings.Repeat("long ", 150_000)
		}
		fmt.Fprintf(&b, `{"type":"message","id":"%08x","parentId":"%08x","timestamp":%q,"message":{"role":"user","content":%q}}`+"\n",
			i, i-1, time.UnixMilli(int64(1_700_000_000_000+i)).UTC().Format("2006-01-02T15:04:05.000Z"), text)
	}
	for _, workers := range []int{1, 4} {
		s := must.Get(sessionfmt.OpenReader("long", bytes.NewReader(b.Bytes()), sessionfmt.Options{Workers: workers, Times: true}))
		defer s.Close()
		if s.Len() != entries+1 || s.Coverage.Lines != entries+1 || s.Leaf() != entries {
			t.Fatalf("%d workers: %d records, %d lines, leaf %d", workers, s.Len(), s.Coverage.Lines, s.Leaf())
		}
		for i := range entries {
			rec := i + 1
			at, _ := s.Time(rec)
			if s.ID(rec) != fmt.Sprintf("%08x", i) || i > 0 && s.Parent(rec) != rec-1 || s.Line(rec) != rec+1 || at != int64(1_700_000_000_000+i) {
				t.Fatalf("%d workers: record %d is %q below record %d, in line %d, at %d", workers, rec, s.ID(rec), s.Parent(rec), s.Line(rec), at)
			}
		}
	}
}

// TestLaw2AppendingAdds: appending changes no byte that was there, and the leaf is
// then what was appended, below what it was meant to follow; a session that cannot
// be appended to stays as it is, with a hint.
func TestLaw2AppendingAdds(t *testing.T) {
	appended, refused := 0, 0
	everySession(t, func(t *testing.T, data []byte, _ *sessionfmt.Session) {
		name := filepath.Join(t.TempDir(), "s.jsonl")
		must.Do(os.WriteFile(name, data, 0o600))
		s, err := sessionfmt.Open(name, sessionfmt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		b := s.NewBatch(s.Leaf(), time.UnixMilli(1_800_000_000_000))
		target := jsonl.AppendQuoted(nil, s.ID(max(0, s.Leaf())))
		id := b.Add(jsonl.Label, jsonl.Field{Name: "targetId", Value: target}, jsonl.Field{Name: "label", Value: jsonl.Value(`"law 2"`)})
		err = s.Append(b, sessionfmt.AppendOptions{})
		now, rerr := os.ReadFile(name)
		if rerr != nil {
			t.Fatal(rerr)
		}
		if err != nil {
			refused++
			var at *sessionfmt.Error
			if !errors.As(err, &at) || at.Hint == "" || !bytes.Equal(now, data) {
				t.Fatalf("no hint, or the file is another: %v", err)
			}
			return
		}
		appended++
		if !bytes.Equal(now[:len(data)], data) || !bytes.Equal(now[len(data):], b.Lines()) {
			t.Fatal("what was there has changed, or something else was appended")
		}
		after := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		defer after.Close()
		if leaf := after.Leaf(); after.ID(leaf) != id || after.Parent(leaf) != s.Leaf() || leaf != s.Len() {
			t.Fatalf("the leaf is %q below record %d, want %q below %d", after.ID(leaf), after.Parent(leaf), id, s.Leaf())
		}
	})
	t.Logf("%d appended to, %d refused", appended, refused)
	if appended == 0 {
		t.Error("none could be appended to")
	}
}

// FuzzOpen: no input makes opening, walking, naming or reading panic or loop.
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
