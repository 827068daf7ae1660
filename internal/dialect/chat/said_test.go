package chat_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// The first lines of sessions, and lines that are odd in each of them.
var oddLines = map[string][]string{
	`{"id":"s1","created_at":"x","last_activity":"y","cwd":"/p"}`: { // gsh
		`{"role":"user","content":"a\"\u00e9\ud83d\ude00ü\n"}`,
		`{"role":"user","content":[{"type":"text","text":null},{"type":"text"},{"type":"text","text":5},{"type":"image","data":"AA","mimeType":"image/png"},7,"x",{"type":"thinking","thinking":"t"}]}`,
		`{"role":"user","content":[{"type":"tool_use","id":"c","name":"n","input":{}}]}`,
		`{"role":"assistant","content":[{"type":"text","text":"ü\t"},{"type":"tool_use","id":"c1","name":"n","input":{"a":1}},{"type":"tool_use"},{"type":"thinking","thinking":"\u0041"},{"type":"toolCall","id":"c","name":"n","arguments":[]}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"\ud800","is_error":true},{"type":"tool_result","tool_use_id":"c9","content":[{"type":"text","text":"a"},{"type":"image","data":"A","mimeType":"m"}],"is_error":null},{"type":"tool_result"}]}`,
		`{"role":"assistant","content":"text \\ only"}`, `{"role":"assistant","content":null}`, `{"role":"other"}`,
	},
	`{"message_id": "m", "role": "user", "content": "ü\u00fc", "timestamp": "2026-01-01T00:00:00.000Z"}`: { // y-agent
		`{"message_id":"a","role":"assistant","content":"\tü","tool_calls":[{"id":"c1","name":"n","arguments":"{}"}],"metadata":{"reasoning_content":"\n","model":"m","input_tokens":5,"output_tokens":1,"context_tokens_used":3,"cost_usd":0.5}}`,
		`{"message_id":"b","role":"tool","content":"\"","tool_call_id":"c1"}`, `{"role":"tool","content":""}`, `{"role":"assistant","content":3,"metadata":{"model":7,"input_tokens":2}}`,
		`{"role":"system","content":"s"}`, `{"role":"system","content":"s","metadata":{"type":"note"}}`,
	},
	`{"role": "user", "content": "ü\\", "timestamp": "2026-01-20 08:15:31.000412", "tool_calls": []}`: { // OpenDev
		`{"role":"assistant","content":"\n","thinking_trace":"t\"","reasoning_content":"ü","tool_calls":[{"id":"1","name":"n","parameters":{},"result":"\u00e9"},{"id":"2","name":"n","parameters":[],"result":{"a":"\n"}},{"id":"3","name":"n","error":"no\t"},{"id":"4","error":{"e":1}},{"id":"5","name":"task_complete"},{"id":"6"}],"token_usage":{"prompt_tokens":7,"completion_tokens":1}}`,
		`{"role":"assistant","content":"x","tool_calls":[{"id":"1"},{"id":"2"}],"tool_results":[{"output":"o\n"},{"error":"e\t"}]}`,
		`{"role":"assistant","content":null,"tool_calls":[]}`, `{"role":"user","content":"[CONVERSATION SUMMARY] \n"}`,
	},
	`{"sessionId":"s1","projectHash":"h","startTime":"2026-01-01T00:00:00.000Z"}`: { // Gemini CLI
		`{"id":"a","type":"user","content":[{"text":"ü\n"},"\t",{"inlineData":{"data":"AA","mimeType":"image/png"}},{"other":"\""},{"functionResponse":{"id":"c","name":"n","response":{"output":"\n"}}}]}`,
		`{"id":"b","type":"gemini","content":"\\","thoughts":[{"subject":"s\"","description":"d\n"},{"subject":"s"},{"description":"ü"},5],"toolCalls":[{"id":"c","name":"n","args":{},"status":"error","result":[{"functionResponse":{"response":{"output":"\u00e9"}}}]},{"id":"d","name":"n","result":"r\n"},{"id":"e","result":[{"text":"\t"},{"functionResponse":{"response":{"error":"e"}}},{"functionResponse":{"response":["\n"]}}]}],"tokens":{"input":5,"cached":2,"output":1},"model":"m"}`,
		`{"id":"c","type":"gemini","content":[{"text":"t","thought":true},{"functionCall":{"id":"x","name":"n","args":3}},{"inlineData":{"mimeType":"image/png"}}],"model":null}`,
		`{"id":"d","type":"user","content":"/help"}`, `{"id":"e","type":"user","content":0}`, `{"id":"f","type":"info","content":"i"}`,
	},
}

