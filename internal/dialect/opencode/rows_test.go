package opencode_test

import (
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// TestOddRows: rows that lack what they should have are JSON nevertheless.
func TestOddRows(t *testing.T) {
	rows := []string{
		`{"table":"session","id":"s1","directory":"/w","version":"1.18.33"}`,
		`{"table":"message","id":"m1","session_id":"s1"}`,
		`{"table":"message","id":"m2","session_id":"s1","data":{"role":"assistant"}}`,
		`{"table":"part","id":"p2","message_id":"m2","data":{"type":"tool","callID":"c1","state":{"status":"completed"}}}`,
		`{"table":"message","id":"m3","session_id":"s1","data":{"summary":true,"finish":"stop"}}`,
	}
	s := must.Get(sessionfmt.OpenReader("rows.jsonl", strings.NewReader(strings.Join(rows, "\n")+"\n"), sessionfmt.Options{}))
	defer s.Close()
	r := s.NewReader()
	for i := range s.Len() {
		for _, read := range []func(int) (jsonl.Value, error){r.Line, r.Native} {
			if _, err := jsonl.ParseValue(must.Get(read(i))); err != nil {
				t.Errorf("record %d: %v", i, err)
			}
		}
	}
	if s.Len() < 5 {
		t.Errorf("%d records", s.Len())
	}
}
