package redact

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// numbersOf writes bytes as numbers.
func numbersOf(data []byte, format, separator string) string {
	var all []string
	for _, c := range data {
		all = append(all, fmt.Sprintf(format, c))
	}
	return strings.Join(all, separator)
}

// TestByteArrays: a secret that is written as the numbers of its bytes goes, in a text, in a string of JSON and in JSON
// itself, which remains JSON; what is none stays.
func TestByteArrays(t *testing.T) {
	r, text := mustNew(Options{}), []byte("token "+pat+"\n")
	pair := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7, 201}, 16))
	signature := ed25519.Sign(pair, text)
	for _, c := range []struct {
		in   string
		hits bool
	}{
		{"[" + numbersOf(text, "%d", ",") + "]", true},
		{"a := []byte{" + numbersOf(text, "0x%02x", ", ") + "}", true},
		{"{" + numbersOf(text, "%#x", ", ") + ", 0x00, 0x00}", true},
		{"bytes([\n    " + numbersOf(text, "%d", ",\n    ") + "\n])", true},
		{"[" + numbersOf(text, "%d", " ") + "]", true},
		{"<Buffer " + numbersOf(text, "%02x", " ") + ">", true},
		{`{"type":"Buffer","data":[` + numbersOf(text, "%d", ",") + `]}`, true},
		{`"` + numbersOf(text, `\x%02x`, "") + `"`, true},
		{`"` + numbersOf(text, `\%03o`, "") + `"`, true},
		{"[" + numbersOf(pair, "%d", ",") + "]", true},
		{"1, 2, 3, 4, 5 " + numbersOf(text, "%02x", ""), true},
		{"[" + numbersOf(signature, "%d", ",") + "]", false},
		{"[" + numbersOf([]byte("no secret in these numbers"), "%d", ", ") + "]", false},
		{"[" + strings.Repeat("0, ", 40) + "256]", false},
		{"2026, 12, 31, 11, 59, 58, 2026, 12, 31, 11, 59, 58, 2026, 12, 31, 11, 59, 58", false},
	} {
		quoted := string(must.Get(json.Marshal(c.in)))
		lines := []string{c.in, `{"content":` + quoted + `}`, `{"arguments":` + string(must.Get(json.Marshal(`{"a":`+quoted+`}`))) + `}`}
		if json.Valid([]byte(c.in)) {
			lines = append(lines, `{"details":{"a":1,"raw":`+c.in+`,"b":["x",2]}}`)
		}
		if strings.Contains(c.in, "\n") { // lines outside of JSON are searched one by one
			lines = lines[1:]
		}
		for _, line := range lines {
			got := string(redacted(r, []byte(line)))
			if (got != line) != c.hits || json.Valid([]byte(line)) != json.Valid([]byte(got)) {
				t.Errorf("%s\nbecomes %s", line, got)
			}
			if again := string(redacted(r, []byte(got))); again != got {
				t.Errorf("%s\nbecomes %s when it is redacted again", got, again)
			}
		}
	}
	for in, want := range map[string]string{
		`{"a":[` + numbersOf(text, "%d", ",") + `]}`:                   `{"a":[0` + strings.Repeat(",0", len(text)-1) + `]}`,
		`{"a":[` + numbersOf(text, "%d", ",") + `],"b":"` + pat + `"}`: `{"a":[0` + strings.Repeat(",0", len(text)-1) + `],"b":"[redacted:github-pat-2]"}`,
		`{"a":[[` + numbersOf(text, "%d", ",") + `],["x",1]]}`:         `{"a":[[0` + strings.Repeat(",0", len(text)-1) + `],["x",1]]}`,
	} {
		if got := string(redacted(r, []byte(in))); got != want {
			t.Errorf("%s\nbecomes %s\nwant %s", in, got, want)
		}
	}
}