// TestSaid: the message that a dialect hands over with an entry is what reading the entry gives,
// as are the fields that a visitor picks.
func TestSaid(t *testing.T) {
	for first, lines := range oddLines {
		if sessionfmt.Sniff(jsonl.Value(first)) == nil {
			t.Errorf("no session begins so: %s", first)
		}
		compareSaid(t, first+"\n"+strings.Join(lines, "\n"))
		head := strings.TrimSuffix(first, "}")
		switch {
		case strings.Contains(first, `"created_at"`), strings.Contains(first, `"message_id"`):
			continue // agents without documents
		case strings.Contains(first, `"role"`):
			head = `{"id":"s1","created_at":"2026-01-20 08:15:30","updated_at":"x"`
		}
		var document bytes.Buffer
		if err := json.Indent(&document, []byte(head+`,"messages":[`+strings.Join(lines, ",")+"]}"), "", "  "); err != nil {
			t.Fatal(err)
		}
		if n := compareSaid(t, document.String()); n < len(lines)-1 {
			t.Errorf("%d messages in %s", n, document.String())
		}
	}
	files, _ := filepath.Glob(samples + "/*.json*")
	more, _ := filepath.Glob(samples + "/gemini/chats/*")
	for _, name := range append(files, more...) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		compareSaid(t, string(data))
	}
}

// compareSaid returns the number of messages.
func compareSaid(t *testing.T, text string) (messages int) {
	t.Helper()
	pick := jsonl.Pick{Record: []string{"usage"}, Message: []string{"usage", "model", "toolName", "content", "responseId"}}
	visit := func(p *jsonl.Picked) {
		message := p.Line.Get("message")
		for k, name := range pick.Message {
			if want := message.Get(name); string(p.Message[k]) != string(want) {
				t.Errorf("%s is %s in %s", name, p.Message[k], p.Line)
			}
		}
		if p.Kind.IsTurn() {
			same(t, p.Line, p.Said(), p.Kind)
		}
		if want := p.Line.Get("usage"); string(p.Record[0]) != string(want) || string(p.Timestamp) != string(p.Line.Get("timestamp")) {
			t.Errorf("usage %s, timestamp %s in %s", p.Record[0], p.Timestamp, p.Line)
		}
	}
	opt := sessionfmt.Options{Workers: 1, Pick: pick, Visit: func() func(*jsonl.Picked) { return visit }}
	s, err := sessionfmt.OpenReader("s.jsonl", strings.NewReader(text), opt)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, lines := s.NewReader(), s.NewReader()
	for i := range s.Len() {
		if !s.Kind(i).IsTurn() {
			continue
		}
		var m jsonl.Message
		size, err := r.Message(i, &m)
		line, bad := lines.Line(i)
		if err != nil || bad != nil || size != len(line.Get("message")) {
			t.Fatalf("%v, %v: %d bytes of %s", err, bad, size, line)
		}
		same(t, line, &m, s.Kind(i))
		messages++
	}
	return messages
}

// same fails unless a message is that of a line.
func same(t *testing.T, line jsonl.Value, got *jsonl.Message, kind jsonl.Kind) {
	t.Helper()
	var want jsonl.Message
	want.ReadEntry(new(jsonl.Cursor).Reset(line), kind)
	a, b := *got, want
	if len(a.Blocks)+len(b.Blocks) == 0 {
		a.Blocks, b.Blocks = nil, nil
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%s:\n got %s\nwant %s", line, printed(a), printed(b))
	}
}

func printed(m jsonl.Message) string {
	var all []string
	v := reflect.ValueOf(m)
	for i := range v.NumField() {
		if text, ok := v.Field(i).Interface().(jsonl.Value); ok {
			all = append(all, v.Type().Field(i).Name+" "+string(text))
		}
	}
	for _, b := range m.Blocks {
		all = append(all, string(b.Raw)+" "+string(b.Text.Value)+" "+string(b.ID)+" "+string(b.Name)+" "+string(b.Args))
	}
	return strings.Join(all, "; ")
}
