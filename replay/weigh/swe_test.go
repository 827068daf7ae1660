package weigh

import (
	"strings"
	"testing"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// TestSWE: names of calls count, with the arguments as Python prints them, and thinking does
// not.
func TestSWE(t *testing.T) {
	got := weighed(&SWE, jsonl.Assistant, `{"content":[{"type":"thinking","thinking":"Hm, hm."},{"type":"text","text":"It's fine."},{"type":"toolCall","name":"bash","arguments":{"command":"ls","n":null}}]}`)
	want := tokens.CL100K.Count([]byte("It's fine.")) + tokens.CL100K.Count([]byte("bash{'command': 'ls', 'n': None}"))
	if got.Total() != want || got.Thinking != 0 {
		t.Errorf("%+v, want %d tokens", got, want)
	}
}

func TestPolicyT16cPythonText(t *testing.T) {
	for json, want := range map[string]string{
		`{"file_path": "a.py", "flag": true, "n": null}`: `{'file_path': 'a.py', 'flag': True, 'n': None}`,
		`[1,-2.5,[],{},false,"it's"]`:                    `[1, -2.5, [], {}, False, "it's"]`,
		`"a\"b'\\\n\u00e9\u0001\u2028,:"`:                `'a"b\'\\\n` + "é" + `\x01\u2028,:'`,
	} {
		if got := PythonText(jsonl.Value(json)); got != want {
			t.Errorf("%s prints %s, want %s", json, got, want)
		}
	}
	deep := jsonl.Value(strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20))
	if got := PythonText(deep); got != string(deep) {
		t.Errorf("deep nesting prints %d bytes", len(got))
	}
}
