package cline

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strconv"
	"strings"

	"ctxtool/internal/base/lazy"
	"ctxtool/internal/read/dialect/chat"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// An arranger makes the entries of a session: its document, what belongs to it, and its messages.
type arranger struct {
	messages *chat.Arranger
	begun    bool
	provider string // of the last answer
	model    string
	waiting  int // calls of it that have no result
	next     rule.Set
	reads    reads
	size     int64 // of what is sent, bytes

	// The last compaction, until it takes effect; what it was made of; and the rules of that.
	compacted *dialect.Line
	of        int
	sent      []place
	rules     rule.Set
}

// A place is where a message is.
type place struct {
	at     dialect.Span
	number uint32 // of its line
}

func newArranger() dialect.Arranger { return &arranger{messages: chat.NewArranger(format)} }

// Next implements [dialect.Arranger], like End.
func (a *arranger) Next(t dialect.Tree, l *dialect.Line) {
	if !a.begun {
		a.begun = true
		a.messages.Begin(t, l)
		if prompt := *l; t.Read(l.At).Get("system_prompt").IsString() {
			prompt.ID = nil
			t.Add(rule.System, jsonl.System, &prompt)
		}
	}
	switch l.Code {
	case opening:
	case manifest:
		t.Join(0, 0, l.At)
		if info := *l; t.Read(l.At).First("metadata", "title").IsString() {
			info.ID = nil
			t.Add(rule.Aside, jsonl.SessionInfo, &info)
		}
	case compaction:
		a.compacted, a.of = l.Clone(), int(t.Read(l.At).Get("source_message_count").Int())
		a.next |= rule.Of(overwritten)
	default:
		a.message(t, l)
	}
}

func (a *arranger) End(t dialect.Tree) {
	a.compact(t)
	if a.compacted != nil {
		t.Report("rewritten", a.compacted, "this compaction is of "+strconv.Itoa(a.of)+" messages, and the "+
			"session has "+strconv.Itoa(len(a.sent))+": it is not applied")
	}
}

// message adds a message.
func (a *arranger) message(t dialect.Tree, l *dialect.Line) {
	kind := chat.KindOf(l.Code)
	if kind == jsonl.CustomEntry || !chat.IsMessage(l.Code) {
		a.messages.Next(t, l)
		return
	}
	a.compact(t)
	if kind == jsonl.ToolResult {
		a.waiting -= chat.Results(l.Code)
	} else {
		a.next |= rule.If(a.waiting > 0, unanswered)
		a.waiting = 0
	}
	if kind == jsonl.Assistant {
		calls, provider, _ := bytes.Cut(l.Group, []byte{' '})
		a.waiting, _ = strconv.Atoi(string(calls))
		if string(provider) != a.provider || string(l.Ref) != a.model {
			a.provider, a.model = string(provider), string(l.Ref)
			t.Asked(provider, l.Ref)
		}
	} else {
		a.next |= rule.If(a.reads.add(l.Group), outdated)
	}
	a.size += int64(l.At.Size)
	a.next |= rule.If(a.size > mostSent, oversized)
	l.Rules |= a.next
	a.next = 0
	if a.compacted != nil {
		a.sent, a.rules = append(a.sent, place{l.At, l.Number}), a.rules|l.Rules
	}
	a.messages.Next(t, l)
}

// compact applies the compaction if all is there that it was made of.
func (a *arranger) compact(t dialect.Tree) {
	l := a.compacted
	if l == nil || len(a.sent) != a.of {
		return
	}
	a.compacted = nil
	f := t.Read(l.At).All("source_prefix_hash", "source_last_message_key")
	hash, last := f[0].Text(), f[1].Text()
	sum, id := a.sum(t)
	if hash != "sha256:"+sum && (hash != "" || last != "id:"+id) {
		t.Report("rewritten", l, "this compaction is of other messages than the session has: it is not "+
			"applied")
		a.next |= rule.Of(unproved)
		return
	}
	l.Rules |= a.rules &^ rule.Of(overwritten)
	t.Add(rule.Compaction, jsonl.Transform, l)
	a.sent, a.size = nil, int64(l.At.Size)
}

// sum returns the digest of the messages that were sent so far, as a compaction has it, and the id of the last one. It
// reports an answer that was asked for with less than the one before it: of what took its place no file has anything.
func (a *arranger) sum(t dialect.Tree) (sum, id string) {
	h := sha256.New()
	h.Write([]byte("cline-session-compaction-source-v2\n" + strconv.Itoa(a.of) + "\n"))
	before := int64(0)
	for _, p := range a.sent {
		m := t.Read(p.at)
		f := m.All("role", "content", "agent", "sessionId", "metadata", "modelInfo", "metrics", "id")
		digest(h, f)
		id = f[7].Text()
		if input := f[6].Get("inputTokens").Int(); input > 0 {
			if input < before {
				t.Report("rewritten", &dialect.Line{ID: []byte(id), Number: p.number}, "an earlier compaction came "+
					"before this answer: its file was overwritten, and what was sent until the next one is gone")
			}
			before = input
		}
	}
	return hex.EncodeToString(h.Sum(nil)), id
}

