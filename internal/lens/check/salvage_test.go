package check

import (
	"strings"
	"testing"

	"ctxtool/sessionfmt/jsonl"
)

// TestIsRecord: what a broken line may hold whole, and what is a piece of an entry.
func TestIsRecord(t *testing.T) {
	for _, c := range []struct {
		text    string
		version int
		want    bool
	}{
		{`{"type":"session","id":"s"}`, 3, true},
		{`{"type":"session"}`, 3, false},
		{`{"type":"message","id":"a","parentId":null,"timestamp":"t"}`, 3, true},
		{`{"type":"message","id":"a","timestamp":"t"}`, 3, false},
		{`{"type":"message","parentId":"a","timestamp":"t"}`, 3, false},
		{`{"type":"message","id":"a","parentId":"b"}`, 3, false},
		{`{"type":"message","timestamp":"t"}`, 1, true},
		{`{"type":"text","text":"x"}`, 1, false},
	} {
		if got := isRecord(jsonl.Value(c.text), c.version); got != c.want {
			t.Errorf("%s of version %d: %v", c.text, c.version, got)
		}
	}
}

// TestSalvageBudget: a record is found after eight unterminated objects, each of which would
// include it. That is the limit for a line.
func TestSalvageBudget(t *testing.T) {
	record := `{"type":"session","id":"` + strings.Repeat("x", 1000) + `"}`
	for beginnings, want := range map[int]int{0: 1, 1: 1, 8: 1, 9: 0} {
		records, whole := salvage([]byte(strings.Repeat(`{"type":"a","x":`, beginnings)+record), recordStart, func(v jsonl.Value) bool { return isRecord(v, 3) })
		if len(records) != want || whole != (beginnings == 0) {
			t.Errorf("after %d beginnings: %d records, nothing else %v", beginnings, len(records), whole)
		}
	}
}
