package compact

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"testing"
	"time"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

var editTime = time.UnixMilli(1_900_000_000_000)

// An edited session is one with the entries that an edit appends.
type edited struct {
	*sessionfmt.Session
	e *replay.Envelope
}

// opened is a session and its context; nil where it cannot be appended to.
func opened(t *testing.T, r io.Reader) *edited {
	t.Helper()
	s, err := sessionfmt.OpenReader("s.jsonl", r, sessionfmt.Options{})
	if err != nil || s.Leaf() < 0 || s.NewBatch(s.Leaf(), editTime).Err() != nil {
		return nil
	}
	t.Cleanup(func() { s.Close() })
	e, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		return nil
	}
	return &edited{s, e}
}

// with is the session after an edit, nil where that is refused or changes nothing.
func (s *edited) with(t *testing.T, edit func(d *Editor) error) *edited {
	t.Helper()
	b := s.NewBatch(s.Leaf(), editTime)
	d := must.Get(NewEditor(s.e, b))
	if edit(d) != nil || b.Len() == 0 {
		return nil
	}
	must.Do(b.Err())
	return opened(t, s.With(b))
}

// request is what a provider gets, and the numbers of calls without a result and of
// results without a call in it.
func (s *edited) request(t *testing.T) (text []byte, calls, results int) {
	t.Helper()
	open := map[string]bool{}
	for m, err := range s.e.ProviderMessages() {
		if err != nil {
			t.Fatal(err)
		}
		text = append(m.Raw.AppendMinified(text), '\n')
		switch m.Kind {
		case jsonl.Assistant:
			for _, id := range callsOf(m.Raw) {
				open[id] = true
			}
		case jsonl.ToolResult:
			if id := m.Raw.Get("toolCallId").Text(); open[id] {
				delete(open, id)
			} else {
				results++
			}
		}
	}
	return text, len(open), results
}

// TestLaw6: whichever message is omitted, every call keeps its result, or both are
// gone; and restoring it gives the context that there was, to the byte.
func TestLaw6(t *testing.T) {
	omitted, restored := 0, 0
	for _, c := range corpus.All(t) {
		if len(c.Data) > 64<<10 {
			continue
		}
		s := opened(t, bytes.NewReader(c.Data))
		if s == nil {
			continue
		}
		was, calls, results := s.request(t)
		for rec := range s.Len() {
			out := s.with(t, func(d *Editor) error { return d.Omit(rec) })
			if out == nil {
				continue
			}
			omitted++
			is, c2, r2 := out.request(t)
			if c2 > calls || r2 > results {
				t.Errorf("%s: omitting record %d leaves %d calls and %d results alone, %d and %d before", c.Name, rec, c2, r2, calls, results)
			}
			if bytes.Equal(is, was) && s.Kind(rec) != jsonl.Bash {
				t.Errorf("%s: omitting record %d changes nothing", c.Name, rec)
			}
			if hasEdits(s.Session) {
				continue // restoring reverts those too
			}
			back := out.with(t, func(d *Editor) error { return d.Restore(rec) })
			if back == nil {
				t.Errorf("%s: record %d cannot be restored", c.Name, rec)
				continue
			}
			if is, _, _ := back.request(t); !bytes.Equal(is, was) && !respelled(s.Session, rec) {
				t.Errorf("%s: restoring record %d gives another context", c.Name, rec)
			}
			restored++
		}
	}
	if omitted < 300 || restored < 200 {
		t.Errorf("only %d messages omitted, %d restored", omitted, restored)
	}
	t.Logf("%d messages omitted, %d restored", omitted, restored)
}

// respelled reports that no edit gives the message back as it was: content that should
// be a list of blocks is a text, or a compaction carries a message that an edit of
// it would change.
func respelled(s *sessionfmt.Session, rec int) bool {
	line := must.Get(s.NewReader().Line(rec))
	return line.Get("message").Get("content").IsString() || !line.Get("systemMessage").Get("role").Is("system") && s.Kind(rec) == jsonl.Compaction
}

func hasEdits(s *sessionfmt.Session) bool {
	for i := range s.Len() {
		if s.Kind(i) == jsonl.ContextEdit {
			return true
		}
	}
	return false
}

