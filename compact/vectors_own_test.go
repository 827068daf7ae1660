package compact

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
)

// own are messages as a file of another agent has them.
func own(agent string, all []testMessage) []byte {
	var lines []testMessage
	for _, m := range all {
		text, calls := partsOf(m)
		role := m["role"].(string)
		switch {
		case agent == "swe-cli" && role == "toolResult": // with its call
			for _, c := range lines[len(lines)-1]["tool_calls"].([]testMessage) {
				if c["id"] == m["toolCallId"] {
					c["result"] = text
				}
			}
		case agent == "swe-cli":
			list := []testMessage{}
			for _, c := range calls {
				list = append(list, testMessage{"id": c["id"], "name": c["name"], "parameters": c["arguments"], "approved": true})
			}
			lines = append(lines, testMessage{"role": role, "content": text, "timestamp": "2026-01-20 08:15:30", "tool_calls": list})
		case agent == "y-agent":
			line := testMessage{"message_id": fmt.Sprint("m-", len(lines)), "role": role, "content": text, "timestamp": "2026-01-05T10:00:00Z"}
			if role == "toolResult" {
				line["role"], line["tool_call_id"] = "tool", m["toolCallId"]
			}
			if len(calls) > 0 {
				line["tool_calls"] = calls
			}
			lines = append(lines, line)
		case role == "toolResult": // gsh: results in a row are one message
			block := testMessage{"type": "tool_result", "tool_use_id": m["toolCallId"], "content": text}
			if last := lines[len(lines)-1]; last["role"] == "user" && last["results"] != nil {
				last["content"] = append(last["content"].([]testMessage), block)
				continue
			}
			lines = append(lines, testMessage{"role": "user", "content": []testMessage{block}, "results": true})
		default:
			blocks := []testMessage{{"type": "text", "text": text}}
			if text == "" {
				blocks = blocks[1:]
			}
			for _, c := range calls {
				blocks = append(blocks, testMessage{"type": "tool_use", "id": c["id"], "name": c["name"], "input": c["arguments"]})
			}
			lines = append(lines, testMessage{"role": role, "content": blocks})
		}
	}
	var b strings.Builder
	if agent == "gsh" {
		b.WriteString(`{"id":"a","created_at":"2025-06-15T14:20:00.120Z","last_activity":"2025-06-15T14:20:00.120Z","message_count":0,"cwd":"/w","title":null}` + "\n")
	}
	for _, line := range lines {
		delete(line, "results")
		text := must.Get(json.Marshal(line))
		b.Write(append(text, '\n'))
	}
	return []byte(b.String())
}

// partsOf are the text and the calls of a message.
func partsOf(m testMessage) (text string, calls []testMessage) {
	list, ok := m["content"].([]any)
	if !ok {
		return m["content"].(string), nil
	}
	for _, el := range list {
		if b := el.(testMessage); b["type"] == "text" {
			text = b["text"].(string)
		} else {
			calls = append(calls, testMessage{"id": b["id"], "name": b["name"], "arguments": b["arguments"]})
		}
	}
	return text, calls
}

