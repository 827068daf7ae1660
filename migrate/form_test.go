package migrate

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/sessionfmt/jsonl"
)

// TestForm: each message of a path has the form in which pi sends it, which has the form already.
func TestForm(t *testing.T) {
	const end = `,"timestamp":1767225600000}`
	const unknown = `,"api":"unknown","provider":"unknown","model":"unknown"`
	const used = `,"usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}}`
	blob := strings.Repeat("A", 600)
	answer := func(blocks, more string) string { return `{"role":"assistant","content":[` + blocks + `]` + more + `}` }
	sent := func(blocks, stop string) string {
		return `{"role":"assistant","content":[` + blocks + `],"timestamp":1767225600000` + unknown + `,"stopReason":"` + stop + `"` + used
	}
	ended := func(blocks, stop string) string { // where the agent said how
		return `{"role":"assistant","content":[` + blocks + `],"stopReason":"` + stop + `","timestamp":1767225600000` + unknown + used
	}
	const call, called = `{"type":"toolCall","id":"c","name":"ls","arguments":{}}`, `{"type":"toolCall","id":"d","name":"cat","arguments":{}}`
	result := func(id, more string) string {
		return `{"role":"toolResult","toolCallId":"` + id + `"` + more + `}`
	}
	sessions := map[string][]byte{}
	for _, c := range []struct {
		about     string
		path, out []string
	}{
		{"a prompt, its id left out", []string{`{"role":"user","content":"a","id":"i"}`}, []string{`{"role":"user","content":"a"` + end}},
		{"a prompt with its own time", []string{`{"role":"user","content":"a","timestamp":5}`}, []string{`{"role":"user","content":"a","timestamp":5}`}},
		{"no content", []string{`{"role":"user"}`}, []string{`{"role":"user"` + end[:len(end)-1] + `,"content":[]}`}},
		{
			"blocks of a prompt",
			[]string{`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","data":"QQ==","mimeType":"image/png"},{"type":"image","data":"QQ==","mimeType":"application/pdf"},` +
				`{"type":"document","source":{"type":"base64","data":"` + blob + `"}},{"type":"opaque","item":"application/pdf"},{"type":"opaque"},{"type":"text"}]}`},
			[]string{`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image","data":"QQ==","mimeType":"image/png"},` +
				`{"type":"text","text":"{\"type\":\"image\",\"data\":\"QQ==\",\"mimeType\":\"application/pdf\"}"},` +
				`{"type":"text","text":"{\"type\":\"document\",\"source\":{\"type\":\"base64\",\"data\":\"[600 bytes]\"}}"},` +
				`{"type":"text","text":"[application/pdf]"},{"type":"text","text":"[not in the file]"},{"type":"text","text":"{\"type\":\"text\"}"}]` + end},
		},
		{
			"blocks of an answer",
			[]string{answer(`{"type":"thinking","thinking":"a","thinkingSignature":"s"},{"type":"opaque","item":"reasoning"},{"type":"server_tool_use","id":"w","input":{}},`+
				`{"type":"web_search_tool_result","content":[{"encrypted_content":"`+blob+`"}]},{"type":"image","data":"`+blob+`","mimeType":"image/png"}`, "")},
			[]string{sent(`{"type":"thinking","thinking":"a","thinkingSignature":"s"},{"type":"thinking","thinking":""},{"type":"text","text":"{\"type\":\"server_tool_use\",\"id\":\"w\",\"input\":{}}"},`+
				`{"type":"text","text":"{\"type\":\"web_search_tool_result\",\"content\":[{\"encrypted_content\":\"[600 bytes]\"}]}"},`+
				`{"type":"text","text":"{\"type\":\"image\",\"data\":\"[600 bytes]\",\"mimeType\":\"image/png\"}"}`, "stop")},
		},
		{"an answer that is a text", []string{`{"role":"assistant","content":"a"}`}, []string{sent(`{"type":"text","text":"a"}`, "stop")}},
		{"an answer that was broken off", []string{answer(`{"type":"text","text":"a"}`, `,"stopReason":"aborted"`)}, []string{ended(`{"type":"text","text":"a"}`, "stop")}},
		{"a failed one, with a call", []string{answer(call, `,"stopReason":"error"`)}, []string{ended(call, "toolUse")}},
		{"an answer that is too long", []string{answer(call, `,"stopReason":"length"`)}, []string{ended(call, "length")}},
		{
			"a call without id, name and arguments", []string{answer(`{"type":"toolCall","arguments":"a b"}`, "")},
			[]string{sent(`{"type":"toolCall","arguments":{"input":"a b"},"id":"call-0","name":"unknown"}`, "toolUse")},
		},
		{
			"results: one as a text, a failed one",
			[]string{answer(call+","+called, ""), result("d", `,"content":"a","isError":true`), result("c", `,"content":[]`)},
			[]string{
				sent(call+","+called, "toolUse"),
				result("d", `,"content":[{"type":"text","text":"a"}],"isError":true,"timestamp":1767225600000,"toolName":"cat"`),
				result("c", `,"content":[],"timestamp":1767225600000,"toolName":"ls","isError":false`),
			},
		},
		{
			"a result without a call, a second one, and one after the next prompt",
			[]string{result("x", `,"content":"x"`), answer(call+","+called, ""), result("c", `,"content":[],"toolName":"t","isError":false`), result("c", `,"content":"again"`), result("d", `,"content":"late"`), answer(called, ""), `{"role":"user","content":"b"}`, result("d", `,"content":"later"`)},
			[]string{
				`{"role":"custom","customType":"toolResult","content":[{"type":"text","text":"x"}],"display":true` + end,
				sent(call+","+called, "toolUse"),
				result("c", `,"content":[],"toolName":"t","isError":false,"timestamp":1767225600000`),
				`{"role":"custom","customType":"toolResult","content":[{"type":"text","text":"again"}],"display":true` + end,
				`{"role":"custom","customType":"toolResult","content":[{"type":"text","text":"late"}],"display":true` + end,
				sent(called, "toolUse"),
				`{"role":"user","content":"b"` + end,
				`{"role":"custom","customType":"toolResult","content":[{"type":"text","text":"later"}],"display":true` + end,
			},
		},
	} {
		var f, again form
		session := []byte(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n")
		for k, msg := range c.path {
			got := f.message(jsonl.Value(msg), jsonl.Value(`"2026-01-01T00:00:00.000Z"`), false)
			if string(got) != c.out[k] {
				t.Errorf("%s: message %d\n got %s\nwant %s", c.about, k, got, c.out[k])
			}
			if second := again.message(got, nil, false); string(second) != string(got) {
				t.Errorf("%s: message %d\nonce  %s\ntwice %s", c.about, k, got, second)
			}
			if wrong := corpus.NotPi([]byte(`{"message":` + string(got) + `}`)); len(wrong) > 0 {
				t.Errorf("%s: message %d: %q", c.about, k, wrong)
			}
			session = fmt.Appendf(session, `{"type":"message","id":"m%d","parentId":"m%d","timestamp":"2026-01-01T00:00:00.000Z","message":%s}`+"\n", k, k-1, got)
		}
		sessions[c.about] = bytes.Replace(session, []byte(`"m-1"`), []byte("null"), 1)
	}
	t.Run("pi", func(t *testing.T) {
		for about, r := range corpus.PiSends(t, sessions) {
			if len(r.Wrong) > 0 {
				t.Errorf("%s: %.2000q", about, r.Wrong)
			}
		}
	})
}

// TestFormCopied: an answer that a compaction keeps has cost what it cost where it was given, and
// says nothing of the size of the context after it. Its time is that of the message before it.
func TestFormCopied(t *testing.T) {
	f := form{time: 7}
	got := f.message(jsonl.Value(`{"role":"assistant","content":[],"usage":{"input":9,"totalTokens":9}}`), nil, true)
	if u := got.Get("usage").Usage(); u.Context() != 0 || got.Get("timestamp").Int() != 7 {
		t.Errorf("%s", got)
	}
}
