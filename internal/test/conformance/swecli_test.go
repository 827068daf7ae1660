package conformance

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// oddSWECLI are lines that are odd in each of their members.
var oddSWECLI = []string{
	`{"role": "user", "content": "ü\\", "timestamp": "2026-01-20 08:15:31.000412", "tool_calls": []}`,
	`{"role":"assistant","content":"\n","thinking_trace":"t\"","reasoning_content":"ü","tool_calls":[{"id":"1","name":"n","parameters":{},"result":"\u00e9"},{"id":"2","name":"n","parameters":[],"result":{"a":"\n"}},{"id":"3","name":"n","error":"no\t"},{"id":"4","error":{"e":1}},{"id":"5","name":"task_complete"},{"id":"6"}],"token_usage":{"prompt_tokens":7,"completion_tokens":1}}`,
	`{"role":"assistant","content":"x","tool_calls":[{"id":"1"},{"id":"2"}],"tool_results":[{"output":"o\n"},{"error":"e\t"}]}`,
	`{"role":"assistant","content":null,"tool_calls":[]}`, `{"role":"user","content":"[CONVERSATION SUMMARY] \n"}`,
}

func TestSWECLI(t *testing.T) {
	t.Parallel()
	n := 0
	say := func(role, text, calls string) string {
		n++
		used := ""
		if role == "assistant" {
			used = `,"token_usage":{"prompt_tokens":7,"completion_tokens":1}`
		}
		return fmt.Sprintf(`{"role":%q,"content":%q,"timestamp":"2026-01-01 00:00:0%d","tool_calls":[%s]%s}`, role, text, n, calls, used)
	}
	Run(t, Agent{
		Name: "swe-cli",
		Lines: []string{
			say("system", "Be brief.", ""),
			say("user", "List the files.", ""),
			say("assistant", "", `{"id":"c1","name":"ls","parameters":{},"result":"a.go and b.go"}`),
			say("system", "Go on.", ""),
			say("assistant", "There are two.", ""),
			say("user", "And now?", ""),
			say("assistant", "Nothing is left.", ""),
		},
		Resume: []string{say("user", "Instead?", "")},
		Usage:  []string{"token_usage.prompt_tokens", "token_usage.completion_tokens"},
		More: []string{strings.Join(oddSWECLI, "\n"),
			Document(`{"id":"s1","created_at":"2026-01-20 08:15:30","updated_at":"x"}`, oddSWECLI),
		},
		Found: map[string]string{
			"a call without a result": "-1",
			"no header":               "+0",
			"a broken header":         "1 malformed; +0",
			"two files":               "8 time-backward; +8",
			"the header alone":        "-7",
		},
	})
}

// TestDocumentLines: findings in a document name the lines of the file, plain and packed.
func TestDocumentLines(t *testing.T) {
	whole := string(must.Get(os.ReadFile("../../../testdata/dialects/9c01aa7e55d2.json")))
	for _, test := range []struct{ name, text, want string }{
		{"a time that is none", strings.Replace(whole, `"2026-01-20 08:15:31.000412"`, `"soon"`, 1), "14 bad-time; 7"},
		{"an unknown role", strings.Replace(whole, `"role": "user"`, `"role": "alien"`, 1), "14 unknown-type; 6"},
		{"no JSON", strings.Replace(whole, `"c2",`, `"c2" x,`, 1), "41 broken-off; 2"},
		{"cut", whole[:strings.Index(whole, "x is 1")], "75 broken-off; 6"},
		{"another value beside", strings.Replace(whole, `"id"`, `"more": [{"a": "]"}], "id"`, 1), "7"},
		{"another document after it", whole + whole, "93 broken-off; 7"},
		{"on one line", strings.Join(strings.Fields(whole), " "), "7"},
		{"CR LF", strings.ReplaceAll(whole, "\n", "\r\n"), "7"},
	} {
		if got := Report(t, "swe-cli", test.text); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
