package sessionfmt

import (
	"encoding/binary"
	"slices"
	"sync"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// mostSkimmed is the limit of skimmed values per session, bytes.
const mostSkimmed = 16 << 20

// skims holds values of lines that record model calls, copied while the lines are validated, so that no line is
// read twice for its usage; see [dialect.Dialect], Skim.
type skims struct {
	whole bool   // complete: a line that is not here records no call
	texts []byte // values, each after its length plus one; 0 for an absent value
	lines []skim // in file order
	few   []jsonl.Value
}

// A skim locates the values of the line at an offset.
type skim struct {
	off      int64
	from, to uint32
}

// add stores the values of the line at an offset.
func (s *skims) add(off int64, by func([]jsonl.Value, *jsonl.Picked) []jsonl.Value, line *jsonl.Picked) {
	if s.few = by(s.few[:0], line); len(s.few) == 0 {
		return
	}
	from := len(s.texts)
	for _, v := range s.few {
		if v == nil {
			s.texts = append(s.texts, 0)
			continue
		}
		s.texts = append(binary.AppendUvarint(s.texts, uint64(len(v))+1), v...)
	}
	s.lines = append(s.lines, skim{off, uint32(from), uint32(len(s.texts))})
}

// join appends the values of the next unit.
func (s *skims) join(u *skims) {
	if s.whole = s.whole && len(s.texts)+len(u.texts) <= mostSkimmed; !s.whole {
		s.texts, s.lines = nil, nil
		return
	}
	base := uint32(len(s.texts))
	for _, one := range u.lines {
		s.lines = append(s.lines, skim{one.off, base + one.from, base + one.to})
	}
	s.texts = append(s.texts, u.texts...)
}

// appendAt appends the values of the line at an offset to dst, if there are any.
func (s *skims) appendAt(dst []jsonl.Value, off int64) []jsonl.Value {
	at, ok := slices.BinarySearchFunc(s.lines, off, func(one skim, off int64) int { return int(one.off - off) })
	if !ok {
		return dst
	}
	for text := s.texts[s.lines[at].from:s.lines[at].to]; len(text) > 0; {
		var v jsonl.Value
		n, k := binary.Uvarint(text)
		text = text[k:]
		if n > 0 {
			v, text = text[:n-1:n-1], text[n-1:]
		}
		dst = append(dst, v)
	}
	return dst
}

// skimBuffers recycles the buffers of closed sessions.
var skimBuffers = sync.Pool{New: func() any { return new(skims) }}

// skimming prepares skims if only usages are read of the session.
func (s *Session) skimming(opt Options) {
	if opt.Usages && s.dialect.Skim != nil && s.doc == nil {
		s.skims = *skimBuffers.Get().(*skims)
		s.skims.whole = true
	}
}

// release recycles the buffers.
func (s *skims) release() {
	if s.whole {
		skimBuffers.Put(&skims{texts: s.texts[:0], lines: s.lines[:0]})
	}
	*s = skims{}
}

// called returns the call that an answer, or a line of a sub-agent's call, records; ok is false if the lines
// have to be read for it.
func (r *Reader) called(first dialect.Span, more func(yield func(*joined) bool)) (c *jsonl.Call, ok bool) {
	s := &r.s.skims
	if !s.whole {
		return nil, false
	}
	r.values, r.skims = s.appendAt(r.values[:0], first.Off), r.skims[:0]
	ends := append(r.ends[:0], len(r.values))
	for j := range more {
		r.values = s.appendAt(r.values, j.off)
		ends = append(ends, len(r.values))
	}
	from := 0
	for _, to := range ends {
		if to > from {
			r.skims = append(r.skims, r.values[from:to:to])
		}
		from = to
	}
	if r.ends = ends; len(r.skims) == 0 {
		return nil, false
	}
	r.unread = false
	r.source.Reset()
	r.call = r.s.dialect.Call(&r.source, r.skims)
	return &r.call, true
}

// pickedCall returns an entry for a visitor that only wants the usage.
func (r *Reader) pickedCall(i int, head *jsonl.HeadReader) (p *jsonl.Picked, ok bool) {
	c, ok := r.called(r.s.records[i].span(), r.s.joinedTo(i))
	if !ok {
		return nil, false
	}
	id := dialect.Quote(&r.source, idText(r.s.idOf(i)))
	return head.Typed(jsonl.Picked{Kind: r.s.Kind(i), ID: id, Timestamp: r.skims[0][0], Call: c}, nil, nil, nil), true
}
