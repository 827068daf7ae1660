package replay

import (
	"iter"

	"ctxtool/replay/origin"
	"ctxtool/sessionfmt/jsonl"
)

// A Piece is one message of a context, identified by where its text is in the session. It holds
// no text itself; a Reader reads it.
type Piece struct {
	rec  int32 // the record that has its text
	pos  int32 // that record's place on the path
	edit int32 // the context_edit in force on it, -1 for none
	op   int32 // the op of a transform that added it, -1 for the entry itself

	// The range of the record's line that holds it, in bytes. size is 0 if the message is built
	// from the record's fields.
	start, size uint32

	tokens int32 // its tokens, if the machine counts; see machine.size

	form  form
	kind  jsonl.Kind // its role
	flags uint8
}

// Own returns the message of a message entry, unedited.
func (r *Replay) Own(rec int) Piece {
	return Piece{rec: int32(rec), edit: -1, op: -1, kind: r.Session.Kind(rec)}
}

// A form is how a message is built from its record.
type form uint8

const (
	plain         form = iota // the message of a message entry
	custom                    // from a custom_message entry
	branch                    // from a branch_summary entry
	summary                   // a compaction entry's summary
	checkpoint                // a compaction entry's systemMessage
	patchGiven                // from a patch, a provider message as it is
	opSummary                 // the summary of a compaction_apply op
	framedSummary             // the same in another frame, a provider message as it is
)

const (
	omitted = 1 << iota // a context_edit omits it
	unsent              // no provider gets it: an unknown role, or an excluded shell command
)

// Sent reports whether the message is part of the request, system messages excluded.
func (m *Piece) Sent() bool {
	return m.flags&(omitted|unsent) == 0 && m.kind != jsonl.System
}

// System reports whether it is a system message that a provider with in-place system messages
// gets.
func (m *Piece) System() bool {
	return m.kind == jsonl.System && m.form == plain && m.flags&omitted == 0
}

// Place identifies the message, including the edit in force. Places are compared with ==.
func (m *Piece) Place() Piece {
	p := *m
	p.tokens = 0
	return p
}

// Identity identifies the message regardless of edits, and of the frame of a patch's summary.
func (m *Piece) Identity() Piece {
	p := m.Place()
	p.edit, p.flags = -1, 0
	if p.form == framedSummary {
		p.form = opSummary
	}
	if p.form == opSummary { // an op makes one
		p.start, p.size = 0, 0
	}
	return p
}

// Reframed reports whether it is the summary of a patch in another frame than pi's.
func (m *Piece) Reframed() bool { return m.form == framedSummary }

// Kind returns its role in the session.
func (m *Piece) Kind() jsonl.Kind { return m.kind }

// Pos returns the index of its entry on the path.
func (m *Piece) Pos() int { return int(m.pos) }

// Origin returns the entry of a message, and what put it there.
func (m *Piece) Origin() origin.Origin {
	o := origin.Origin{Record: int(m.rec), By: int(m.rec), Op: int(m.op)}
	if m.edit >= 0 {
		o.By = int(m.edit)
	}
	return o
}

// Edit returns the context_edit in force on it, -1 for none, and whether that omits it.
func (m *Piece) Edit() (rec int, omits bool) { return int(m.edit), m.flags&omitted != 0 }

// Own reports whether it is the unedited message of a message entry.
func (m *Piece) Own() bool { return m.form == plain && m.edit < 0 }

// Summary reports whether it is the summary of a compaction entry.
func (m *Piece) Summary() bool { return m.form == summary }

const chunkSize = 256

// A list holds messages in order: a short head, and a body in chunks, of which a range is in
// use. Copying the struct makes a snapshot that stays valid while the owner changes the list:
// appending only writes beyond what a snapshot shows, set copies the chunk that it writes to,
// and the head is replaced as a whole. Only the owner's copy may be changed.
type list struct {
	head   []Piece // messages that a patch put before the body
	chunks []*[chunkSize]Piece
	lo, hi int  // the range of the body in use
	n      int  // number of messages
	shown  int  // messages that a provider gets, system messages excluded
	tokens int  // tokens of all messages, if the machine counts
	mixed  bool // not in the order of the path, because a patch moved some
}

func (l *list) body(k int) *Piece { return &l.chunks[k/chunkSize][k%chunkSize] }

func (l *list) at(i int) *Piece {
	if i < len(l.head) {
		return &l.head[i]
	}
	return l.body(l.lo + i - len(l.head))
}

// push appends a message.
func (l *list) push(m Piece) {
	if l.hi%chunkSize == 0 {
		l.chunks = append(l.chunks, new([chunkSize]Piece))
	}
	*l.body(l.hi) = m
	l.hi++
	l.n++
	l.addSums(&m, 1)
}

// addSums adds a message to the sums, or with -1 subtracts it.
func (l *list) addSums(m *Piece, sign int) {
	if m.Sent() {
		l.shown += sign
	}
	l.tokens += sign * int(m.tokens)
}

