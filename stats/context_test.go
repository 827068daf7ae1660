package stats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// chain makes a session of entries, each the child of the one before it: an id, then
// the members of the entry, without braces.
func chain(entries ...string) []byte {
	var b strings.Builder
	b.WriteString(`{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n")
	parent := "null"
	for _, e := range entries {
		id, members, _ := strings.Cut(e, " ")
		fmt.Fprintf(&b, `{"id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:01.000Z",%s}`+"\n", id, parent, members)
		parent = `"` + id + `"`
	}
	return []byte(b.String())
}

// message is a message entry of an id and members of its message.
func message(id, members string) string {
	return id + ` "type":"message","message":{` + members + `}`
}

// look looks at a session.
func look(t testing.TB, data []byte, opt Options) *Report {
	t.Helper()
	name := filepath.Join(t.TempDir(), "s.jsonl")
	must.Do(os.WriteFile(name, data, 0o600))
	return must.Get(opt.Read(name))
}

func lookAt(t testing.TB, data []byte, opt Options) *ContextPart {
	t.Helper()
	opt.Lenses = []*Lens{&contextLens}
	return look(t, data, opt).Context
}

func asJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// TestCategoriesAddUp: whatever the session and the counter, the categories are
// together what the context counts for.
func TestCategoriesAddUp(t *testing.T) {
	seen := 0
	file := filepath.Join(t.TempDir(), "s.jsonl")
	for _, s := range corpus.Sample(t) {
		e := leafOf(t, s)
		if e == nil {
			continue
		}
		must.Do(os.WriteFile(file, s.Data, 0o600))
		for _, name := range tokens.Names() {
			c := must.Get(tokens.Find(name))
			want, err := e.Count(c)
			if err != nil {
				t.Fatalf("%s: %v", s.Name, err)
			}
			seen++
			opt := Options{Lenses: []*Lens{&contextLens}, Counter: c, Replay: replay.Options{Lenient: true}}
			r := must.Get(opt.Read(file))
			p, sum, messages := r.Context, 0, e.Cached()+e.Uncached()
			for _, c := range p.Categories {
				if c.Category != inRest && c.Category != inEphemeral {
					sum += c.Tokens
				}
			}
			if got := p.Sessions[0]; sum != want.Total || got.Counted != want.Total || got.Messages != messages {
				t.Errorf("%s by %s: categories have %d tokens, the session %d and %d messages, want %d and %d",
					s.Name, name, sum, got.Counted, got.Messages, want.Total, messages)
			}
			if got, size := p.Sessions[0], must.Get(e.Size()); got.Tokens != size.Tokens || sum+p.category(inRest, "").Tokens != size.Tokens {
				t.Errorf("%s by %s: %d tokens of %s, the size is %s", s.Name, name, sum, asJSON(got), size)
			}
		}
	}
	if seen < 200 {
		t.Errorf("only %d contexts counted", seen)
	}
}

// leafOf is a session's next request, nil where there is none.
func leafOf(t *testing.T, s corpus.Session) *replay.Envelope {
	t.Helper()
	session, err := sessionfmt.OpenReader(s.Name, bytes.NewReader(s.Data), sessionfmt.Options{})
	if err != nil {
		return nil
	}
	t.Cleanup(func() { session.Close() })
	e, _, err := replay.New(session, replay.Options{Lenient: true}).Reach(sessionfmt.After(session.Leaf()))
	if err != nil {
		t.Fatalf("%s: %v", s.Name, err)
	}
	return e
}

// TestContextCategories: what each entry is counted as.
func TestContextCategories(t *testing.T) {
	const text = `"content":[{"type":"text","text":"12345678"}]`
	const skill = `<skill name=\"maps\" location=\"/s\">12345678</skill>` // 49 characters
	for _, test := range []struct {
		name    string
		entries []string
		want    string // category, name, tokens, messages
	}{
		{"prompt", []string{message("a", `"role":"system","content":"12345678","sections":{"rules":"1234","skills":"12345678"},"toolsAdded":[{"name":"bash","description":"","parameters":{}}]`)},
			"system content 2 0, system rules 1 0, skills  2 0, tools bash 2 0"},
		{"user", []string{message("a", `"role":"user",`+text)}, "user  2 1"},
		{"user as a string", []string{message("a", `"role":"user","content":"12345678"`)}, "user  2 1"},
		{"skill", []string{message("a", `"role":"user","content":[{"type":"text","text":"`+skill+`\n\n1234567"}]`)},
			"skills maps 13 1, user  2 1"},
		{"a skill that never ends", []string{message("a", `"role":"user","content":"<skill name=\"maps\">12345678"`)}, "user  7 1"},
		{"image", []string{message("a", `"role":"user","content":[{"type":"image","data":"AAAA","mimeType":"image/png"}]`)}, "images  1200 1"},
		{"answer", []string{message("a", `"role":"assistant","content":[{"type":"thinking","thinking":"1234"},{"type":"text","text":"1234"},{"type":"toolCall","id":"c","name":"bash","arguments":{}}]`)},
			"assistant  1 1, thinking  1 1, calls  2 1"},
		{"result", []string{message("a", `"role":"toolResult","toolCallId":"c","toolName":"bash",`+text)}, "results bash 2 1"},
		{"image in a result", []string{message("a", `"role":"toolResult","toolCallId":"c","toolName":"bash","content":[{"type":"text","text":"1234"},{"type":"image","data":"AAAA"}]`)},
			"results bash 1 1, images  1200 1"},
		{"compaction", []string{`a "type":"compaction","summary":"1234","firstKeptEntryId":"a","tokensBefore":1`}, "summaries compaction 28 1"},
		{"branch", []string{`a "type":"branch_summary","summary":"1234","fromId":"x"`}, "summaries branch 26 1"},
		{"shell", []string{message("a", `"role":"bashExecution","command":"ls","output":"","exitCode":0`)}, "shell  5 1"},
		{"custom", []string{`a "type":"custom_message","customType":"x","display":true,"content":"12345678"`}, "custom  2 1"},
		{"custom of a message entry", []string{message("a", `"role":"custom","customType":"x","display":true,"content":"12345678"`)}, "custom  2 1"},
		{"unseen", []string{`a "type":"custom_message","customType":"x","display":false,"content":"12345678"`}, "unseen  2 1"},
		{"ephemeral", []string{message("u", `"role":"user","content":"1234"`), `a "type":"ephemeral","messages":[{"role":"user","content":"12345678"}]`},
			"user  1 1, ephemeral  2 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			bytes, p := int64(0), lookAt(t, chain(test.entries...), Options{})
			for _, c := range p.Categories {
				if c.Category != inRest {
					got = append(got, fmt.Sprintf("%s %s %d %d", c.Category, c.Name, c.Tokens, c.Messages))
				}
				if c.Category != inEphemeral {
					bytes += c.Bytes
				}
			}
			if got := strings.Join(got, ", "); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
			if bytes == 0 || bytes != p.Sessions[0].Bytes {
				t.Errorf("%d bytes of %d", bytes, p.Sessions[0].Bytes)
			}
		})
	}
}

