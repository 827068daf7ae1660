package sessionfmt_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// TestGrow: a session that has grown with its file is the one that is in the file.
func TestGrow(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s.jsonl")
	grown, anew := 0, 0
	for _, c := range corpus.All(t) {
		if len(c.Data) > 100<<10 {
			continue
		}
		var s *sessionfmt.Session
		ends := lineEnds(c.Data)
		for _, k := range corpus.Points(len(ends), 12, 1, func(int) int { return 0 }) {
			appendUpTo(t, name, c.Data[:ends[k]])
			if s != nil && s.Grow() {
				grown++
				sameSession(t, c.Name, s, name)
				continue
			}
			anew++
			if s != nil {
				s.Close()
			}
			s, _ = sessionfmt.Open(name, sessionfmt.Options{})
		}
		if s != nil {
			s.Close()
		}
		os.Remove(name)
	}
	if grown < anew {
		t.Errorf("only %d times a session has grown, %d times it was opened", grown, anew)
	}
}

// lineEnds are the places after the lines of data.
func lineEnds(data []byte) (ends []int) {
	for at := 0; at < len(data); {
		nl := bytes.IndexByte(data[at:], '\n')
		if nl < 0 {
			nl = len(data) - at - 1
		}
		at += nl + 1
		ends = append(ends, at)
	}
	return ends
}

// appendUpTo appends what a file lacks of data.
func appendUpTo(t *testing.T, name string, data []byte) {
	t.Helper()
	f := must.Get(os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		_, err = f.Write(data[info.Size():])
	}
	if err != nil {
		t.Fatal(err)
	}
}

// sameSession compares a session with the one that is opened now.
func sameSession(t *testing.T, what string, s *sessionfmt.Session, name string) {
	t.Helper()
	want := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
	defer want.Close()
	if s.Size() != want.Size() {
		t.Fatalf("%s: %d bytes, opened %d", what, s.Size(), want.Size())
	}
	sameIndex(t, what, s, want)
}

// sameIndex compares the entries of two sessions.
func sameIndex(t *testing.T, what string, s, want *sessionfmt.Session) {
	t.Helper()
	if !reflect.DeepEqual(s.Coverage, want.Coverage) || !reflect.DeepEqual(s.Findings, want.Findings) {
		t.Fatalf("%s: %v %v, opened %v %v", what, s.Coverage, s.Findings, want.Coverage, want.Findings)
	}
	if s.Len() != want.Len() || s.Leaf() != want.Leaf() || s.Header() != want.Header() {
		t.Fatalf("%s: %d records, leaf %d, opened %d and %d", what, s.Len(), s.Leaf(), want.Len(), want.Leaf())
	}
	lines, wantLines := s.NewReader(), want.NewReader()
	for i := range s.Len() {
		line, err := lines.Line(i)
		if wantLine, wantErr := wantLines.Line(i); err != nil || wantErr != nil || !bytes.Equal(line, wantLine) {
			t.Fatalf("%s: record %d: %v %v", what, i, err, wantErr)
		}
		if s.Kind(i) != want.Kind(i) || s.Parent(i) != want.Parent(i) || s.Line(i) != want.Line(i) || s.Shadowed(i) != want.Shadowed(i) ||
			s.Find(s.ID(i)) != want.Find(want.ID(i)) {
			t.Fatalf("%s: record %d is not the one that is opened", what, i)
		}
	}
}

// TestGrowNot: what is no longer the file that was read is opened again.
func TestGrowNot(t *testing.T) {
	const first, second = headerLine + "{\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"user\",\"content\":\"one\"}}\n", "{\"type\":\"label\",\"id\":\"b\",\"parentId\":\"a\"}\n"
	for what, change := range map[string]func(name string) error{
		"another file": func(name string) error {
			if err := os.WriteFile(name+"2", []byte(first+second), 0o600); err != nil {
				return err
			}
			return os.Rename(name+"2", name)
		},
		"another end": func(name string) error {
			return os.WriteFile(name, []byte(headerLine+"{\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"user\",\"content\":\"two\"}}\n"+second), 0o600)
		},
		"shorter":         func(name string) error { return os.WriteFile(name, []byte(headerLine), 0o600) },
		"gone":            os.Remove,
		"an id again":     func(name string) error { return os.WriteFile(name, []byte(first+second+second), 0o600) },
		"a second header": func(name string) error { return os.WriteFile(name, []byte(first+headerLine), 0o600) },
	} {
		name := filepath.Join(t.TempDir(), "s.jsonl")
		was := first
		if what == "an id again" {
			was += second
		}
		must.Do(os.WriteFile(name, []byte(was), 0o600))
		s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		must.Do(change(name))
		if s.Grow() {
			t.Errorf("%s: the session has grown", what)
		}
		s.Close()
	}
}
