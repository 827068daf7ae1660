package opencode

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// An arranger makes the entries of a session. A message is open, and its rows may change, until
// the next answer begins: its request had them as they stood then. What changes later is an
// edit at the place where it did.
type arranger struct {
	row     *dialect.Line // of the session
	open    []*message
	sent    []*message // those on the path, in order
	held    *message   // asks for a summary
	removed map[string]bool
	revert  string // the first message that the next prompt takes back
	late    []late
}

// A late change is one of a message that was sent. The answer that was open then did not know it.
type late struct {
	line *dialect.Line
	more []dialect.Span
}

// A message is one, with its parts.
type message struct {
	dialect.Line
	parts  []part
	before int   // the leaf before it
	made   []int // its entries, none while it is open
}

// A part is one of a message, in its last version.
type part struct {
	dialect.Line
	result bool // has an entry for what the call returned
}

func newArranger() dialect.Arranger { return &arranger{removed: map[string]bool{}} }

// Next is of [dialect.Arranger], as End is.
func (a *arranger) Next(t dialect.Tree, l *dialect.Line) {
	switch l.Code {
	case newer:
		t.Fail(fmt.Errorf("row %d: the database is of a newer opencode: it has events of a later version", l.Number))
	case session:
		a.row = l.Clone()
		t.Add(jsonl.Header, l)
	case turned, compacted:
		a.addRow(t, l)
	case dialect.Unknown:
		t.Add(jsonl.Unknown, l)
	case reverted:
		a.revert = string(l.Ref)
	case restored:
		a.revert = ""
	case removed:
		a.remove(t, l)
	case user, answer, failed, aborted, summary, summarized:
		a.message(t, l)
	default:
		a.part(t, l)
	}
}

func (a *arranger) find(list []*message, id []byte) int {
	return slices.IndexFunc(list, func(m *message) bool { return bytes.Equal(m.ID, id) })
}

// message takes a version of a message. The first one of an answer is its request.
func (a *arranger) message(t dialect.Tree, l *dialect.Line) {
	for _, list := range [][]*message{a.open, a.sent} {
		if at := a.find(list, l.ID); at >= 0 {
			m := list[at]
			if len(m.made) > 0 {
				t.Replace(m.made[0], m.At, l.At)
			}
			m.Code, m.At = l.Code, l.At
			return
		}
	}
	if l.Code != user {
		a.seal(t)
	}
	a.open = append(a.open, &message{Line: *l.Clone()})
}

// seal adds the entries of the open messages, after what is to be taken out.
func (a *arranger) seal(t dialect.Tree) {
	a.takeOut(t)
	open := a.open
	a.open = nil
	for _, m := range open {
		a.change(t, m.Number)
		a.add(t, m)
	}
	a.change(t, math.MaxUint32)
}

// change adds the late changes before a line.
func (a *arranger) change(t dialect.Tree, line uint32) {
	for len(a.late) > 0 && a.late[0].line.Number < line {
		c := a.late[0]
		a.late = a.late[1:]
		a.edit(t, c.line, c.more...)
	}
}

// remove has a message taken out. The open messages are added before the first one is: what was
// answered stays, on a branch.
func (a *arranger) remove(t dialect.Tree, l *dialect.Line) {
	if len(a.removed) == 0 {
		a.seal(t)
	}
	if at := a.find(a.open, l.ID); at >= 0 {
		a.open = slices.Delete(a.open, at, at+1)
	} else {
		a.removed[string(l.ID)] = true
	}
}

// takeOut takes removed messages out: the last ones by going on before them, others by edits.
func (a *arranger) takeOut(t dialect.Tree) {
	if len(a.removed) == 0 {
		return
	}
	gone := func(m *message) bool { return a.removed[string(m.ID)] }
	first := len(a.sent)
	for first > 0 && gone(a.sent[first-1]) {
		first--
	}
	if first < len(a.sent) {
		t.Move(a.sent[first].before)
		a.sent = a.sent[:first]
	}
	for _, m := range a.sent {
		if gone(m) {
			for _, entry := range m.made {
				a.edit(t, &m.Line, t.Spans(entry)[0])
			}
		}
	}
	a.sent = slices.DeleteFunc(a.sent, gone)
	clear(a.removed)
}

// edit adds an edit that a line makes, which has the line first and others after it.
func (a *arranger) edit(t dialect.Tree, l *dialect.Line, more ...dialect.Span) {
	line := *l
	line.ID = nil
	t.Add(jsonl.ContextEdit, &line, more...)
}

// has reports whether a message has a part of a kind.
func (m *message) has(code dialect.Code) bool {
	return slices.ContainsFunc(m.parts, func(p part) bool { return p.Code == code })
}

// spans are those of a message and its parts.
func (m *message) spans() []dialect.Span {
	all := []dialect.Span{m.At}
	for k := range m.parts {
		all = append(all, m.parts[k].At)
	}
	return all
}

