package replay

import "ctxtool/sessionfmt"

// A message is one message of a context, known by where its text stands in the
// session; it holds no text itself.
type message struct {
	rec  int32 // the record that it comes from
	pos  int32 // that record's place on the path
	edit int32 // the context_edit in force on it, -1 for none
	op   int32 // the op of a transform that put it there, -1 for the entry itself

	// The stretch of the record's line that holds it, bytes; size 0 where it is
	// made from the record's fields.
	start, size uint32

	tokens int32 // what it counts for, where the machine counts; see machine.count

	form  form
	kind  sessionfmt.Kind // its role
	flags uint8
}

// A form is how a message is made from its record.
type form uint8

const (
	plain      form = iota // the message of a message entry
	custom                 // from a custom_message entry
	branch                 // from a branch_summary entry
	summary                // a compaction entry's summary
	checkpoint             // a compaction entry's systemMessage
	given                  // from a patch, a provider message as it stands
	opSummary              // the summary of a compaction_apply op
)

const (
	omitted = 1 << iota // a context_edit left it out
	unsent              // no provider gets it: an unknown role, excluded bash
)

// shown says that the message is one of the request's, system messages aside.
func (m *message) shown() bool {
	return m.flags&(omitted|unsent) == 0 && m.kind != sessionfmt.System
}

// place is what tells a message from any other: where it stands, and what made it
// so.
func (m *message) place() message {
	p := *m
	p.tokens = 0
	return p
}

// itself is what a message stays through edits.
func (m *message) itself() message {
	p := m.place()
	p.edit, p.flags = -1, 0
	return p
}

// origin is where a message comes from, and what put it there.
func (m *message) origin() Origin {
	o := Origin{Record: int(m.rec), By: int(m.rec), Op: int(m.op)}
	if m.edit >= 0 {
		o.By = int(m.edit)
	}
	return o
}
