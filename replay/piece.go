package replay

import (
	"ctxtool/replay/origin"
	"ctxtool/sessionfmt/jsonl"
)

// A Piece is one message of a context, identified by where its text is in the session. It holds
// no text itself; a Reader reads it.
type Piece struct {
	rec  int32 // record that has its text
	pos  int32 // place of that record on the path
	edit int32 // the context_edit in force on it, -1 for none
	op   int32 // op of a transform that added it, -1 for the entry itself

	// The range of the record's line that holds it, in bytes. size is 0 if the message is built
	// from the record's fields.
	start, size uint32

	form  form
	kind  jsonl.Kind // its role
	flags uint8
}

// Own returns the message of a message entry, unedited.
func (r *Replay) Own(rec int) Piece {
	return Piece{rec: int32(rec), edit: -1, op: -1, kind: r.Session.Kind(rec)}
}

// A form states how a message is built from its record.
type form uint8

const (
	plain         form = iota // the message of a message entry
	custom                    // from a custom_message entry
	branch                    // from a branch_summary entry
	summary                   // a compaction entry's summary
	checkpoint                // a compaction entry's systemMessage
	patchGiven                // from a patch, a provider message unchanged
	opSummary                 // the summary of a compaction_apply op
	framedSummary             // the same in another frame, a provider message unchanged
)

const (
	omitted = 1 << iota // omitted by a context_edit
	unsent              // no provider gets it: an unknown role, or an excluded shell command
)

// Sent reports whether the message is part of the request, system messages excluded.
func (m Piece) Sent() bool {
	return m.flags&(omitted|unsent) == 0 && m.kind != jsonl.System
}

// System reports whether it is a system message that a provider with in-place system messages
// gets.
func (m Piece) System() bool {
	return m.kind == jsonl.System && m.form == plain && m.flags&omitted == 0
}

// Place identifies the message, including the edit in force. Places are compared with ==.
func (m Piece) Place() Piece { return m }

// Identity identifies the message regardless of edits, and of the frame around a patch's summary.
func (m Piece) Identity() Piece {
	p := m.Place()
	p.edit, p.flags = -1, 0
	if p.form == framedSummary {
		p.form = opSummary
	}
	if p.form == opSummary { // made by an op
		p.start, p.size = 0, 0
	}
	return p
}

// Reframed reports whether it is the summary of a patch in another frame than pi's.
func (m Piece) Reframed() bool { return m.form == framedSummary }

// Kind returns its role in the session.
func (m Piece) Kind() jsonl.Kind { return m.kind }

// Pos returns the index of its entry on the path.
func (m Piece) Pos() int { return int(m.pos) }

// Origin returns the entry of a message, and what put it there.
func (m Piece) Origin() origin.Origin {
	o := origin.Origin{Record: int(m.rec), By: int(m.rec), Op: int(m.op)}
	if m.edit >= 0 {
		o.By = int(m.edit)
	}
	return o
}

// Stored reports whether pi's estimate of the message differs from its size as sent, because it is sent with
// other text, or only kept by pi.
func (m Piece) Stored() bool {
	switch m.kind {
	case jsonl.Bash, jsonl.BranchMessage, jsonl.CompactionMessage:
		return m.flags&omitted == 0
	}
	return m.flags&omitted == 0 && m.flags&unsent != 0
}

// Edit returns the context_edit in force on it, -1 for none, and whether that omits it.
func (m Piece) Edit() (rec int, omits bool) { return int(m.edit), m.flags&omitted != 0 }

// Own reports whether it is the unedited message of a message entry.
func (m Piece) Own() bool { return m.form == plain && m.edit < 0 }

// Summary reports whether it is the summary of a compaction entry.
func (m Piece) Summary() bool { return m.form == summary }

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