// TestReplace: a text replaces the content of a message, and its calls stay.
func TestReplace(t *testing.T) {
	const data = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}
{"type":"message","id":"u","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"a \"long\" question"}}
{"type":"message","id":"a","parentId":"u","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"x"},{"type":"text","text":"long"},{"type":"toolCall","id":"c","name":"ls","arguments":{"n":1.0}}],"stopReason":"toolUse"}}
{"type":"message","id":"r","parentId":"a","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"toolResult","toolCallId":"c","toolName":"ls","content":[{"type":"text","text":"long"}]}}
{"type":"message","id":"b","parentId":"r","timestamp":"2026-01-01T00:00:04.000Z","message":{"role":"bashExecution","command":"ls","output":"x"}}
`
	for id, want := range map[string]string{
		"u": `"content":"sh\"ort"`,
		"a": `"content":[{"type":"text","text":"sh\"ort"},{"type":"toolCall","id":"c","name":"ls","arguments":{"n":1}}]`,
		"r": `"content":[{"type":"text","text":"sh\"ort"}]`,
	} {
		s := opened(t, bytes.NewReader([]byte(data)))
		is := s.with(t, func(d *Editor) error { return d.Replace(s.Find(id), `sh"ort`) })
		if is == nil {
			t.Errorf("%s: refused", id)
			continue
		}
		if text, _, _ := is.request(t); !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s: no %s in\n%s", id, want, text)
		}
	}
	s := opened(t, bytes.NewReader([]byte(data)))
	if s.with(t, func(d *Editor) error { return d.Replace(s.Find("b"), "x") }) != nil {
		t.Error("a shell command has content that is replaced")
	}
	const summarized = data + `{"type":"context_edit","id":"e","parentId":"b","timestamp":"2026-01-01T00:00:05.000Z","targetId":"a","replacement":{"content":[{"type":"text","text":"summary"}]}}
{"type":"context_edit","id":"f","parentId":"e","timestamp":"2026-01-01T00:00:05.000Z","targetId":"r","replacement":null}
`
	s = opened(t, bytes.NewReader([]byte(summarized)))
	is := s.with(t, func(d *Editor) error { return d.Replace(s.Find("a"), "x") })
	if text, calls, results := is.request(t); calls+results != 0 {
		t.Errorf("an answer gets back calls that an edit had removed:\n%s", text)
	}
}

// TestRestore: messages that were replaced or omitted, short ones too, come back as they were.
func TestRestore(t *testing.T) {
	restored := 0
	for _, c := range append(corpus.All(t), corpus.Session{Name: "short", Data: shortMessages(300)}) {
		s := opened(t, bytes.NewReader(c.Data))
		if s == nil || len(c.Data) > 1<<20 || hasEdits(s.Session) {
			continue
		}
		was, _, _ := s.request(t)
		var changed []int
		out := s.with(t, func(d *Editor) error {
			for rec := range s.Len() {
				edit := func() error { return d.Replace(rec, "x") }
				if rec%5 == 0 {
					edit = func() error { return d.Omit(rec) }
				}
				if edit() == nil && !respelled(s.Session, rec) {
					changed = append(changed, rec)
				}
			}
			return nil
		})
		if out == nil {
			continue
		}
		back := out.with(t, func(d *Editor) error {
			for rec := range s.Len() {
				d.Restore(rec) // others are refused
			}
			return nil
		})
		if back == nil {
			t.Errorf("%s: %d messages cannot be restored", c.Name, len(changed))
			continue
		}
		is, _, _ := back.request(t)
		if !bytes.Equal(textBlocks(is), textBlocks(was)) {
			t.Errorf("%s: restored it is another context", c.Name)
		}
		restored += len(changed)
	}
	if restored < corpus.Least(t, corpus.Pick(1400, 2000), 600) {
		t.Errorf("only %d messages restored", restored)
	}
	t.Logf("%d messages restored", restored)
}

// shortMessages returns a session of n prompts and answers of a few bytes.
func shortMessages(n int) []byte {
	data := []byte(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n")
	parent := "null"
	for k := range n {
		message := `{"role":"user","content":"hi"}`
		if k%2 > 0 {
			message = `{"role":"assistant","content":[{"type":"text","text":"ok"}],"stopReason":"stop"}`
		}
		data = fmt.Appendf(data, `{"type":"message","id":"m%d","parentId":%s,"timestamp":"2026-01-01T00:00:01.000Z","message":%s}`+"\n", k, parent, message)
		parent = fmt.Sprintf(`"m%d"`, k)
	}
	return data
}

// textBlocks writes contents that are texts as pi has them after an edit.
func textBlocks(messages []byte) []byte {
	return regexp.MustCompile(`"content":("(?:[^"\\]|\\.)*")`).ReplaceAll(messages, []byte(`"content":[{"type":"text","text":$1}]`))
}

// TestPromise: entries that make another context than was intended are refused, if only in a word.
func TestPromise(t *testing.T) {
	for _, edit := range []func(d *Editor) error{
		func(d *Editor) error { return d.Replace(2, "replaced") },
		func(d *Editor) error { return d.Restore(1) },
	} {
		first := opened(t, bytes.NewReader(shortMessages(4)))
		s := first.with(t, func(d *Editor) error {
			must.Do(d.Replace(1, "once"))
			return d.Replace(2, "once")
		})
		b := s.NewBatch(s.Leaf(), editTime)
		d := must.Get(NewEditor(s.e, b))
		must.Do(edit(d))
		for from, to := range map[string]string{"": "", "replaced": "replacet", `"hi"`: `":{"`, `"targetId":"m0"`: `"targetId":"m2"`, `"targetId":"m1"`: `"targetId":"m3"`} {
			data := must.Get(io.ReadAll(s.With(b)))
			wrong := data
			if from != "" {
				wrong = append(data[:s.Size():s.Size()], bytes.ReplaceAll(data[s.Size():], []byte(from), []byte(to))...)
			}
			err := d.Promise(must.Get(sessionfmt.OpenReader("s.jsonl", bytes.NewReader(wrong), sessionfmt.Options{})))
			if kept := err == nil; kept != bytes.Equal(wrong, data) {
				t.Errorf("%q as %q: %v", from, to, err)
			}
		}
	}
}
