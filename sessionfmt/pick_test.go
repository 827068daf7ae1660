package sessionfmt

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/sessionfmt/jsonl"
)

// TestPicked: what is picked while a line is validated is what reading the line
// afterwards finds, in all sessions that there are.
func TestPicked(t *testing.T) {
	pick := jsonl.Pick{Record: []string{"usage", "summary", "nowhere"}, Message: []string{"usage", "content"}}
	lines := 0
	odd := corpus.Session{Name: "odd", Data: []byte(`{"type":"session","version":3,"id":"s"}
{"usage":1,"type":"message","id":"a","message":{"usage":2,"role":"user","u\u0073age":3},"usage":4}
{"type":"message","id":"b","message":{"role":"user","usage":5},"message":7}
{"type":"message","id":"c","message":7}
[1]
{"type":"usage","id":"d","usage":{"x":{"usage":6}},"summary":null}
`)}
	for _, s := range append(corpus.All(t), odd) {
		check := func(p *jsonl.Picked) {
			lines++
			line := p.Line
			same := func(name string, got, want jsonl.Value) {
				if !bytes.Equal(got, want) {
					t.Errorf("%s: %s is %.80s, want %.80s in %.200s", s.Name, name, got, want, line)
				}
			}
			same("id", p.ID, line.Get("id"))
			same("parentId", p.ParentID, line.Get("parentId"))
			same("timestamp", p.Timestamp, line.Get("timestamp"))
			for k, name := range pick.Record {
				same(name, p.Record[k], line.Get(name))
			}
			for k, name := range pick.Message {
				same("message."+name, p.Message[k], line.Get("message").Get(name))
			}
		}
		opened, err := OpenReader(s.Name, bytes.NewReader(s.Data), Options{
			Workers: 1, Pick: pick,
			Visit: func() func(*jsonl.Picked) { return check },
		})
		if err == nil {
			opened.Close()
		}
	}
	if lines < 1000 {
		t.Errorf("only %d lines", lines)
	}
}

// TestUsages: a visitor of usages alone receives as many records as any other, and the same usages.
func TestUsages(t *testing.T) {
	cline := corpus.Session{Name: "s.messages.json", Data: []byte(`{"version":1,"agent":"lead","sessionId":"s",` +
		`"origin":{},"messages":[{"id":"a","role":"user","content":"go"},{"id":"b","role":"assistant","content":[` +
		`{"type":"tool_use","id":"c","name":"x","input":{}}],"metrics":{"inputTokens":7}},{"id":"d","role":"user",` +
		`"content":[{"type":"tool_result","tool_use_id":"c","name":"x","content":"done"}]}]}`)}
	pick := jsonl.Pick{Record: []string{"usage"}, Message: []string{"usage", "model", "toolName"}}
	paid, left := 0, 0
	for _, s := range append(corpus.Agents(t), cline) {
		var all [2][]string
		for k := range all {
			opened, err := OpenReader(s.Name, bytes.NewReader(s.Data), Options{
				Ordered: true, Usages: k == 1, Pick: pick,
				Visit: func() func(*jsonl.Picked) {
					return func(p *jsonl.Picked) {
						one := p.Kind.Type()
						if p.Kind == jsonl.Assistant || p.Record[0].Exists() || p.Message[0].Exists() {
							used, message := p.Message[0].Usage(), p.Message
							if p.Call != nil {
								used, message = p.Call.Usage, []jsonl.Value{nil, p.Call.Model, nil}
							}
							one += fmt.Sprintf(" %s %s %s %v %s", p.ID, p.Timestamp, p.Record, used, message[1:])
							paid += k
						}
						if k == 1 && p.Line == nil {
							left++
						}
						all[k] = append(all[k], one)
					}
				},
			})
			if err == nil {
				opened.Close()
			}
		}
		if !slices.Equal(all[0], all[1]) {
			t.Errorf("%s: %d records have other usages than %d", s.Name, len(all[1]), len(all[0]))
		}
	}
	if paid < 20 || left <= paid {
		t.Errorf("%d usages, %d records without a line", paid, left)
	}
}
