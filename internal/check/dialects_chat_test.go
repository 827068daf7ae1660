package check

import (
	"fmt"
	"strings"
	"testing"
)

// chats are sessions of the agents whose lines are messages in order, with seven lines each. As
// in [rollout], the fifth is the second answer.
func chats() map[string][]string {
	all := map[string][]string{
		"gsh": {`{"id":"s1","created_at":"2026-01-01T00:00:00Z","last_activity":"2026-01-01T00:00:00Z","message_count":0,"cwd":"/work","title":null}`,
			`{"role":"user","content":"List the files."}`,
			`{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"bash","input":{}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"a.go and b.go"}]}`,
			`{"role":"assistant","content":"There are two."}`, `{"role":"user","content":"And now?"}`, `{"role":"assistant","content":"Nothing is left."}`},
		"gemini": {`{"sessionId":"s1","projectHash":"h","startTime":"2026-01-01T00:00:00Z","kind":"main"}`,
			`{"id":"u1","type":"user","content":"List the files."}`,
			`{"id":"a1","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"ls","args":{},"result":"a.go and b.go"}]}`,
			`{"id":"i1","type":"info","content":"Updated"}`,
			`{"id":"a2","type":"gemini","content":"There are two."}`, `{"id":"u2","type":"user","content":"And now?"}`, `{"id":"a3","type":"gemini","content":"Nothing is left."}`},
	}
	for agent, form := range map[string]string{
		"swe-cli": `{"role":%q,"content":%q,"timestamp":"2026-01-01 00:00:0%d","tool_calls":[%s]}`,
		"y-agent": `{"role":%q,"content":%q,"timestamp":"2026-01-01T00:00:0%dZ","tool_calls":[%s],"message_id":"m%[3]d"}`,
	} {
		call := map[string]string{
			"swe-cli": `{"id":"c1","name":"ls","parameters":{},"result":"a.go and b.go"}`,
			"y-agent": `{"id":"c1","name":"ls","arguments":{}}`,
		}[agent]
		say := func(role, text, calls string) {
			all[agent] = append(all[agent], fmt.Sprintf(form, role, text, len(all[agent]), calls))
		}
		say("system", "Be brief.", "")
		say("user", "List the files.", "")
		say("assistant", "", call)
		if agent == "y-agent" {
			all[agent] = append(all[agent], `{"role":"tool","content":"a.go and b.go","timestamp":"2026-01-01T00:00:03Z","tool_call_id":"c1","message_id":"m3"}`)
		} else {
			say("system", "Go on.", "")
		}
		say("assistant", "There are two.", "")
		say("user", "And now?", "")
		say("assistant", "Nothing is left.", "")
	}
	return all
}

// TestChatDialects damages sessions of these agents in the ways that change them.
func TestChatDialects(t *testing.T) {
	agents := []string{"gsh", "gemini", "swe-cli", "y-agent"}
	for _, test := range damages() {
		for k, agent := range agents {
			lines := chats()[agent]
			sound := strings.Join(lines, "\n") + "\n"
			data := test.damage(lines)
			if test.name == "an empty file" {
				data = ""
			} else if data == sound && test.name != "sound" {
				continue // this agent's sessions have nothing of the kind
			}
			want := chatDamages[test.name][k]
			if got := damageReport(t, agent, data); got != want {
				t.Errorf("%s of %s: %s, want %s", test.name, agent, got, want)
			}
		}
	}
}

// chatDamages are what checks then find, of each agent. A message twice is two, but in a log of
// Gemini CLI; and a session of gsh or Gemini CLI is none without its first line.
var chatDamages = map[string][4]string{
	"sound":                       {"6", "6", "7", "6"},
	"a torn last line":            {"7 torn; 5", "7 torn; 5", "7 torn; 6", "7 torn; 5"},
	"no final newline":            {"7 unterminated; 6", "7 unterminated; 6", "7 unterminated; 7", "7 unterminated; 6"},
	"glued lines":                 {"5 glued hides 2/6/1; 4", "5 glued hides 2/6/1; 4", "5 glued hides 2/6/1; 5", "5 glued hides 2/6/1; 4"},
	"a line glued to half of one": {"5 malformed hides 1/2/0; 4", "5 malformed hides 1/2/0; 4", "5 malformed hides 1/2/0; 5", "5 malformed hides 1/2/0; 4"},
	"NUL bytes":                   {"5 padded, 8 padded; 6", "5 padded, 8 padded; 6", "5 padded, 8 padded; 7", "5 padded, 8 padded; 6"},
	"a malformed line":            {"5 malformed; 5", "5 malformed; 5", "5 malformed; 6", "5 malformed; 5"},
	"no JSON at all":              {"5 malformed; 6", "5 malformed; 6", "5 malformed; 7", "5 malformed; 6"},
	"bytes that are not UTF-8":    {"5 invalid-utf8; 6", "5 invalid-utf8; 6", "5 invalid-utf8; 7", "5 invalid-utf8; 6"},
	"CR LF":                       {"crlf; 6", "crlf; 6", "crlf; 7", "crlf; 6"},
	"blank lines":                 {"blank-line; 6", "blank-line; 6", "blank-line; 7", "blank-line; 6"},
	"lines that are not objects":  {"5 scalar-line, 6 scalar-line, 7 scalar-line; 6", "5 scalar-line, 6 scalar-line, 7 scalar-line; 6", "5 scalar-line, 6 scalar-line, 7 scalar-line; 7", "5 scalar-line, 6 scalar-line, 7 scalar-line; 6"},
	"a byte order mark":           {"1 bom; 6", "1 bom; 6", "1 bom; 7", "1 bom; 6"},
	"a line twice":                {"7", "6", "8", "7"},
	"a lost beginning":            {"5", "5", "6", "5"},
	"a call without a result":     {"3 call-without-result; 5", "6", "6", "3 call-without-result; 5"},
	"an empty file":               {"unread", "unread", "unread", "unread"},
	"the header alone":            {"0", "0", "0", "0"},
	"no header":                   {"unread", "unread", "7", "6"},
	"a broken header":             {"unread", "unread", "1 malformed; 7", "1 malformed; 6"},
	"a huge line":                 {"6", "6", "7", "6"},
	"unknown types":               {"5 unknown-type, 6 unknown-type; 6", "5 unknown-type, 6 unknown-type; 6", "5 unknown-type, 6 unknown-type; 7", "5 unknown-type, 6 unknown-type; 6"},
}