// answered is an answer that a provider has taken so many tokens for.
func answered(id string, input int) string {
	return message(id, fmt.Sprintf(`"role":"assistant","provider":"p","model":"m","stopReason":"stop","content":[{"type":"text","text":"1234"}],"usage":{"input":%d,"output":1,"totalTokens":%d}`, input, input+1))
}

// TestContextRest: what the provider recorded beyond what is counted is a row of its own, and all
// rows add up to the size of the context.
func TestContextRest(t *testing.T) {
	opt := Options{Replay: replay.Options{Window: 1000}}
	p := lookAt(t, chain(message("u", `"role":"user","content":"12345678"`), answered("a", 100), message("v", `"role":"user","content":"1234"`)), opt)
	c := p.Sessions[0]
	if c.Tokens != 102 || c.Counted != 4 || *c.Share != 0.102 || p.category(inRest, "").Tokens != 102-4 {
		t.Errorf("%s", asJSON(p))
	}
	p = lookAt(t, chain(), Options{})
	if got := p.Categories; len(got) != 1 || got[0] != (ContextCategory{Category: inRest}) {
		t.Errorf("an empty session has %s", asJSON(got))
	}
}

// reads is an answer that reads a file, and the result.
func reads(id, tool, path, text string, failed bool) []string {
	return []string{
		message("c"+id, fmt.Sprintf(`"role":"assistant","content":[{"type":"toolCall","id":"t%s","name":%q,"arguments":{"path":%q}}]`, id, tool, path)),
		message("r"+id, fmt.Sprintf(`"role":"toolResult","toolCallId":"t%s","toolName":%q,"isError":%v,"content":[{"type":"text","text":%q}]`, id, tool, failed, text)),
	}
}

