package opencode

import (
	"bytes"
	"strconv"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// part takes a version of a part.
func (a *arranger) part(t dialect.Tree, l *dialect.Line) {
	m := a.find(dialect.Key(l.Ref))
	if m.in == nowhere {
		return // of a message that is gone, or has become a summary
	}
	id, sealed := dialect.Key(l.ID), m.in == inSent
	p := a.partOf(m, id)
	ofResult := p != nil && p.result && l.Code != partRemoved
	switch {
	case l.Code == partRemoved && p == nil:
		return
	case l.Code == partRemoved:
		p.gone = true
		delete(a.named, [2]uint64{m.id, id})
	case p == nil:
		p = a.addPart(m, id, l)
	case m == a.heldMessage() && len(l.Group) > 0:
		p.at, p.code, p.tail, p.rules = l.At, l.Code, dialect.Key(l.Group), p.rules|l.Rules
	case sealed && !a.differs(t, p, l):
		return
	default:
		p.at, p.code, p.rules = l.At, l.Code, l.Rules
	}
	switch {
	case ofResult:
		a.late = append(a.late, late{l.Clone(), nil})
	case sealed:
		a.late = append(a.late, late{l.Clone(), a.withPlace(a.appendSpans(nil, m))})
	case p.calls() && p.call == 0:
		a.calls = append(a.calls, l.Clone())
		p.call = int32(len(a.calls))
	}
}

// heldMessage returns the message that waits for its summary, nil for none.
func (a *arranger) heldMessage() *message {
	if a.held == nil {
		return nil
	}
	return a.held.message
}

// most is how many parts of a message are looked at one by one.
const most = 32

// partOf returns a part of a message by its id, nil if it has no such.
func (a *arranger) partOf(m *message, id uint64) *part {
	at := m.first
	for range min(m.count, most) {
		p := a.parts.At(at)
		if p.id == id && !p.gone {
			return p
		}
		at = p.next
	}
	if k, ok := a.named[[2]uint64{m.id, id}]; ok {
		return a.parts.At(k)
	}
	return nil
}

// addPart adds a part to a message.
func (a *arranger) addPart(m *message, id uint64, l *dialect.Line) *part {
	k := a.parts.Add(part{at: l.At, id: id, code: l.Code, rules: l.Rules, order: orderOf(l.ID)})
	if len(l.Group) > 0 {
		a.parts.At(k).tail = dialect.Key(l.Group)
	}
	switch {
	case m.count == 0:
		m.first = k
	case m.count >= most:
		a.named[[2]uint64{m.id, id}] = k
		a.parts.At(m.last).next = k
	case a.insert(m, k):
		m.count++
		return a.parts.At(k)
	default:
		a.parts.At(m.last).next = k
	}
	m.last = k
	m.count++
	return a.parts.At(k)
}

// insert puts a part before those of a message that have later ids, and reports whether there are any. Parts are sent
// in the order of their ids, and written as they are done.
func (a *arranger) insert(m *message, k int32) bool {
	one := a.parts.At(k)
	if one.order == 0 || one.order >= a.parts.At(m.last).order {
		return false
	}
	if first := a.parts.At(m.first); one.order < first.order {
		one.next, m.first = m.first, k
		return true
	}
	at := a.parts.At(m.first)
	for next := a.parts.At(at.next); next.order <= one.order; next = a.parts.At(at.next) {
		at = next
	}
	one.next, at.next = at.next, k
	return true
}

// orderOf returns what an id says of its place among others: when it was made. It is 0 for an id of another
// form.
func orderOf(id []byte) uint64 {
	const digits = 12
	if _, made, ok := bytes.Cut(id, []byte{'_'}); ok && len(made) > digits {
		n, _ := strconv.ParseUint(string(made[:digits]), 16, 64)
		return n
	}
	return 0
}

// differs reports whether a later version of a part is sent as something else.
func (a *arranger) differs(t dialect.Tree, p *part, l *dialect.Line) bool {
	if p.code != l.Code {
		return true
	}
	var said [2][]byte
	for k, at := range []dialect.Span{p.at, l.At} {
		var s dialect.Source
		e, now := s.Add(), make([]row, 1)
		now[0].read(t.Read(at))
		msg := e.Message(jsonl.OtherMessage)
		msg.Body()
		addBlocks(msg, now)
		if p := &now[0].data.part; p.typ.Is("tool") {
			addReturned(e.Message(jsonl.OtherMessage), p)
		}
		e.Transformer, s.Kind = "differs", jsonl.Transform
		said[k], _ = new(dialect.JSON).Append(nil, &s, e, nil)
	}
	return !bytes.Equal(said[0], said[1])
}
