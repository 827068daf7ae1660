package opencode

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"slices"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// An arranger makes the entries of a session. A message is open, and its rows may change, until
// the next answer begins: its request had them as they stood then. What changes later is an
// edit at the place where it did.
type arranger struct {
	agent    agent
	row      *dialect.Line // of the session
	messages dialect.Chunks[message]
	parts    dialect.Chunks[part]
	known    map[uint64]int32    // messages by their id
	named    map[[2]uint64]int32 // parts by that of their message and their own, but for the first ones of each
	open     []opened
	calls    []*dialect.Line // of open messages: the lines of parts that are calls
	sent     []*message      // those on the path, in order
	held     *opened         // asks for a summary
	removed  map[uint64]bool
	model    string // that the last prompt asked, with its provider
	revert   []byte // the first message that the next prompt takes back
	late     []late
	spans    []dialect.Span // in use for one entry
}

// A late change is one of a message that was sent. The answer that was open then did not know it.
type late struct {
	line *dialect.Line
	more []dialect.Span
}

// A message is one, with its parts. It holds no pointers, since a session has many: ids are hashes.
type message struct {
	at          dialect.Span
	time        int64
	id          uint64
	number      uint32
	first, last int32 // of its parts
	count       int32 // of them, with those that are removed
	before      int32 // the leaf before it
	entry, made int32 // its first entry, and how many it has: none while it is open
	index       int32 // of a message that is sent
	rules       rule.Set
	code        dialect.Code
	in          place
	sums        bool // asked for a summary, and stands before it
}

// An opened message has the line that it began with.
type opened struct {
	*message
	line *dialect.Line
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
	at     dialect.Span
	id     uint64
	tail   uint64 // of one that asks for a summary: the first message that stays, 0 for none
	next   int32
	order  uint64 // by its id
	call   int32  // the number of its line among calls, from 1
	code   dialect.Code
	rules  rule.Set
	result bool // has an entry for what the call returned
	gone   bool // it is removed
}

func newArranger(of agent) dialect.Arranger {
	return &arranger{
		agent: of, known: map[uint64]int32{}, named: map[[2]uint64]int32{}, removed: map[uint64]bool{},
	}
}

// Next implements [dialect.Arranger], like End.
func (a *arranger) Next(t dialect.Tree, l *dialect.Line) {
	switch l.Code {
	case newer:
		t.Fail(fmt.Errorf("row %d: a newer %s wrote the database: it has events of a later version", l.Number, a.agent))
	case session:
		a.row = l.Clone()
		t.Add(rule.Aside, jsonl.Header, l)
	case turned, compacted:
		a.addTurn(t, l)
	case dialect.Unknown:
		t.Add(rule.Unread, jsonl.Unknown, l)
	case damaged:
		t.Add(rule.Unread, jsonl.Unknown, l)
		t.Report("malformed", l, "the data of the row is not a JSON object: what it records is not in the context")
	case reverted:
		a.revert = bytes.Clone(l.Ref)
	case restored:
		a.revert = nil
	case removed:
		a.remove(t, l)
	case user, answer, failed, aborted, summary, summarized:
		a.message(t, l)
	default:
		a.part(t, l)
	}
}

// find returns a message that is open or sent, or a new one, which is nowhere.
func (a *arranger) find(id uint64) *message {
	if k, ok := a.known[id]; ok {
		return a.messages.At(k)
	}
	return &message{}
}

// message takes a version of a message. The first one of an answer is its request.
func (a *arranger) message(t dialect.Tree, l *dialect.Line) {
	id := dialect.Key(l.ID)
	if k, ok := a.known[id]; ok {
		if m := a.messages.At(k); m.in != nowhere {
			if m.made > 0 {
				t.Replace(l.Rules, int(m.entry), m.at, l.At)
			}
			m.code, m.at, m.rules = l.Code, l.At, m.rules|l.Rules
			return
		}
	}
	if l.Code != user {
		a.seal(t)
	}
	k := a.messages.Add(message{at: l.At, time: l.Time, id: id, number: l.Number, code: l.Code, in: inOpen,
		rules: l.Rules | a.asks(t, l)})
	a.known[id] = k
	a.open = append(a.open, opened{a.messages.At(k), l.Clone()})
}