func (l *list) set(i int, m Piece) {
	l.addSums(l.at(i), -1)
	l.addSums(&m, 1)
	if i < len(l.head) {
		l.head = append([]Piece(nil), l.head...)
		l.head[i] = m
		return
	}
	k := l.lo + i - len(l.head)
	chunks := make([]*[chunkSize]Piece, len(l.chunks), cap(l.chunks))
	copy(chunks, l.chunks)
	fresh := *chunks[k/chunkSize]
	fresh[k%chunkSize] = m
	chunks[k/chunkSize] = &fresh
	l.chunks = chunks
}

// cut puts one message in place of those before index first. System messages stay, before it.
// Its cost does not depend on the number of messages kept.
func (l *list) cut(first int, m Piece) {
	var head []Piece
	for i := range first {
		if old := l.at(i); old.kind == jsonl.System {
			head = append(head, *old)
		} else {
			l.addSums(old, -1)
		}
	}
	head = append(head, m)
	l.addSums(&m, 1)
	if first < len(l.head) {
		head = append(head, l.head[first:]...)
	} else {
		l.lo += first - len(l.head)
	}
	l.head, l.mixed = head, true
	l.n = len(head) + l.hi - l.lo
}

// all yields the messages in order, omitted ones included.
func (l *list) all(yield func(i int, m *Piece) bool) {
	for i := range l.n {
		if !yield(i, l.at(i)) {
			return
		}
	}
}

// first returns the first n messages.
func (l *list) first(n int) iter.Seq[*Piece] {
	return func(yield func(*Piece) bool) {
		for i := 0; i < n && yield(l.at(i)); i++ {
		}
	}
}

// differs returns the indexes at which two lists of one machine have different messages,
// including those beyond the end of the shorter one. It skips shared chunks.
func (l *list) differs(was *list) iter.Seq[int] {
	return func(yield func(i int) bool) {
		n := min(was.n, l.n)
		aligned := len(was.head) == len(l.head) && was.lo == l.lo
		for i := 0; i < n; i++ {
			if k := l.lo + i - len(l.head); aligned && i >= len(l.head) && was.chunks[k/chunkSize] == l.chunks[k/chunkSize] {
				i += chunkSize - 1 - k%chunkSize
				continue
			}
			if was.at(i).Place() != l.at(i).Place() && !yield(i) {
				return
			}
		}
		for i := n; i < max(was.n, l.n); i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// places maps records to the index of their first message in the body, which cut does not
// change. Messages that an op added belong to no record.
func (l *list) places() map[int32]int {
	places := make(map[int32]int, l.n)
	for k := l.lo; k < l.hi; k++ {
		m := l.body(k)
		if _, ok := places[m.rec]; !ok && m.op < 0 {
			places[m.rec] = k
		}
	}
	return places
}

// find returns the index in the list of a record's first message, -1 if it has none, given the
// list's places.
func (l *list) find(rec int32, places map[int32]int) int {
	for i := range l.head {
		if m := &l.head[i]; m.rec == rec && m.op < 0 {
			return i
		}
	}
	if k, ok := places[rec]; ok && k >= l.lo {
		return len(l.head) + k - l.lo
	}
	return -1
}

// recent is find limited to the last most messages of the body.
func (l *list) recent(rec int32, most int) int {
	for k := l.hi - 1; k >= max(l.lo, l.hi-most); k-- {
		if m := l.body(k); m.rec != rec || m.op >= 0 {
			continue
		}
		for k > l.lo && l.body(k-1).rec == rec && l.body(k-1).op < 0 {
			k--
		}
		return len(l.head) + k - l.lo
	}
	return -1
}

// from returns the index of the message from that place of the path. If there is none, exact is
// false and i is the index of the first message from a later place, l.n without any.
func (l *list) from(pos int32) (i int, exact bool) {
	if !l.mixed {
		i = l.n
		for i > 0 && l.at(i-1).pos >= pos {
			i--
		}
		return i, i < l.n && l.at(i).pos == pos
	}
	later := l.n
	for i, m := range l.all {
		if m.pos == pos {
			return i, true
		}
		if m.pos > pos && i < later {
			later = i
		}
	}
	return later, false
}

// index returns the index of the message after the first n shown ones, l.n if there are fewer.
func (l *list) index(n int) int {
	if n >= l.shown {
		return l.n
	}
	for i, m := range l.all {
		if m.Sent() {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return l.n
}

// An edit is the last context_edit of a record.
type edit struct {
	rec, pos, target int32
	omit             bool
}

func (e edit) apply(msg *Piece) {
	msg.flags &^= omitted
	msg.edit = -1
	if e.omit {
		msg.flags |= omitted
		msg.edit = e.rec
	} else if msg.kind.Replaceable() {
		msg.edit = e.rec
	}
}

// Edits returns the edits in force on the messages of the context, including omitted ones: edit
// entries by the record that they edit.
func (e *Envelope) Edits() map[int]int {
	all := map[int]int{}
	for _, m := range e.state.msgs.all {
		if m.edit >= 0 {
			all[int(m.rec)] = int(m.edit)
		}
	}
	return all
}
