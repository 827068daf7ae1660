package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ctxtool/internal/test/gen/tables"
	"ctxtool/internal/test/must"
)

// TestMatch: a request is found by the id of its answer, else by its calls, else by its text, else by its place, and in
// the session that asked where several have it.
func TestMatch(t *testing.T) {
	const first = "msg_000000000000000000000001"
	answers := func() []*answer {
		return []*answer{
			{file: "/fork", rec: 1, ids: []string{first}},
			{file: "/one", rec: 1, ids: []string{first}},
			{file: "/one", rec: 2, calls: []string{"call_1", "call_2"}, text: "Done."},
			{file: "/one", rec: 3, text: "Done."},
			{file: "/one", rec: 4, text: "Done. \n"},
			{file: "/one", rec: 5},
			{file: "/two", rec: 1, text: "Done."},
			{file: "/two", rec: 2, summary: true},
			{file: "/two", rec: 3},
		}
	}
	asked := func(id, session string, calls, said []string) *Request {
		return &Request{Answer: id, ID: session, Calls: calls, Said: said, Ended: "completed"}
	}
	done := []string{"Done."}
	for _, one := range []struct {
		about string
		asked []*Request
		want  string
	}{
		{"by id", []*Request{asked(first, "", nil, nil), asked(first, "one", nil, nil)}, "/fork 1, /one 1"},
		{"by calls", []*Request{asked("x", "two", []string{"call_1", "call_2"}, done)}, "/one 2"},
		{"calls that no session has", []*Request{asked("x", "one", []string{"call_9"}, done)}, "none"},
		{"by text, each once", []*Request{asked("x", "", []string{"call_1"}, done), asked("x", "one", nil, done),
			asked("x", "one", nil, done), asked("x", "two", nil, done), asked("x", "", nil, done)},
			"/one 2, /one 3, /one 4, /two 1, none"},
		{"by place", []*Request{asked("x", "two", nil, nil), asked("x", "one", nil, nil)}, "/two 3, /one 5"},
		{"no session", []*Request{asked("x", "", nil, nil)}, "none"},
		{"no answer", []*Request{asked("", "one", nil, done)}, "none"},
	} {
		all := answers()
		var got []string
		for _, q := range one.asked {
			found := "none"
			if a := match(q, all); a != nil {
				found = fmt.Sprint(a.file, " ", a.rec)
			}
			got = append(got, found)
		}
		if got := strings.Join(got, ", "); got != one.want {
			t.Errorf("%s: %s, want %s", one.about, got, one.want)
		}
	}
}

// rows are a session of opencode, whose prompt is longer than what a skeleton keeps.
const rows = `{"table":"session","id":"ses_one","directory":"/w","title":"T","version":"1.18.33","time_created":1000,"time_updated":2000}
{"table":"message","id":"msg_1","session_id":"ses_one","time_created":1000,"data":{"role":"user","time":{"created":1000}}}
{"table":"part","id":"prt_1","message_id":"msg_1","session_id":"ses_one","data":{"type":"text","text":"PROMPT"}}
{"table":"message","id":"msg_2","session_id":"ses_one","time_created":2000,"data":{"role":"assistant","cost":0,"tokens":{"input":0,"output":1,"reasoning":0,"cache":{"read":0,"write":0}},"modelID":"m","providerID":"stub","time":{"created":2000,"completed":2900},"finish":"stop"}}
{"table":"part","id":"prt_0","message_id":"msg_2","session_id":"ses_one","data":{"type":"step-start"}}
{"table":"part","id":"prt_2","message_id":"msg_2","session_id":"ses_one","data":{"type":"text","text":"Said."}}
`

