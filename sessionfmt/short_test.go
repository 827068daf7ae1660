package sessionfmt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// TestShortIDs: a short id is the shortest point that names its entry, of at least 8 bytes.
func TestShortIDs(t *testing.T) {
	ids := []string{"a1", "msg_01a200ed-4de1", "msg_01a200ed-4dd6", "msg_01a200ed-4de1-7f20", "compact-001", "compact-002", "abcdefghi", "prüfung-eins", "prüfung-zwei", "12345678", "12345678.1"}
	want := []string{"a1", "msg_01a200ed-4de1", "msg_01a200ed-4dd", "msg_01a200ed-4de1-", "compact-001", "compact-002", "abcdefgh", "prüfung-e", "prüfung-z", "12345678", "12345678."}
	var text strings.Builder
	text.WriteString(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n")
	for k, id := range ids {
		parent := "null"
		if k > 0 {
			parent = fmt.Sprintf("%q", ids[k-1])
		}
		fmt.Fprintf(&text, `{"type":"message","id":%q,"parentId":%s,"message":{"role":"user","content":"x"}}`+"\n", id, parent)
	}
	s := must.Get(sessionfmt.OpenReader("s.jsonl", strings.NewReader(text.String()), sessionfmt.Options{}))
	defer s.Close()
	short, width := s.ShortIDs()
	var got []string
	for _, id := range ids {
		got = append(got, short(id))
		if p, err := s.Point(short(id), s.Leaf()); err != nil || s.ID(p.Record) != id {
			t.Errorf("%s names record %d, want %s: %v", short(id), p.Record, id, err)
		}
	}
	if !slices.Equal(got, want) || width != 16 {
		t.Errorf("%q of %d bytes, want %q", got, width, want)
	}
}