// asks returns the rules that follow from the model that a prompt asks.
func (a *arranger) asks(t dialect.Tree, l *dialect.Line) rule.Set {
	if l.Code != user || len(l.Group) == 0 || string(l.Group) == a.model {
		return 0
	}
	provider, model, _ := bytes.Cut(l.Group, []byte{0})
	t.Asked(provider, model)
	other := a.model != ""
	a.model = string(l.Group)
	return rule.If(other, otherModel)
}

// seal adds the entries of the open messages, after what is to be taken out.
func (a *arranger) seal(t dialect.Tree) {
	a.takeOut(t)
	for _, m := range a.open {
		m.in = nowhere
		a.change(t, m.number)
		a.add(t, m)
	}
	clear(a.calls)
	a.open, a.calls = a.open[:0], a.calls[:0]
	a.change(t, math.MaxUint32)
}

// change adds the late changes before a line.
func (a *arranger) change(t dialect.Tree, line uint32) {
	for len(a.late) > 0 && a.late[0].line.Number < line {
		c := a.late[0]
		a.late = a.late[1:]
		a.edit(t, lateChange, c.line, c.more...)
	}
}

// remove has a message taken out. The open messages are added before the first one is: what was
// answered stays, on a branch.
func (a *arranger) remove(t dialect.Tree, l *dialect.Line) {
	if len(a.removed) == 0 {
		a.seal(t)
	}
	id := dialect.Key(l.ID)
	if m := a.find(id); m.in == inOpen {
		m.in = nowhere
		if a.held != nil && a.held.message == m {
			a.held = nil
		}
		a.open = slices.DeleteFunc(a.open, func(o opened) bool { return o.message == m })
	} else {
		a.removed[id] = true
	}
}

// takeOut takes removed messages out: the last ones by going on before them, others by edits.
func (a *arranger) takeOut(t dialect.Tree) {
	if len(a.removed) == 0 {
		return
	}
	gone := func(m *message) bool { return a.removed[m.id] }
	first := len(a.sent)
	for first > 0 && gone(a.sent[first-1]) {
		first--
	}
	if first < len(a.sent) {
		t.Move(removal, int(a.sent[first].before))
		a.sent = a.sent[:first]
	}
	for _, m := range a.sent {
		if gone(m) {
			line := dialect.Line{Code: m.code, At: m.at, Number: m.number, Time: m.time}
			for k := range m.made {
				a.edit(t, removal, &line, t.Spans(int(m.entry + k))[0])
			}
		}
	}
	a.sent = slices.DeleteFunc(a.sent, gone)
	for k, m := range a.sent {
		m.index = int32(k)
	}
	for id := range a.removed {
		a.find(id).in = nowhere
	}
	clear(a.removed)
}

// edit adds an edit that a line makes, which has the line first and others after it.
func (a *arranger) edit(t dialect.Tree, by rule.Rule, l *dialect.Line, more ...dialect.Span) {
	line := *l
	line.ID = nil
	t.Add(by, jsonl.ContextEdit, &line, more...)
}

// partsOf yields the parts of a message.
func (a *arranger) partsOf(m *message) iter.Seq[*part] {
	return func(yield func(*part) bool) {
		at := m.first
		for range m.count {
			p := a.parts.At(at)
			at = p.next
			if !p.gone && !yield(p) {
				return
			}
		}
	}
}

// has reports whether a message has a part of one of several kinds, or any without such.
func (a *arranger) has(m *message, codes ...dialect.Code) bool {
	for p := range a.partsOf(m) {
		if len(codes) == 0 || slices.Contains(codes, p.code) {
			return true
		}
	}
	return false
}

// appendSpans appends those of a message and its parts.
func (a *arranger) appendSpans(to []dialect.Span, m *message) []dialect.Span {
	to = append(to, m.at)
	for p := range a.partsOf(m) {
		to = append(to, p.at)
	}
	return to
}

// add adds the entries of a message.
func (a *arranger) add(t dialect.Tree, m opened) {
	if m.code != summarized {
		a.putHeld(t)
	}
	switch {
	case m.code == summarized:
		a.summarize(t, m)
	case m.code == summary: // of a request that brought nothing
		m.before = int32(t.Leaf())
		t.Add(refused, jsonl.UsageEntry, m.begins())
	case m.code == user && a.has(m.message, compaction):
		a.held, m.in = &m, inOpen // a later version of its part says what stays
	case m.code == user && !a.has(m.message) && a.agent != kilo:
	case m.code == user && a.has(m.message, synthetic) && !a.has(m.message, text):
		a.put(t, rule.Note, m, jsonl.Custom)
	case m.code == user:
		a.put(t, rule.Prompt, m, jsonl.User)
	default:
		a.answer(t, m)
	}
}

