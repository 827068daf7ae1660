package compact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A testMessage is a message of a session that a test makes up.
type testMessage map[string]any

func user(text string) testMessage { return testMessage{"role": "user", "content": text} }

// answer is an answer that says something, unless that is empty, and makes calls.
func answer(text string, calls ...testMessage) testMessage {
	content := []any{}
	if text != "" {
		content = append(content, testMessage{"type": "text", "text": text})
	}
	for _, c := range calls {
		content = append(content, c)
	}
	return testMessage{"role": "assistant", "content": content, "stopReason": "stop"}
}

// call is a tool call, its arguments as JSON.
func call(id, name, args string) testMessage {
	return testMessage{"type": "toolCall", "id": id, "name": name, "arguments": json.RawMessage(args)}
}

func thinking(text string) testMessage { return testMessage{"type": "thinking", "thinking": text} }

func image() testMessage {
	return testMessage{"type": "image", "data": "AAAA", "mimeType": "image/png"}
}

// result is the result of a call, with nothing said of errors.
func result(id, text string) testMessage {
	return testMessage{"role": "toolResult", "toolCallId": id, "toolName": "tool", "content": []any{testMessage{"type": "text", "text": text}}}
}

// failed returns a result with isError.
func failed(id, text string, is bool) testMessage {
	r := result(id, text)
	r["isError"] = is
	return r
}

// summarised is the stored message of an earlier compaction.
func summarised(text string) testMessage {
	return testMessage{"role": "compactionSummary", "summary": text, "tokensBefore": 1}
}