// digest adds a message to a digest: its fields, with prompts as they are displayed.
func digest(h hash.Hash, f []jsonl.Value) {
	content := f[1]
	if f[0].Is("user") {
		content = displayed(content)
	}
	for k, name := range []string{"role", "content", "agent", "sessionId", "metadata", "modelInfo", "metrics"} {
		v := f[k]
		switch {
		case k == 1:
			v = content
		case !v.Exists():
			v = jsonl.Value("null")
		}
		between := ","
		if k == 0 {
			between = "["
		}
		h.Write(append(v.AppendMinified([]byte(between+`["`+name+`",`)), ']'))
	}
	h.Write([]byte("]\n"))
}

var notice = lazy.Regexp(`(?s)<mode_notice>.*?</mode_notice>`)

// displayed returns the content of a prompt, or of a result, as it is displayed.
func displayed(content jsonl.Value) jsonl.Value {
	show := func(text jsonl.Value) jsonl.Value {
		return jsonl.AppendQuoted(nil, trimmed(notice().ReplaceAllString(normalized(text.Spelled()).Exact(), "")))
	}
	if content.IsString() {
		return show(content)
	}
	var parts []jsonl.Value
	for p := range content.Elements {
		if f := p.All("type", "text"); f[0].Is("text") && f[1].IsString() {
			p = p.AppendEdited(nil, jsonl.Field{Name: "text", Value: show(f[1])})
		}
		parts = append(parts, p)
	}
	return dialect.List(parts...)
}

// makeHeader makes the header, of the session's document and what Cline knows of it.
func makeHeader(_ *chat.Format, s *dialect.Source) {
	e := s.Add()
	for _, line := range s.Lines[1:] {
		f := line.All("cwd", "started_at")
		e.Time = f[1]
		e.Set("cwd", f[0])
	}
	if ms, _, ok := strings.Cut(string(s.ID), "_"); ok && !e.Time.Exists() { // the id has the time
		if n, err := strconv.ParseInt(ms, 10, 64); err == nil {
			e.Time = dialect.Stamp(n)
		}
	}
}

func makeSystem(_ *chat.Format, s *dialect.Source) {
	msg := s.Add().Message(jsonl.System)
	msg.Set("sections", s.Make([]byte(`{"prompt":`), s.Lines[0].Get("system_prompt"), []byte(`}`)))
}

func makeTitle(_ *chat.Format, s *dialect.Source) {
	f := s.Lines[0].All("started_at", "metadata")
	e := s.Add()
	e.Time = f[0]
	e.Set("name", f[1].Get("title"))
}

// makeCompaction makes the messages that replace those before.
func makeCompaction(f *chat.Format, s *dialect.Source) {
	e := s.Add()
	e.Time, e.Transformer, e.Reason = s.Lines[0].Get("updated_at"), "compaction", "compaction"
	for m := range s.Lines[0].Get("messages").Elements {
		f.Each(s, m, func(said *chat.Said) *dialect.Entry {
			if said.Kind == jsonl.CustomEntry {
				return nil
			}
			return e
		})
	}
}

// A composer adds results to calls that have none.
type composer struct {
	calls   []jsonl.Value // of the last answer
	results []jsonl.Value // of these
}

// Add implements [dialect.Composer], like End and Copy.
func (c *composer) Add(item jsonl.Value) (done []jsonl.Value) {
	if item.Get("role").Is("tool") {
		c.results = append(c.results, bytes.Clone(item))
		return nil
	}
	done = c.End()
	for call := range item.Get("tool_calls").Elements {
		c.calls = append(c.calls, bytes.Clone(call))
	}
	return append(done, item)
}

func (c *composer) End() (done []jsonl.Value) {
	var missing []jsonl.Value
	for _, call := range c.calls {
		if id := call.Get("id"); !c.has(id) {
			text := jsonl.AppendQuoted(nil, "Tool execution was interrupted before a result was produced. Tool: "+
				call.First("function", "name").Text()+".")
			missing = append(missing, jsonl.Value(`{"role":"tool"}`).With("tool_call_id", id).
				With("content", jsonl.AppendQuoted(nil, []byte(dialect.List(textPart(text))))))
		}
	}
	first := min(1, len(c.results))
	done = append(append(append(done, c.results[:first]...), missing...), c.results[first:]...)
	*c = composer{}
	return done
}

func (c *composer) has(call jsonl.Value) bool {
	for _, r := range c.results {
		if r.Get("tool_call_id").Is(call.Text()) {
			return true
		}
	}
	return false
}

func (c *composer) Copy(dialect.Request) dialect.Composer {
	return &composer{append([]jsonl.Value(nil), c.calls...), append([]jsonl.Value(nil), c.results...)}
}
