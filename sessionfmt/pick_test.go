package sessionfmt

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/sessionfmt/dialect"
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

// TestUsages: a visitor of usages alone receives as many records as any other, and the same usages, also where lines
// are damaged or say what no agent writes.
func TestUsages(t *testing.T) {
	cline := corpus.Session{Name: "s.messages.json", Data: []byte(`{"version":1,"agent":"lead","sessionId":"s",` +
		`"origin":{},"messages":[{"id":"a","role":"user","content":"go"},{"id":"b","role":"assistant","content":[` +
		`{"type":"tool_use","id":"c","name":"x","input":{}}],"metrics":{"inputTokens":7}},{"id":"d","role":"user",` +
		`"content":[{"type":"tool_result","tool_use_id":"c","name":"x","content":"done"}]}]}`)}
	paid, left := 0, 0
	random := rand.New(rand.NewPCG(1, 2))
	for _, s := range append(append(corpus.Agents(t), cline), corpus.Foreign(t)...) {
		p, l := sameUsages(t, s.Name, s.Data)
		paid, left = paid+p, left+l
		if len(s.Data) > 16<<10 && !corpus.Whole() {
			continue
		}
		for range corpus.Pick(8, 500) {
			sameUsages(t, s.Name, mutated(s.Data, random))
		}
	}
	if paid < 20 || left <= paid {
		t.Errorf("%d usages, %d records without a line", paid, left)
	}
}

// FuzzUsages is TestUsages for any file.
func FuzzUsages(f *testing.F) {
	for _, s := range corpus.Small(f) {
		f.Add(s.Name, s.Data)
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) { sameUsages(t, name, data) })
}

// sameUsages compares both readings of a session, and returns how many usages it has, and how many records that come
// without a line.
func sameUsages(t *testing.T, name string, data []byte) (paid, left int) {
	t.Helper()
	pick := jsonl.Pick{Record: []string{"usage", dialect.SharedID}, Message: []string{"usage", "model", "toolName",
		"responseId"}}
	var all [2][]string
	for k := range all {
		opened, err := OpenReader(name, bytes.NewReader(data), Options{
			Ordered: true, Usages: k == 1, Pick: pick,
			Visit: func() func(*jsonl.Picked) {
				return func(p *jsonl.Picked) {
					one := p.Kind.Type()
					if p.Kind == jsonl.Assistant || p.Record[0].Exists() || p.Message[0].Exists() {
						used, message, shared := p.Message[0].Usage(), p.Message, p.Record[1]
						if c := p.Call; c != nil {
							used, message, shared = c.Usage, []jsonl.Value{nil, c.Model, nil, c.ResponseID}, c.Shared
						}
						one += fmt.Sprintf(" %s %s %s %v %s", p.ID, p.Timestamp, shared, used, message[1:])
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
		} else {
			all[k] = append(all[k], err.Error())
		}
	}
	for i := range max(len(all[0]), len(all[1])) {
		if i >= len(all[0]) || i >= len(all[1]) || all[0][i] != all[1][i] {
			t.Errorf("%s: record %d of %d and %d:\n%q\n%q\n%q", name, i, len(all[1]), len(all[0]), all[1][i:min(i+1,
				len(all[1]))], all[0][i:min(i+1, len(all[0]))], data[:min(len(data), 4<<10)])
			break
		}
	}
	return paid, left
}

// mutated returns a session with a few changes of its lines and of values in them.
func mutated(data []byte, random *rand.Rand) []byte {
	lines := bytes.Split(data, []byte("\n"))
	values := []string{"null", "-1", "1e99", "1.5", "0", `"x"`, "{}", "[]", "true", `""`, "9007199254740993", "\xff",
		`"\u00e9"`, `"a","model":"b"`, `{"usage":{"input_tokens":3}}`}
	for range 1 + random.IntN(4) {
		k := random.IntN(len(lines))
		line := lines[k]
		switch random.IntN(6) {
		case 0:
			lines = slices.Insert(lines, k, line)
		case 1:
			if len(lines) > 2 && k > 0 {
				lines = slices.Delete(lines, k, k+1)
			}
		case 2:
			other := random.IntN(len(lines))
			lines[k], lines[other] = lines[other], line
		default: // another value of a field
			colons := colon.FindAllIndex(line, -1)
			if len(colons) == 0 {
				continue
			}
			at := colons[random.IntN(len(colons))][1]
			n, ok := jsonl.ValueLen(line[at:])
			if !ok {
				continue
			}
			lines[k] = slices.Concat(line[:at], []byte(values[random.IntN(len(values))]), line[at+n:])
		}
	}
	return bytes.Join(lines, []byte("\n"))
}

var colon = regexp.MustCompile(`":\s*`)
