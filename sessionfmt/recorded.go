package sessionfmt

import (
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// Recorded reports whether the agent recorded the request that record i, an answer, answers.
func (s *Session) Recorded(i int) bool { return s.records[i].flags&flagRecorded != 0 }

// HasRecorded reports whether the agent recorded any request beside the conversation.
func (s *Session) HasRecorded() bool { return len(s.recorded) > 0 }

// Sketches returns what the recorded requests refer to, by the record of their answer. It reads no message.
func (s *Session) Sketches() (map[int]*dialect.Sketch, error) {
	if !s.HasRecorded() || s.dialect.Sketch == nil {
		return nil, nil
	}
	var failed error
	lines := s.NewReader()
	all := s.dialect.Sketch(func(yield func(dialect.Span, jsonl.Value) bool) {
		for _, at := range s.about {
			raw, err := lines.read(at)
			if err != nil {
				failed = err
				return
			}
			if !yield(at, jsonl.Trim(raw)) {
				return
			}
		}
	})
	of := map[int]*dialect.Sketch{}
	for i, at := range s.recorded {
		if all[at] != nil {
			of[i] = all[at]
		}
	}
	return of, failed
}

// Requests yields the requests that the agent recorded beside the conversation, in file order. Their bodies can
// be read while the session is open.
func (s *Session) Requests(yield func(*dialect.Recorded, error) bool) {
	if s.dialect == nil || s.dialect.Recorded == nil {
		return
	}
	var failed error
	all := func(yield func(dialect.Numbered) bool) {
		off, before := int64(0), 0
		for _, b := range s.src.sections {
			before += b.lines
		}
		for l, err := range Lines(s.src.plain(), min(readAhead, s.src.size+1)) {
			if err != nil {
				failed = err
				return
			}
			at := dialect.Span{Off: off, Size: uint32(len(l.Raw))}
			off += int64(len(l.Raw))
			if l.Ended {
				off++
			}
			v, bad := jsonl.ParseValue(l.Raw)
			if bad == nil && !yield(dialect.Numbered{Number: l.Number - before, At: at, Value: v}) {
				return
			}
		}
	}
	lines := s.NewReader()
	again := func(at dialect.Span) (jsonl.Value, error) {
		raw, err := lines.read(at)
		return jsonl.Trim(raw), err
	}
	for r := range s.dialect.Recorded(dialect.Lines{All: all, Read: again}) {
		if !yield(r, nil) {
			return
		}
	}
	if failed != nil {
		yield(nil, failed)
	}
}
