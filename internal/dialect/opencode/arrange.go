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
	known   map[string]*message
	held    *message // asks for a summary
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
	named  map[string]int // index of a part by its id, of a message with many
	before int            // the leaf before it
	made   []int          // its entries, none while it is open
	in     place
	at     int // index, of a message that is sent
}

// A place is where a message is.
type place uint8

const (
	nowhere place = iota
	inOpen
	inSent
)

// A part is one of a message, in its last version.
type part struct {
	dialect.Line
	result bool // has an entry for what the call returned
}

func newArranger() dialect.Arranger {
	return &arranger{known: map[string]*message{}, removed: map[string]bool{}}
}

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

// find returns a message that is open or sent, or a new one, which is nowhere.
func (a *arranger) find(id []byte) *message {
	if m := a.known[string(id)]; m != nil {
		return m
	}
	return &message{}
}

// message takes a version of a message. The first one of an answer is its request.
func (a *arranger) message(t dialect.Tree, l *dialect.Line) {
	m := a.find(l.ID)
	if m.in != nowhere {
		if len(m.made) > 0 {
			t.Replace(m.made[0], m.At, l.At)
		}
		m.Code, m.At = l.Code, l.At
		return
	}
	if l.Code != user {
		a.seal(t)
	}
	m = &message{Line: *l.Clone(), in: inOpen}
	a.known[string(m.ID)] = m
	a.open = append(a.open, m)
}

// seal adds the entries of the open messages, after what is to be taken out.
func (a *arranger) seal(t dialect.Tree) {
	a.takeOut(t)
	open := a.open
	a.open = nil
	for _, m := range open {
		m.in = nowhere
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
	if m := a.find(l.ID); m.in == inOpen {
		m.in = nowhere
		a.open = slices.DeleteFunc(a.open, func(o *message) bool { return o == m })
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
	for at, m := range a.sent {
		m.at = at
	}
	for id := range a.removed {
		a.find([]byte(id)).in = nowhere
	}
	a.removed = map[string]bool{}
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
	a.send(m)
}

func (a *arranger) send(m *message) {
	m.in, m.at = inSent, len(a.sent)
	a.sent = append(a.sent, m)
}

// summarize has a summary stand for all messages before it, or for those before its tail. The
// request for it had them all.
func (a *arranger) summarize(t dialect.Tree, m *message) {
	asked := a.held
	a.held = nil
	if asked == nil {
		a.put(t, m, jsonl.Assistant)
		return
	}
	before := t.Leaf()
	t.Add(jsonl.UsageEntry, &asked.Line, m.At)
	made := append(m.spans()[1:], asked.spans()...)
	kept := []*message{}
	for _, p := range asked.parts {
		if from := a.find(p.Group); p.Code == compaction && len(p.Group) > 0 && from.in == inSent {
			kept = slices.Clone(a.sent[from.at:])
		}
	}
	for _, k := range kept {
		made = append(made, k.spans()...)
	}
	asked.before, asked.made = before, []int{t.Add(jsonl.Transform, &m.Line, made...)}
	a.send(asked)
}

// part takes a version of a part.
func (a *arranger) part(t dialect.Tree, l *dialect.Line) {
	m := a.find(l.Ref)
	if m.in == nowhere {
		return // of a message that is gone, or has become a summary
	}
	k, sealed := m.part(l.ID), m.in == inSent
	switch {
	case l.Code == partRemoved && k < 0:
		return
	case l.Code == partRemoved:
		m.parts, m.named = slices.Delete(m.parts, k, k+1), nil
	case k < 0:
		if m.named != nil {
			m.named[string(l.ID)] = len(m.parts)
		}
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

// part returns the index of a part, -1 if the message has none of that id.
func (m *message) part(id []byte) int {
	const many = 32
	if len(m.parts) < many {
		return slices.IndexFunc(m.parts, func(p part) bool { return bytes.Equal(p.ID, id) })
	}
	if m.named == nil {
		m.named = map[string]int{}
		for k := range slices.Backward(m.parts) {
			m.named[string(m.parts[k].ID)] = k
		}
	}
	k, ok := m.named[string(id)]
	if !ok {
		return -1
	}
	return k
}

// differs reports whether a later version of a part is sent as something else.
func (a *arranger) differs(t dialect.Tree, p *part, l *dialect.Line) bool {
	if p.Code != l.Code {
		return true
	}
	var said [2][]byte
	for k, at := range []dialect.Span{p.At, l.At} {
		var s dialect.Source
		e, part := s.Add(), rowOf(t.Read(at)).part
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
	if m := a.find([]byte(a.revert)); a.revert != "" && m.in == inSent {
		t.Move(m.before)
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