// begins returns the line that the message began with, at the place of its last version.
func (o *opened) begins() *dialect.Line {
	o.line.Code, o.line.At, o.line.Rules = o.code, o.at, o.rules
	return o.line
}

// answer adds an answer and the results of its calls.
func (a *arranger) answer(t dialect.Tree, m opened) {
	a.put(t, rule.Answer, m, jsonl.Assistant)
	if m.code == answer && !a.has(m.message, step) { // of a command that the user ran
		t.Unanswered(userShell, int(m.entry))
	}
	if m.code == failed || m.code == aborted && !a.has(m.message, text, tool, returned, cleared) {
		a.edit(t, brokenOff, m.line)
		return
	}
	var last *part
	var files []dialect.Span // parts before the last result with media, which are sent after all results
	for p := range a.partsOf(m.message) {
		if !p.calls() {
			continue
		}
		last = p
		if p.rules.Has(media) {
			files = append(files, p.at)
		}
	}
	for p := range a.partsOf(m.message) {
		if p.calls() {
			line := a.calls[p.call-1]
			line.Code, line.At, line.Rules, p.result = p.code, p.at, p.rules, true
			more := files
			if p != last {
				more = nil
			}
			t.Add(rule.Result, jsonl.ToolResult, line, more...)
			m.made++
		}
	}
}

func (p *part) calls() bool { return p.code == tool || p.code == returned || p.code == cleared }

// put adds the first entry of a message.
func (a *arranger) put(t dialect.Tree, by rule.Rule, m opened, kind jsonl.Kind) {
	m.before = int32(t.Leaf())
	for p := range a.partsOf(m.message) {
		m.rules |= p.rules
	}
	a.spans = a.appendSpans(a.spans[:0], m.message)
	if kind != jsonl.Assistant {
		a.spans = a.withPlace(a.spans)
	}
	m.entry, m.made = int32(t.Add(by, kind, m.begins(), a.spans[1:]...)), 1
	a.send(m.message)
}

// putHeld puts the message that asks for a summary, if there is one: it gets none.
func (a *arranger) putHeld(t dialect.Tree) {
	if held := a.held; held != nil {
		a.held, held.in = nil, nowhere
		a.put(t, rule.Prompt, *held, jsonl.User)
	}
}

func (a *arranger) send(m *message) {
	m.in, m.index = inSent, int32(len(a.sent))
	a.sent = append(a.sent, m)
}

// summarize has a summary stand for all messages before it, or for those before its tail. The
// request for it had them all.
func (a *arranger) summarize(t dialect.Tree, m opened) {
	asked := a.held
	a.held = nil
	if asked != nil {
		asked.in = nowhere
	}
	if asked == nil {
		a.put(t, rule.Answer, m, jsonl.Assistant)
		return
	}
	asked.before = int32(t.Leaf())
	t.Add(rule.Aside, jsonl.UsageEntry, asked.begins(), m.at)
	a.spans = a.appendSpans(a.appendSpans(a.spans[:0], m.message), asked.message)
	var kept []*message
	for p := range a.partsOf(asked.message) {
		if from := a.find(p.tail); p.code == compaction && p.tail != 0 && from.in == inSent {
			kept = a.sent[from.index:]
			m.rules |= rule.Of(keptTail)
		}
	}
	for _, k := range kept {
		if !k.sums && k.code != failed {
			a.spans = a.appendSpans(a.spans, k)
			m.rules |= k.rules
		}
	}
	a.spans, asked.sums = a.withPlace(a.spans), true
	asked.entry, asked.made = int32(t.Add(rule.Compaction, jsonl.Transform, m.begins(), a.spans[1:]...)), 1
	a.send(asked.message)
}

// End implements [dialect.Arranger].
func (a *arranger) End(t dialect.Tree) {
	a.seal(t)
	a.putHeld(t) // nothing answers it yet
	if m := a.find(dialect.Key(a.revert)); len(a.revert) > 0 && m.in == inSent {
		t.Move(rule.Branch, int(m.before))
	}
	if a.row == nil {
		return
	}
	leaf := t.Leaf()
	titled := *a.row
	titled.ID = nil
	t.Add(rule.Aside, jsonl.SessionInfo, &titled)
	t.Move(rule.Aside, leaf)
}
