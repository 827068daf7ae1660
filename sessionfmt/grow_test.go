package sessionfmt_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

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
