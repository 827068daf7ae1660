package sessionfmt

import (
	"iter"
	"unicode/utf8"

	"ctxtool/internal/base/scratch"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// Owner returns the id of the session whose sub-agent wrote this one; empty for an ordinary session.
func (s *Session) Owner() string { return s.owner }

// Delegated reports whether a sub-agent wrote record i into the file of the session that started it. In a
// sub-agent's own file no record is delegated.
func (s *Session) Delegated(i int) bool {
	return s.owner == "" && s.records[i].flags&flagDelegated != 0
}

// InBase reports whether record i stands in a file that the session continues.
func (s *Session) InBase(i int) bool { return s.src.sectionAt(s.records[i].off()) != nil }

// HasAside reports whether AsideCalls yields anything.
func (s *Session) HasAside() bool { return len(s.aside) > 0 }

// AsideCalls yields the calls of sub-agents that the file records outside its entries, each once, as a usage
// entry. A record is valid until the next one.
func (s *Session) AsideCalls(pick jsonl.Pick) iter.Seq2[*jsonl.Picked, error] {
	return func(yield func(*jsonl.Picked, error) bool) {
		r, head := s.NewReader(), jsonl.NewHeadReader(pick)
		for _, at := range s.aside {
			if c, ok := r.called(at, func(func(*joined) bool) {}); ok {
				p := jsonl.Picked{Kind: jsonl.UsageEntry, ID: c.ID, Timestamp: c.Time, Call: c}
				if !yield(head.Typed(p, nil, nil, nil), nil) {
					return
				}
				continue
			}
			line, err := r.aside(at)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(r.picked(head, line, nil), nil) {
				return
			}
		}
	}
}

// aside returns the usage entry of a line that belongs to none of the session's entries.
func (r *Reader) aside(at dialect.Span) (jsonl.Value, error) {
	raw, err := r.stretch(at)
	if err != nil {
		return nil, err
	}
	if r.s.badUTF8 && !utf8.Valid(raw) {
		raw = jsonl.ReplaceInvalidUTF8(raw)
	}
	src := &r.source
	*src = dialect.Source{Kind: jsonl.UsageEntry, Lines: []jsonl.Value{jsonl.Trim(raw)}, Spans: []dialect.Span{at}}
	r.unread, r.showing = false, 0
	r.s.dialect.Make(src)
	r.shown, _ = r.write.Append(scratch.Reset(r.shown), src, src.Entry(), nil)
	return r.shown, nil
}
