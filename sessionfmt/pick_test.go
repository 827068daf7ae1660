package sessionfmt

import (
	"bytes"
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