// TestPolicyOwnFiles runs vectors of docs/policies.md 6 on files of the agents themselves: passes
// do what they do to the same messages of pi, whose results the other tests hold. want is the
// shape of what is left.
func TestPolicyOwnFiles(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	try := func(id, name, args, says string) []testMessage {
		return []testMessage{answer("", call(id, name, args)), result(id, says)}
	}
	asked := func(parts ...[]testMessage) []testMessage {
		return slices.Concat(append([][]testMessage{{user("q")}}, parts...)...)
	}
	said := func(n int) (all []testMessage) {
		for i := range n {
			all = append(all, user(fmt.Sprintf("message %d with some content", i)))
		}
		return all
	}
	path, edit := `{"path":"a.go"}`, `{"path":"f","edits":[]}`
	summarize := func(Request) (string, error) { return "summary", nil }
	type vector struct {
		name, agent, want string
		in                []testMessage
		pass              *Pass
		o                 Options
	}
	vectors := []vector{
		{"T10c", "gsh", "u" + strings.Repeat("At", 15), outputs(2000, 12000, 40000, 8000, 200, 45000, 12000, 200, 35000, 6000, 150, 50000, 3000, 1500, 100), &Prune, Options{Protect: 40000}},
		{"T10e", "gsh", "uAtt", []testMessage{user("q"), answer("", call("c", "bash", `{}`), call("d", "bash", `{}`)), result("c", x(2000)), result("d", x(2000))}, &Prune, Options{Protect: 400}},
		{"T14", "gsh", "S", asked(try("1", "bash", path, x(403)), []testMessage{answer("done")}), &Compact, Options{Style: StyleGSH, Summarize: summarize}},
		{"T31", "swe-cli", "S" + strings.Repeat("u", 20), said(25), &Compact, Options{Style: styleSWECLI, Keep: 20, Summarize: summarize}},
		{"T31", "swe-cli", strings.Repeat("u", 20), said(20), &Compact, Options{Style: styleSWECLI, Keep: 20, Summarize: summarize}},
		{"T31 with calls", "swe-cli", "SAtta", asked([]testMessage{answer("", call("1", "t", `{}`), call("2", "t", `{}`)), result("1", "a"), result("2", "b"), answer("c")}), &Compact, Options{Style: styleSWECLI, Keep: 3, Summarize: summarize}},
		{"T5", "y-agent", "uAt", asked(try("1", "bash", `{}`, x(15000))), &Truncate, Options{Max: 10000, Unit: "chars"}},
		{"T20c", "y-agent", "uAt", asked(try("1", "read", path, "error: no"), []testMessage{answer("another try")}, try("2", "read", path, "ok")), &RetryPrune, Options{}},
		{"T20d", "y-agent", "uAtAta", asked(try("1", "edit", edit, "error: no"), try("2", "read", `{"path":"f"}`, "ok"), try("3", "edit", edit, "ok"), []testMessage{answer("x")}), &RetryPrune, Options{}},
		{"T20e", "y-agent", "uAtAt", asked(try("1", "bash", `{"command":"npm test"}`, "error: no"), try("2", "bash", `{"command":"git status"}`, "ok")), &RetryPrune, Options{}},
		{"T20f", "y-agent", "uAt", asked(try("1", "bash", path, "error: no"), try("2", "bash", path, "error: no"), try("3", "bash", path, "error: no")), &RetryPrune, Options{}},
		{"T22", "y-agent", "uaa", asked(try("1", "x", `{}`, "said"), try("2", "x", `{}`, "said"), []testMessage{answer("note")}), &Progressive, Options{Summarize: summarize}},
		{"T24", "y-agent", "uAtAt", asked(try("1", "read", path, x(300)), try("2", "read", path, x(300))), &Superseded, Options{}},
		{"T24b", "y-agent", "uAt", asked(try("1", "grep", `{}`, "no matches found\n"+x(183))), &Superseded, Options{}},
		{"T26", "y-agent", "S" + strings.Repeat("u", 10), said(20), &Compact, Options{Style: styleYAgent, Keep: 10, Summarize: fallback}},
		{"T30", "y-agent", "uaua", []testMessage{user("A <think>t</think>\n\nB"), answer("A <think>t</think>\n\nB"), user("q"), answer("x")}, &StripThinking, Options{}},
		{"T30c", "y-agent", "uAt", append([]testMessage{{"role": "system", "content": "s"}}, asked([]testMessage{answer("n1", call("1", "t", `{}`)), result("1", "r"), answer("n2", call("2", "t", `{}`)), result("2", "r"), answer("n3", call("3", "t", `{}`)), result("3", "r")})...), &MergeNotes, Options{}},
	}
	for _, n := range []int{30000, 30001, 80000, 100000} {
		vectors = append(vectors, vector{fmt.Sprint("T1 to T3, ", n), "gsh", "uAt", asked(try("1", "bash", `{}`, x(n))), &Truncate, Options{Max: 30000, Unit: "bytes"}})
	}
	for _, protect := range []int{0, 400, 499, 500} {
		vectors = append(vectors, vector{fmt.Sprint("T9 and T10, ", protect), "gsh", "uAtAtAt", outputs(2000, 2000, 2000), &Prune, Options{Protect: protect}},
			vector{fmt.Sprint("T10b, ", protect), "gsh", "u" + strings.Repeat("At", 5), outputs(400, 403, 404, 408, 4000), &Prune, Options{Protect: protect}})
	}
	for _, test := range vectors {
		v := viewed(t, own(test.agent, test.in), replay.Options{})
		p, err := FindPolicy(v.session().Dialect().Policy)
		if err != nil || p.Name != test.agent || v.session().Dialect().Name != test.agent {
			t.Fatalf("%s: policy %s, %v", test.name, p.Name, err)
		}
		test.o.Counter = p.Counter
		was, is := apply(t, test.pass, of(t, test.in...), test.o), apply(t, test.pass, v, test.o)
		if got := shape(is.View); got != test.want {
			t.Errorf("%s of %s: %s, want %s", test.name, test.agent, got, test.want)
		}
		if got, want := saidIn(t, is.View), saidIn(t, was.View); !slices.Equal(got, want) {
			t.Errorf("%s of %s: %.200q\nof pi %.200q", test.name, test.agent, got, want)
		}
		if got, want := is.Report, was.Report; got.TokensBefore != want.TokensBefore || got.TokensSaved != want.TokensSaved || len(is.Changes) != len(was.Changes) {
			t.Errorf("%s of %s: %d of %d tokens saved by %d changes, of pi %d of %d by %d", test.name, test.agent, got.TokensSaved, got.TokensBefore, len(is.Changes), want.TokensSaved, want.TokensBefore, len(was.Changes))
		}
	}
}