// add adds the entries of a message.
func (a *arranger) add(t dialect.Tree, m *message) {
	if a.held != nil && m.Code != summarized {
		held := a.held
		a.held = nil
		a.put(t, held, jsonl.User)
	}
	switch {
	case m.Code == summarized:
		a.summarize(t, m)
	case m.Code == summary: // of a request that brought nothing
		m.before = t.Leaf()
		t.Add(jsonl.UsageEntry, &m.Line)
	case m.Code == user && m.has(compaction):
		a.held = m
	case m.Code == user && len(m.parts) == 0:
	case m.Code == user && m.has(synthetic) && !m.has(text):
		a.put(t, m, jsonl.Custom)
	case m.Code == user:
		a.put(t, m, jsonl.User)
	default:
		a.answer(t, m)
	}
}

// answer adds an answer and the results of its calls.
func (a *arranger) answer(t dialect.Tree, m *message) {
	a.put(t, m, jsonl.Assistant)
	if !m.has(step) && m.Code == answer { // of a command that the user ran
		t.Unanswered(m.made[0])
	}
	if m.Code == failed || m.Code == aborted && !m.has(text) && !m.calls() {
		a.edit(t, &m.Line)
		return
	}
	for k := range m.parts {
		p := &m.parts[k]
		if p.Code == tool || p.Code == returned || p.Code == cleared {
			p.result = true
			m.made = append(m.made, t.Add(jsonl.ToolResult, &p.Line))
		}
	}
}

func (m *message) calls() bool { return m.has(tool) || m.has(returned) || m.has(cleared) }

// put adds the first entry of a message.
func (a *arranger) put(t dialect.Tree, m *message, kind jsonl.Kind) {
	m.before = t.Leaf()
	m.made = append(m.made, t.Add(kind, &m.Line, m.spans()[1:]...))
	a.sent = append(a.sent, m)
}

// summarize has a summary stand for all messages before it, or for those before its tail. The
// request for it had them all.
func (a *arranger) summarize(t dialect.Tree, m *message) {
	asked := a.held
	if a.held = nil; asked == nil {
		a.put(t, m, jsonl.Assistant)
		return
	}
	before := t.Leaf()
	t.Add(jsonl.UsageEntry, &asked.Line, m.At)
	made := append(m.spans()[1:], asked.spans()...)
	kept := []*message{}
	for _, p := range asked.parts {
		if at := a.find(a.sent, p.Group); p.Code == compaction && len(p.Group) > 0 && at >= 0 {
			kept = slices.Clone(a.sent[at:])
		}
	}
	for _, k := range kept {
		made = append(made, k.spans()...)
	}
	asked.before, asked.made = before, []int{t.Add(jsonl.Transform, &m.Line, made...)}
	a.sent = append(a.sent, asked)
}

// part takes a version of a part.
func (a *arranger) part(t dialect.Tree, l *dialect.Line) {
	at, sealed := a.find(a.open, l.Ref), false
	list := a.open
	if at < 0 {
		at, list, sealed = a.find(a.sent, l.Ref), a.sent, true
	}
	if at < 0 {
		return // of a message that is gone, or has become a summary
	}
	m := list[at]
	k := slices.IndexFunc(m.parts, func(p part) bool { return bytes.Equal(p.ID, l.ID) })
	switch {
	case l.Code == partRemoved && k < 0:
		return
	case l.Code == partRemoved:
		m.parts = slices.Delete(m.parts, k, k+1)
	case k < 0:
		m.parts = append(m.parts, part{Line: *l.Clone()})
	case sealed && !a.differs(t, &m.parts[k], l):
		return
	default:
		m.parts[k].At, m.parts[k].Code = l.At, l.Code
	}
	switch {
	case !sealed:
		return
	case k >= 0 && l.Code != partRemoved && m.parts[k].result:
		a.late = append(a.late, late{l.Clone(), nil})
	default:
		a.late = append(a.late, late{l.Clone(), m.spans()})
	}
}

// differs reports whether a later version of a part is sent as something else.
func (a *arranger) differs(t dialect.Tree, p *part, l *dialect.Line) bool {
	if p.Code != l.Code {
		return true
	}
	var said [2][]byte
	for k, at := range []dialect.Span{p.At, l.At} {
		var s dialect.Source
		e, part := s.Add(), partOf(t.Read(at))
		msg := e.Message(jsonl.OtherMessage)
		msg.Body()
		if addBlocks(msg, []jsonl.Value{part}); part.Get("type").Is("tool") {
			addReturned(e.Message(jsonl.OtherMessage), part)
		}
		e.Transformer, s.Kind = "differs", jsonl.Transform
		said[k], _ = new(dialect.JSON).Append(nil, &s, e, nil)
	}
	return !bytes.Equal(said[0], said[1])
}

// End is of [dialect.Arranger].
func (a *arranger) End(t dialect.Tree) {
	a.seal(t)
	if held := a.held; held != nil { // nothing answers it yet
		a.put(t, held, jsonl.User)
	}
	if at := a.find(a.sent, []byte(a.revert)); a.revert != "" && at >= 0 {
		t.Move(a.sent[at].before)
	}
	if a.row == nil {
		return
	}
	leaf := t.Leaf()
	titled := *a.row
	titled.ID = nil
	t.Add(jsonl.SessionInfo, &titled)
	t.Move(leaf)
}
