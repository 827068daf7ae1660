package show

import (
	"bytes"
	"encoding/json"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
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
	for name, pi := range corpus.Pi(t, sessions, "read") {
		switch {
		case pi.Read.Refused:
			refused++
		case pi.Read.Endless:
			endless++
		case pi.Read.Throws != "":
			throws++
			t.Logf("%s: pi fails on it: %s", name, pi.Read.Throws)
		case !likePi(t, name, sessions[name], &pi):
		default:
			same++
		}
	}
	if same == 0 || throws > 8 {
		t.Errorf("%d sessions compared, pi fails on %d: is it another pi?", same, throws)
	}
	t.Logf("%d sessions replay as pi builds them; it refuses %d, never ends with %d, and fails on %d", same, refused, endless, throws)
}

// likePi compares context, llm, prompt and tools with pi's, spelled the way JavaScript would.
func likePi(t *testing.T, name string, data []byte, pi *corpus.PiAnswer) bool {
	t.Helper()
	s := open(t, corpus.Session{Name: name, Data: data})
	if s == nil {
		t.Errorf("%s: pi reads it, and we do not", name)
		return false
	}
	e := at(s, replay.ByPi, s.Leaf())
	if hasCode(e.Replay().Session, "scalar-leaf") { // docs/design.md: replay semantics 2
		if !bytes.HasPrefix(pi.Read.Context, []byte(`{"messages":[],`)) {
			t.Errorf("%s: pi no longer takes a scalar line for the leaf", name)
		}
		return false
	}
	in := func(format string) jsonl.Value {
		return must.Get(jsonl.ParseValue(printed(format, Report{Envelope: e})))
	}
	type same struct {
		name string
		got  jsonl.Value
		json json.RawMessage
	}
	all := []same{{"context", in("context"), pi.Read.Context}, {"llm", in("llm"), pi.Read.LLM}}
	if is := pi.Read.System; is.Throws == "" {
		var tools [][]byte
		for _, t := range must.Get(e.Prompt()).Tools {
			tools = append(tools, t.Raw)
		}
		list := jsonl.Value("[" + string(bytes.Join(tools, []byte{','})) + "]")
		all = append(all, same{"prompt", in("json").Get("system").Get("compiled"), is.Prompt}, same{"tools", list, is.Tools})
	}
	for _, want := range all {
		if got := want.got.AppendMinified(nil); !bytes.Equal(got, want.json) {
			at := 0
			for at < min(len(got), len(want.json)) && got[at] == want.json[at] {
				at++
			}
			from := max(0, at-100)
			t.Errorf("%s, %s differs at byte %d:\n got ...%.300s\n  pi ...%.300s", name, want.name, at, got[from:], want.json[from:])
			return false
		}
	}
	return true
}
