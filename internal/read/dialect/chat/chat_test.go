package chat_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/read/dialect/chat"
	"ctxtool/migrate"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

const samples = "../../../../testdata/dialects"

// open opens a session of text, which has to be one.
func open(t *testing.T, name, text string) *sessionfmt.Session {
	t.Helper()
	s, err := sessionfmt.OpenReader(name, strings.NewReader(text), sessionfmt.Options{Times: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// says is a context: the first letter of each message's role, its text, and ! for a failure.
func says(t *testing.T, s *sessionfmt.Session) string {
	t.Helper()
	e, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for m, err := range e.CachedMessages() {
		if err != nil {
			t.Fatal(err)
		}
		said := m.Raw.Message()
		one := m.Raw.Get("role").Text()[:1] + ":" + said.Text("|")
		for call := range said.Calls {
			one += " " + call.Name.Text() + "(" + call.ID.Text() + ")"
		}
		if said.IsError.Truthy() {
			one += "!"
		}
		all = append(all, strings.Join(strings.Fields(one), " "))
	}
	return strings.Join(all, " / ")
}

// TestSamples: agent, id and folder of each sample, and its context.
func TestSamples(t *testing.T) {
	frame := "u: === CONVERSATION HISTORY SUMMARY === (Compacted 31 messages at 2026-01-20T08:10:00) The flag is renamed. === END SUMMARY === Recent messages follow below (unmodified)... / "
	swe := frame + "u:read a.py / a:Reading. read_file(c1) run(c2) run(c3) / t:x = 1 / t:Error: no such file! / t:Error: Tool execution was interrupted or never completed.! / a:x is 1"
	for _, test := range []struct{ file, agent, id, cwd, want string }{
		{"0b8e6a52-1111-4c1d-9a3b-3f0c5d2e7a10.jsonl", "gsh", "0b8e6a52-1111-4c1d-9a3b-3f0c5d2e7a10", "/work/app", "u:why does the build fail / a:Checking. bash(t1) bash(t2) / t:make: *** [all] Error 2! / t:a.go / a:Fix it."},
		{"9c01aa7e55d2.json", "swe-cli", "9c01aa7e55d2", "/w", swe},
		{"0d01.json", "swe-cli", "0d01", "/w", swe},
		{"0d01.jsonl", "swe-cli", "0d01", "", swe},
		{"y1.jsonl", "y-agent", "y1", "", "u:list files / a: Glob(c1) / t:[] / a:none / u:There are no Go files. / u:write one"},
		{"y1.display.jsonl", "y-agent", "y1", "", "u:list files / a: Glob(c1) / t:[] / a:none / u:write one"},
		{"gemini/chats/session-2026-01-01T00-00-aabbccdd.json", "gemini", "aabbccdd-1111", "", "u:hello / a:Hi"},
		{"gemini/chats/session-2026-01-02T00-00-eeff0011.jsonl", "gemini", "eeff0011-2222", "/w", "u:summary of it / a:Got it. / u:and count them / a:1"},
	} {
		s, err := sessionfmt.Open(filepath.Join(samples, test.file), sessionfmt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		header, err := s.NewReader().Line(s.Header())
		if err != nil || s.Dialect().Agent() != test.agent || header.Get("id").Text() != test.id || header.Get("cwd").Text() != test.cwd {
			t.Errorf("%s: %s, %s, %v", test.file, s.Dialect().Agent(), header, err)
		}
		if got := says(t, s); got != test.want {
			t.Errorf("%s: %s\nwant %s", test.file, got, test.want)
		}
		made, err := migrate.Convert(s) // it compares the contexts
		if err != nil {
			t.Errorf("%s: %v", test.file, err)
			continue
		}
		made.Close()
	}
}

// TestDocumentedLines: what the formats allow besides.
func TestDocumentedLines(t *testing.T) {
	const gsh = `{"id":"a","created_at":"2025-06-15T14:20:00.120Z","last_activity":"2025-06-15T14:20:00.120Z","message_count":0,"cwd":"/w","title":null}` + "\n"
	const gemini = `{"sessionId":"a","projectHash":"h","startTime":"2026-01-02T00:00:00.000Z","kind":"main"}` + "\n"
	hi, ask, no := `{"id":"1","type":"user","content":"hi"}`+"\n", `{"id":"2","type":"gemini","content":"what?"}`+"\n", `{"id":"3","type":"user","content":"no"}`+"\n"
	set := `{"$set":{"messages":[{"id":"7","type":"user","content":"s"},{"id":"8","type":"gemini","content":"t"}]}}` + "\n"
	for _, test := range []struct{ name, text, want string }{
		{"a malformed message is left out", gsh + `{"role":"user","content":"a"}` + "\n{\n" + `{"role":"assistant","content":"b"}` + "\n", "u:a / a:b"},
		{"a role that is none", gsh + `{"role":"tool","content":"a"}` + "\n" + `{"role":"user","content":[{"type":"text","text":"b"},{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"c"}],"is_error":null}]}`, "t:c / u:b"},
		{"a list of results beside the calls", `{"role":"assistant","content":"a","timestamp":"2026-01-20 08:15:30","tool_calls":[{"id":"1","name":"t","parameters":{}}],"tool_results":[{"output":"o"}]}`, "a:a t(1) / t:o"},
		{"a result that is no text", `{"role":"assistant","content":"","timestamp":"2026-01-20T08:15:30","tool_calls":[{"id":"1","name":"t","parameters":{},"result":{"n": 1}}]}`, "a: t(1) / t:{\"n\":1}"},
		{"a message of Gemini again", gemini + hi + ask + no + `{"id":"2","type":"gemini","content":"hello"}`, "u:hi / a:hello / u:no"},
		{"a rewind", gemini + hi + ask + no + `{"$rewindTo":"2"}` + "\n" + `{"id":"4","type":"gemini","content":"yes"}`, "u:hi / a:yes"},
		{"a rewind to nothing known", gemini + hi + ask + `{"$rewindTo":"9"}` + "\n" + no, "u:no"},
		{"a checkpoint and a message of it again", gemini + hi + set + no + `{"id":"8","type":"gemini","content":"T"}`, "u:s / a:T / u:no"},
		{"a rewind into a checkpoint", gemini + hi + set + no + `{"$rewindTo":"8"}` + "\n" + ask, "u:s / a:what?"},
		{"a rewind, and one more", gemini + hi + set + `{"$rewindTo":"8"}` + "\n" + `{"$rewindTo":"7"}` + "\n" + ask, "a:what?"},
		{"commands are not sent, and contexts are", gemini + `{"id":"1","type":"user","content":"/clear"}` + "\n" + `{"id":"2","type":"user","content":[{"text":" <session_context>x"}]}` + "\n" + no, "u: <session_context>x / u:no"},
		{"results that a turn has again are sent once", gemini + `{"id":"1","type":"gemini","content":"a","toolCalls":[{"id":"n__2","name":"n","args":{},"result":"r"}]}` + "\n" + `{"id":"2","type":"user","content":[{"functionResponse":{"id":"n__2","name":"n","response":{"output":"r"}}}]}` + "\n" + no, "a:a n(n__2) / t:r / u:no"},
		{"a content with calls wins", gemini + `{"id":"1","type":"gemini","content":[{"text":"a"},{"functionCall":{"id":"1","name":"t","args":{}}}],"thoughts":[{"description":"x"}],"toolCalls":[{"id":"2","name":"u","args":{},"result":"r"}]}`, "a:a t(1) / t:r"},
		{"thoughts and calls beside", gemini + `{"id":"1","type":"gemini","content":"a","thoughts":[{"subject":"b","description":"x"}],"toolCalls":[{"id":"2","name":"u","args":{},"status":"error","result":[{"functionResponse":{"id":"2","response":{"error":"e"}}}]}]}`, "a:a u(2) / t:e!"},
		{"an empty message of SWE-CLI, and a note on thinking, are not sent", swe("user", "a", "") + swe("user", " \\n", "") + swe("assistant", "", "") + swe("user", "hm", `"_thinking":true`) + swe("assistant", "b", ""), "u:a / a:b"},
		{"a summary of SWE-CLI by the model", swe("system", "# Previous Conversation Summary\\nx", "") + swe("user", "a", ""), "u:# Previous Conversation Summary x / u:a"},
		{"a summary of SWE-CLI as a message", swe("user", "[CONVERSATION SUMMARY]\\nx", "") + swe("user", "a", ""), "u:[CONVERSATION SUMMARY] x / u:a"},
		{"a summary of SWE-CLI by its metadata", swe("system", "x", `"type":"compaction_summary"`) + swe("user", "a", ""), "u:x / u:a"},
		{"a system message is the prompt", swe("system", "x", "") + swe("user", "a", ""), "u:a"},
		{"a completed task has no result", `{"role":"assistant","content":"a","timestamp":"2026-01-20 08:15:30","tool_calls":[{"id":"1","name":"task_complete","parameters":{}},{"id":"2","name":"t","parameters":{}}]}`, "a:a task_complete(1) t(2) / t:No result available. / t:Error: Tool execution was interrupted or never completed.!"},
	} {
		if got := says(t, open(t, "s.jsonl", test.text)); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// TestSettings: title and folder of a session of Gemini CLI are the last ones that were set.
func TestSettings(t *testing.T) {
	s := open(t, "s.jsonl", `{"sessionId":"a","projectHash":"h","startTime":"2026-01-02T00:00:00.000Z","kind":"main"}
{"$set":{"directories":["/old"]}}
{"id":"1","type":"user","content":"hi"}
{"$set":{"summary":"First","directories":["/w","/x"]}}
{"$set":{"lastUpdated":"2026-01-02T00:00:09.000Z","summary":"Second"}}
{"id":"2","type":"gemini","content":"Hi"}
`)
	if got := says(t, s); got != "u:hi / a:Hi" {
		t.Error(got)
	}
	r, all := s.NewReader(), ""
	for i := range s.Len() {
		line, err := r.Line(i)
		if err != nil {
			t.Fatal(err)
		}
		all += line.Get("type").Text() + " " + line.Get("cwd").Text() + line.Get("name").Text() + "\n"
	}
	if want := "session /w\nmessage \nmessage \nsession_info Second\n"; all != want {
		t.Errorf("%s\nwant %s", all, want)
	}
}

// TestEvents: the events of OpenDev have what its messages were before they were edited or taken
// back.
func TestEvents(t *testing.T) {
	text, n := "", 0
	event := func(typ, data string) {
		n++
		text += fmt.Sprintf(`{"id":"e%d","aggregate_id":"0d01","seq":%d,"event_type":%q,"data":{"type":%q%s},"timestamp":"2026-01-20T08:15:3%dZ"}`+"\n", n, n, typ, typ, data, n%10)
	}
	said := func(role, content, calls string) {
		event("MessageAdded", fmt.Sprintf(`,"role":%q,"content":%q,"timestamp":"2026-01-20T08:15:30Z","tool_calls":[%s],"tokens":null,"thinking_trace":null,"reasoning_content":null`, role, content, calls))
	}
	event("SessionCreated", `,"id":"0d01","working_directory":"/w","channel":"cli","title":null,"parent_id":"0d00","metadata":{}`)
	said("user", "read a.py", "")
	said("assistant", "Reading.", `{"id":"c1","name":"read_file","parameters":{},"result":"x = 1"}`)
	event("TitleChanged", `,"title":"Read"`)
	event("MessageEdited", `,"seq":1,"content":"I read it."`)
	event("MessageEdited", `,"seq":9,"content":"none"`)
	event("FileChangeRecorded", `,"file_change":{}`)
	said("user", "and b.py", "")
	event("SessionForked", `,"source_session_id":"0d01","fork_point":2`)
	said("user", "and c.py", "")
	s := open(t, "0d01.events.jsonl", text)
	if got, want := says(t, s), "u:read a.py / a:I read it. read_file(c1) / t:x = 1 / u:and c.py"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	r, all := s.NewReader(), ""
	for i := range s.Len() {
		line, err := r.Line(i)
		if err != nil {
			t.Fatal(err)
		}
		all += " " + s.Kind(i).String() + line.Get("cwd").Text() + line.Get("name").Text() + line.Get("targetId").Text()
	}
	if want := " session/w user assistant toolResult session_infoRead context_edite3 context_editmessage 9 user user"; all != want {
		t.Errorf("%s, want %s", all, want)
	}
	e, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		t.Fatal(err)
	}
	var sent []string
	for item, err := range e.Native() {
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, item.Get("content").Text())
	}
	if got, want := strings.Join(sent, " / "), "read a.py / I read it. / x = 1 / and c.py"; got != want {
		t.Errorf("sent %s, want %s", got, want)
	}
	made, err := migrate.Convert(s)
	if err != nil {
		t.Fatal(err)
	}
	made.Close()
}

// TestNumbers: numbers that no program means are entries that read, with findings.
func TestNumbers(t *testing.T) {
	for name, text := range map[string]string{
		"y-agent": `{"message_id":"m","role":"assistant","content":"a","timestamp":"2026-01-05T10:00:00Z","metadata":{"input_tokens":%s,"output_tokens":%[1]s,"cost_usd":%[1]s,"context_tokens_used":%[1]s}}`,
		"swe-cli": `{"role":"assistant","content":"a","timestamp":"2026-01-20T08:15:30","tool_calls":[{"id":"1","name":"t","parameters":{},"result":"r"}],"token_usage":{"prompt_tokens":%s,"input_tokens":%[1]s,"output_tokens":%[1]s}}`,
		"gemini":  `{"sessionId":"a","projectHash":"h"}` + "\n" + `{"id":"2","type":"gemini","content":"a","tokens":{"input":%s,"cached":%[1]s,"output":%[1]s,"thoughts":%[1]s}}`,
	} {
		for _, number := range []string{"1e999", "-1e999", "9223372036854775807", "1e30", "-5", `"7"`, "null", "{}"} {
			s := open(t, "s.jsonl", fmt.Sprintf(text, number))
			r := s.NewReader()
			for i := range s.Len() {
				line, err := r.Line(i)
				if _, bad := jsonl.ParseValue(line); err != nil || bad != nil {
					t.Errorf("%s, %s: %v, %v in %s", name, number, err, bad, line)
				}
				u := line.Get("message").Get("usage").Usage()
				if large := len(number) > 4 && number != "null"; large && line.Get("message").Get("usage").IsObject() && u.Implausible == "" {
					t.Errorf("%s, %s: not found in %s", name, number, line)
				}
			}
		}
	}
}

// swe is a line of SWE-CLI.
func swe(role, content, metadata string) string {
	return fmt.Sprintf(`{"role":%q,"content":"%s","timestamp":"2026-01-20 08:15:30","metadata":{%s},"tool_calls":[]}`+"\n", role, content, metadata)
}

// TestNative: what each agent sends.
func TestNative(t *testing.T) {
	for file, want := range map[string]string{
		"0b8e6a52-1111-4c1d-9a3b-3f0c5d2e7a10.jsonl": "user assistant user assistant",
		"9c01aa7e55d2.json":                          "system user assistant tool tool tool assistant",
		"y1.jsonl":                                   "user assistant tool assistant system user",
		"gemini/chats/session-2026-01-02T00-00-eeff0011.jsonl": "user model user model",
	} {
		s, err := sessionfmt.Open(filepath.Join(samples, file), sessionfmt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		e, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
		if err != nil {
			t.Fatal(err)
		}
		var roles []string
		for item, err := range e.Native() {
			if err != nil {
				t.Fatal(err)
			}
			roles = append(roles, item.Get("role").Text())
		}
		if got := strings.Join(roles, " "); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

// TestBrokenDocument: a document that ends early is read up to there.
func TestBrokenDocument(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(samples, "9c01aa7e55d2.json"))
	if err != nil {
		t.Fatal(err)
	}
	cut := string(whole[:bytes.Index(whole, []byte("x is 1"))])
	s := open(t, "s.json", cut)
	if got := says(t, s); !strings.HasSuffix(got, "never completed.!") {
		t.Errorf("%s", got)
	}
	if len(s.Findings) != 1 || s.Findings[0].Code != "broken-off" || !strings.Contains(s.Findings[0].Text, "the document is truncated") {
		t.Errorf("%v", s.Findings)
	}
	for _, text := range []string{"{\n", "{\n  \"name\": \"x\",\n  \"messages\": []\n}", "[\n]", "{\"messages\":[1]}"} {
		if _, err := sessionfmt.OpenReader("s.json", strings.NewReader(text), sessionfmt.Options{}); !errors.Is(err, sessionfmt.ErrNotSession) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestTime: T39 of docs/policies.md 6.
func TestTime(t *testing.T) {
	for in, want := range map[string]string{
		`"2026-01-20 08:15:30.000412"`:     `"2026-01-20T08:15:30.000412Z"`,
		`"2026-01-20 08:15:30+02:00"`:      `"2026-01-20T08:15:30+02:00"`,
		`"2026-01-20T08:15:30.000412Z"`:    `"2026-01-20T08:15:30.000412Z"`,
		`"2026-01-20"`:                     `"2026-01-20"`,
		`1`:                                `1`,
		``:                                 ``,
		`"2026-01-20 08:15:30.000412999Z"`: `"2026-01-20T08:15:30.000412999Z"`,
	} {
		if got := chat.Time(jsonl.Value(in)); string(got) != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
		if ms, ok := jsonl.Value(in).Millis(); ok != (len(in) > 1) || ok && ms == 0 {
			t.Errorf("%s is not a time: %d", in, ms)
		}
	}
}