// TestContextRereads: reads of one file however its path is written, failed ones aside.
func TestContextRereads(t *testing.T) {
	data := chain(slices.Concat(
		reads("1", "read", "a.go", "1234567890123456", false),
		reads("2", "read", "/w/a.go", "12345678", false),
		reads("3", "read", "./a.go:10-20", "1234", false),
		reads("4", "read", "a.go", "no such file", true),
		reads("5", "read", "b.go", "1234", false),
		reads("6", "write", "b.go", "1234", false),
	)...)
	p := lookAt(t, data, Options{})
	got := p.Rereads
	want := Rereads{1, 6, []Reread{{Path: "a.go", Times: 3, Tokens: 6, Entry: "r3"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
	var r Report
	r.Context = p
	sheets := contextSheets(&r)
	if s := sheets[len(sheets)-1]; s.Title != "read more than once" || len(slices.Collect(s.Rows)) != 1 || len(s.Notes) != 0 {
		t.Errorf("sheet %+v", s)
	}
}

// TestContextLargest: the largest messages, the first of equals first, at most ten.
func TestContextLargest(t *testing.T) {
	var entries []string
	for i := range 12 {
		entries = append(entries, message(fmt.Sprintf("u%d", i), `"role":"user","content":"1234"`))
	}
	entries = append(entries, reads("9", "bash", "x", "12345678", false)...)
	p := lookAt(t, chain(entries...), Options{})
	if len(p.Largest) != most {
		t.Fatalf("%d entries", len(p.Largest))
	}
	if got := p.Largest[1]; got.Entry != "r9" || got.Kind != "toolResult" || got.Tool != "bash" || got.Tokens != 2 || got.Line != 15 || got.Bytes == 0 {
		t.Errorf("%+v", got)
	}
	if got := p.Largest[2].Entry; got != "u0" {
		t.Errorf("the first of equals is %s", got)
	}
}

// TestContextAt: the context at a point, not at the leaf.
func TestContextAt(t *testing.T) {
	data := chain(message("u1", `"role":"user","content":"1234"`), answered("a1", 10), message("u2", `"role":"user","content":"12345678"`))
	c := lookAt(t, data, Options{At: "u1"}).Sessions[0]
	if c.Entry != "u1" || c.Line != 2 || c.Tokens != 1 || c.Request != 0 {
		t.Errorf("%s", asJSON(c))
	}
}

// TestContextSum: sessions add up, and each keeps its own window.
func TestContextSum(t *testing.T) {
	opt := Options{Lenses: []*Lens{&contextLens, &bytesLens}, Replay: replay.Options{Window: 100}}
	var sum Report
	for i, text := range []string{"1234", "12345678"} {
		r := look(t, chain(message("u", `"role":"user","content":"`+text+`"`)), opt)
		r.File = fmt.Sprintf("%d.jsonl", i)
		opt.Add(&sum, r)
		if i == 0 && (sum.Context.Categories[0].Share == nil || *sum.Context.Categories[0].Share != 0.01) {
			t.Errorf("of one session: %s", asJSON(sum.Context))
		}
	}
	p := sum.Context
	if len(p.Sessions) != 2 || p.Sessions[1].File != "1.jsonl" || *p.Sessions[1].Share != 0.02 {
		t.Errorf("sessions %s", asJSON(p.Sessions))
	}
	if got := p.Categories[0]; got.Category != inUser || got.Tokens != 3 || got.Messages != 2 || got.Share != nil {
		t.Errorf("%s", asJSON(got))
	}
	if got := p.Largest[0]; got.File != "1.jsonl" || got.Tokens != 2 {
		t.Errorf("%s", asJSON(got))
	}
	if got := sum.Bytes; len(got.Sessions) != 2 || len(got.Lines) != 4 || got.Lines[0].File == "" {
		t.Errorf("%s", asJSON(got))
	}
}