// TestDatabase: what an agent keeps in a database, and in its log alone, is recorded, found as ctxtool ls finds it,
// and the same in the skeleton, which has none of the texts.
func TestDatabase(t *testing.T) {
	prompt := strings.Repeat("A prompt of the program, which is not ours. ", 3)
	store := ".local/share/opencode"
	from, dir := t.TempDir(), t.TempDir()
	to := filepath.Join(dir, homeDir, store)
	must.Do(os.MkdirAll(to, 0o755))
	name := filepath.Join(from, "opencode.db")
	end := must.Get(tables.Database(name, []byte(strings.Replace(rows, "PROMPT", prompt, 1)), true))
	must.Do(copyFile(name, filepath.Join(to, "opencode.db")))
	must.Do(end())
	body := object{"messages": []any{object{"role": "system", "content": "System."}, object{"role": "user", "content": prompt}}}
	var b bytes.Buffer
	must.Do(encode(&b, &Request{N: 1, Step: 1, Interface: chatForm, Answer: "chatcmpl-1", Said: []string{"Said."},
		Ended: "completed", Body: must.Get(json.Marshal(body))}))
	must.Do(os.WriteFile(filepath.Join(dir, requestsFile), b.Bytes(), 0o644))
	skeleton := filepath.Join(t.TempDir(), "skeleton")
	of := &Agent{Name: "opencode", Native: chatForm}
	must.Do(Skeleton(of, dir, skeleton, Script{}))
	for _, dir := range []string{dir, skeleton} {
		all, lost := Compare(of, dir, "")
		if len(all) != 1 || len(lost) > 0 || !all[0].Equal[Messages] {
			t.Fatalf("%s: %+v, lost %d", dir, all, len(lost))
		}
	}
	kept := must.Get(os.ReadFile(filepath.Join(skeleton, homeDir, store, "ses_one.jsonl")))
	sent := must.Get(os.ReadFile(filepath.Join(skeleton, requestsFile)))
	if bytes.Contains(append(kept, sent...), []byte("not ours")) {
		t.Errorf("the skeleton has texts of the program:\n%s\n%s", kept, sent)
	}
}

// TestForms: a conversation in the form of each interface is the same in that of the Messages API.
func TestForms(t *testing.T) {
	decoded := func(text string) (o object) { must.Do(json.Unmarshal([]byte(text), &o)); return o }
	const picture = `data:image/png;base64,AAAA`
	bodies := map[string]string{
		messagesForm: `{"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],"messages":[
			{"role":"user","content":[{"type":"text","text":"Look."},
				{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]},
			{"role":"assistant","content":[{"type":"text","text":"I look."},
				{"type":"tool_use","id":"look","name":"look","input":{"at":"x"}}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"look","content":"seen"}]}]}`,
		chatForm: `{"messages":[{"role":"system","content":"S"},
			{"role":"user","content":[{"type":"text","text":"Look."},{"type":"image_url","image_url":{"url":"` + picture + `"}}]},
			{"role":"assistant","content":"I look.","tool_calls":[{"id":"look","type":"function",
				"function":{"name":"look","arguments":"{\"at\":\"x\"}"}}]},
			{"role":"tool","tool_call_id":"look","content":"seen"}]}`,
		responsesForm: `{"instructions":"S","input":[
			{"type":"message","role":"user","content":[{"type":"input_text","text":"Look."},
				{"type":"input_image","image_url":"` + picture + `"}]},
			{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look."}]},
			{"type":"function_call","call_id":"look","name":"look","arguments":"{\"at\":\"x\"}"},
			{"type":"function_call_output","call_id":"look","output":"seen"}]}`,
		geminiForm: `{"systemInstruction":{"parts":[{"text":"S"}]},"contents":[
			{"role":"user","parts":[{"text":"Look."},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},
			{"role":"model","parts":[{"text":"I look."},{"functionCall":{"name":"look","args":{"at":"x"}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"look","response":"seen"}}]}]}`,
	}
	want := asMessages(messagesForm, decoded(bodies[messagesForm]))
	for name, body := range bodies {
		if got := asMessages(name, decoded(body)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s\nwant %s", name, encoded(got), encoded(want))
		}
		if system := forms[name].part(decoded(body), System); !reflect.DeepEqual(system, []string{"S"}) {
			t.Errorf("%s: the system prompt is %v", name, system)
		}
	}
}
