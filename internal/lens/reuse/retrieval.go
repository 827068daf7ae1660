package reuse

import (
	"ctxtool/internal/read/activity"
	"ctxtool/sessionfmt/jsonl"
)

// Retrievals finds which results of lookups were used: a later answer names the file, or repeats
// a line, path or identifier that no earlier message has. Further lookups are not uses. Message
// must be called with the messages in order.
type Retrievals struct {
	used   []bool            // of each result
	judged int               // results with an answer after them
	said   map[uint64]int32  // the result that has a term first, -1 for another message
	calls  map[string]string // the paths of lookups that wait for their results
	byCall map[string]int    // the results of all calls, by id; nil for those of lookups
	buf    []byte
}

// AllRetrievals returns Retrievals of the results of all calls.
func AllRetrievals() *Retrievals {
	r := NewRetrievals()
	r.byCall = map[string]int{}
	return r
}

// Used reports whether the result of a call was used, nil if there is none, or no answer after it.
func (r *Retrievals) Used(call string) *bool {
	if k, ok := r.byCall[call]; ok && k < r.judged {
		return &r.used[k]
	}
	return nil
}

// NewRetrievals returns a Retrievals without messages.
func NewRetrievals() *Retrievals {
	return &Retrievals{said: map[uint64]int32{}, calls: map[string]string{}}
}

// Count returns the number of used results, and of results with an answer after them.
func (r *Retrievals) Count() (used, of int) {
	for _, u := range r.used[:r.judged] {
		if u {
			used++
		}
	}
	return used, r.judged
}

// Message adds the next message of a request.
func (r *Retrievals) Message(m *jsonl.Message) {
	switch m.Kind {
	case jsonl.Assistant:
		r.judged = len(r.used)
		r.answer(m)
	case jsonl.ToolResult:
		id := m.CallID.Text()
		if path, ok := r.calls[id]; ok && !m.IsError.Truthy() {
			if r.byCall != nil {
				r.byCall[id] = len(r.used)
			}
			r.result(path, m)
		} else {
			texts(m, &r.buf, r.sayer(-1))
		}
		delete(r.calls, id)
	default:
		texts(m, &r.buf, r.sayer(-1))
	}
}

// answer records the uses and lookups of an answer.
func (r *Retrievals) answer(m *jsonl.Message) {
	use := func(term uint64, _ Kind, _ []byte) {
		if by, ok := r.said[term]; !ok {
			r.said[term] = -1
		} else if by >= 0 {
			r.used[by] = true
		}
	}
	texts(m, &r.buf, use)
	for c := range activity.Calls(m) {
		if c.Action.Looks() || r.byCall != nil {
			r.calls[c.ID] = c.Path()
		}
		if c.Action.Looks() {
			continue
		}
		for text := range c.Args.Strings {
			r.buf = text.AppendText(r.buf[:0])
			scan(r.buf, use)
		}
	}
}

// result records the terms of a result. A file that is read twice belongs to the last result.
func (r *Retrievals) result(path string, m *jsonl.Message) {
	k := int32(len(r.used))
	r.used = append(r.used, false)
	scan([]byte(path), func(term uint64, kind Kind, _ []byte) {
		if kind == Path {
			r.said[term] = k
		}
	})
	texts(m, &r.buf, r.sayer(k))
}

// sayer returns a function that records the first message with a term.
func (r *Retrievals) sayer(k int32) func(term uint64, _ Kind, _ []byte) {
	return func(term uint64, _ Kind, _ []byte) {
		if _, ok := r.said[term]; !ok {
			r.said[term] = k
		}
	}
}
