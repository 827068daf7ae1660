package render

import (
	"bytes"
	"encoding/json"
	"testing"

	"ctxtool/internal/corpus"
	"ctxtool/internal/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt/jsonl"
)

// TestPiItself compares every session with what pi's own code builds of it, the
// generated and the damaged ones too.
func TestPiItself(t *testing.T) {
	sessions := map[string][]byte{}
	for _, c := range corpus.All(t) {
		sessions[c.Name] = c.Data
	}
	same, refused, endless, throws := 0, 0, 0, 0
	for name, pi := range corpus.PiReads(t, sessions) {
		switch {
		case pi.Read.Refused:
			refused++
		case pi.Read.Endless:
			endless++
		case pi.Read.Throws != "":
			throws++
			t.Logf("%s: pi fails on it: %s", name, pi.Read.Throws)
		case !likePi(t, name, sessions[name], pi.Read.Context, pi.Read.LLM):
		default:
			same++
		}
	}
	if same == 0 || throws > 8 {
		t.Errorf("%d sessions compared, pi fails on %d: is it another pi?", same, throws)
	}
	t.Logf("%d sessions replay as pi builds them; it refuses %d, never ends with %d, and fails on %d", same, refused, endless, throws)
}

// likePi compares context and llm with pi's, spelled the way JavaScript would.
func likePi(t *testing.T, name string, data []byte, context, llm json.RawMessage) bool {
	t.Helper()
	s := open(t, corpus.Session{Name: name, Data: data})
	if s == nil {
		t.Errorf("%s: pi reads it, and we do not", name)
		return false
	}
	e := at(s, replay.ByPi, s.Leaf())
	if hasCode(e.Replay().Session, "scalar-leaf") { // docs/design.md: replay semantics 2
		if !bytes.HasPrefix(context, []byte(`{"messages":[],`)) {
			t.Errorf("%s: pi no longer takes a scalar line for the leaf", name)
		}
		return false
	}
	for _, want := range []struct {
		format string
		json   json.RawMessage
	}{{"context", context}, {"llm", llm}} {
		v := must.Get(jsonl.ParseValue(printed(want.format, Report{Envelope: e})))
		if got := v.AppendMinified(nil); !bytes.Equal(got, want.json) {
			at := 0
			for at < min(len(got), len(want.json)) && got[at] == want.json[at] {
				at++
			}
			from := max(0, at-100)
			t.Errorf("%s, %s differs at byte %d:\n got ...%.300s\n  pi ...%.300s", name, want.format, at, got[from:], want.json[from:])
			return false
		}
	}
	return true
}
