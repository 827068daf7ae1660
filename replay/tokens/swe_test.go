package tokens

import (
	"strings"
	"testing"

	"ctxtool/sessionfmt/jsonl"
)

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
