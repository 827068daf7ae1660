package compact

import (
	"bytes"
	"io"
	"testing"
	"time"

	"ctxtool/internal/corpus"
	"ctxtool/internal/must"
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
	e, err := replay.New(s, replay.Options{Leaf: s.Leaf()}).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		return nil
	}
	return &edited{s, e}
}

// with is the session after an edit, nil where that is refused or changes nothing.
func (s *edited) with(t *testing.T, edit func(d *editor) error) *edited {
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
			out := s.with(t, func(d *editor) error { return d.Omit(rec) })
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
			back := out.with(t, func(d *editor) error { return d.Restore(rec) })
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
		is := s.with(t, func(d *editor) error { return d.Replace(s.Find(id), `sh"ort`) })
		if is == nil {
			t.Errorf("%s: refused", id)
			continue
		}
		if text, _, _ := is.request(t); !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s: no %s in\n%s", id, want, text)
		}
	}
	s := opened(t, bytes.NewReader([]byte(data)))
	if s.with(t, func(d *editor) error { return d.Replace(s.Find("b"), "x") }) != nil {
		t.Error("a shell command has content that is replaced")
	}
}