// lines are a session file of those messages, entries given as they are.
func lines(all ...testMessage) []byte {
	var b bytes.Buffer
	b.WriteString(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n")
	parent := any(nil)
	for i, m := range all {
		id := fmt.Sprintf("m%07d", i)
		entry := testMessage{"type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:01.000Z", "message": m}
		if m["type"] != nil {
			entry = testMessage{"id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:01.000Z"}
			for k, v := range m {
				entry[k] = v
			}
		}
		line, err := json.Marshal(entry)
		if err != nil {
			panic(err)
		}
		b.Write(append(line, '\n'))
		parent = entry["id"]
	}
	return b.Bytes()
}

// viewed is the view of a session's context; nil where the session has none.
func viewed(t testing.TB, data []byte, opt replay.Options) *View {
	t.Helper()
	s, err := sessionfmt.OpenReader("s.jsonl", bytes.NewReader(data), sessionfmt.Options{})
	if err != nil || s.Leaf() < 0 {
		return nil
	}
	t.Cleanup(func() { s.Close() })
	opt.Leaf = s.Leaf()
	e, err := replay.New(s, opt).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		return nil
	}
	v, err := NewView(e, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// of is the view of messages.
func of(t testing.TB, all ...testMessage) *View {
	t.Helper()
	v := viewed(t, lines(all...), replay.Options{})
	if v == nil {
		t.Fatal("no context")
	}
	return v
}

// apply runs a pass that has to work.
func apply(t testing.TB, p *Pass, v *View, o Options) *Work {
	t.Helper()
	r, err := p.apply(v, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// shape is what is left of a view, a letter a message: user, answer, Answer with calls,
// tool result, summary.
func shape(v *View) string {
	var b strings.Builder
	for _, i := range v.live() {
		switch m := &v.Messages[i]; {
		case m.isSummary():
			b.WriteByte('S')
		case m.isResult():
			b.WriteByte('t')
		case m.isUser():
			b.WriteByte('u')
		case m.makesCalls():
			b.WriteByte('A')
		default:
			b.WriteByte('a')
		}
	}
	return b.String()
}

// saidIn is what the messages that are left say.
func saidIn(t testing.TB, v *View) (all []string) {
	t.Helper()
	for _, i := range v.live() {
		all = append(all, v.said(i))
	}
	return all
}

// words is a tokenizer of a kind.
var words = tokens.Counter{Name: "words", Measure: tokens.Tokens, Text: func(text []byte) int { return len(bytes.Fields(text)) }, ByText: true}

// TestViewCounts: a view counts each session as replay does, by every counter.
func TestViewCounts(t *testing.T) {
	seen := 0
	for _, s := range corpus.All(t) {
		v := viewOf(t, s, replay.Options{})
		if v == nil {
			continue
		}
		withWords, err := NewView(v.Envelope, &words)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []*tokens.Counter{&tokens.Pi, &tokens.GSH, &tokens.YBytes, &tokens.YScalars, &tokens.SWE, &words} {
			want, err := v.Envelope.Count(c)
			if err != nil {
				t.Fatal(err)
			}
			of := v
			if c == &words {
				of = withWords
			}
			if got := of.tokens(c); got != want.Messages {
				t.Errorf("%s: %s: %d, replay has %d", s.Name, c.Name, got, want.Messages)
			}
		}
		seen++
	}
	if seen < 50 {
		t.Errorf("only %d sessions", seen)
	}
}

// TestViewTexts: what a view has measured is what it reads.
func TestViewTexts(t *testing.T) {
	blocks := 0
	for _, s := range corpus.All(t) {
		v := viewOf(t, s, replay.Options{})
		if v == nil {
			continue
		}
		for i := range v.Messages {
			for k := range v.Messages[i].Blocks {
				b := &v.Messages[i].Blocks[k]
				text := v.Text(i, k)
				got := v.length(text)
				if b.Kind == jsonl.CallBlock {
					args := jsonl.Value(text).AppendMinified(nil)
					got = v.length(string(args))
					got.Tokens = tokens.SWE.Text(tokens.SWE.Call(b.tool(), args))
				}
				if got != b.length {
					t.Errorf("%s: message %d, block %d: measured %+v, reads %+v", s.Name, i, k, b.length, got)
				}
				blocks++
			}
		}
	}
	if blocks < 1000 {
		t.Errorf("only %d blocks", blocks)
	}
}

// TestSizes: three units, whatever a text is spelled like.
func TestSizes(t *testing.T) {
	var c jsonl.Cursor
	for _, quoted := range []string{
		`""`, `"plain"`, `"a\nb\"c\\u00e9"`, `"\u0041\u00e9\u4f60\ud83d\ude00"`, `"你好😀é"`, `"\ud83d x"`, `"x\ude00"`, `"\ud83d\ud83d\ude00"`,
		`"` + strings.Repeat("é😀", 50) + `\u00e9\t"`,
	} {
		text := jsonl.Value(quoted).Text()
		want := jsonl.Sizes{Bytes: len(text), Units: jsonl.Value(quoted).Units(), Scalars: len([]rune(text))}
		if got := c.Reset(jsonl.Value(quoted)).String().Sizes(); got != want {
			t.Errorf("%s: %+v, want %+v", quoted, got, want)
		}
		if !strings.Contains(quoted, `\ud`) {
			if got := jsonl.SizesOf(text); got != want {
				t.Errorf("%q: %+v, want %+v", text, got, want)
			}
		}
	}
}

// fallback is the summary that y-agent has where there is no model.
func fallback(r Request) (string, error) {
	return fmt.Sprintf("[Compacted %d messages using Summarize strategy]", len(r.Messages)), nil
}

// TestGroups: a group may begin with the first message, and a removed message is in none.
func TestGroups(t *testing.T) {
	v := of(t, answer("", call("1", "x", `{}`)), result("1", "y"), user("q"), answer("", call("2", "x", `{}`), call("3", "x", `{}`)), result("3", "y"), result("2", "y"))
	v.Messages[4].Removed = true
	all, of := v.groups()
	if want := []group{{0, []int{1}, nil}, {3, []int{5}, []string{"3"}}}; !reflect.DeepEqual(all, want) {
		t.Errorf("groups %v, want %v", all, want)
	}
	if want := []int{0, 0, -1, 1, -1, 1}; !slices.Equal(of, want) {
		t.Errorf("of messages %v, want %v", of, want)
	}
}
