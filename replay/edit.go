package replay

import (
	"cmp"
	"slices"

	"ctxtool/sessionfmt"
)

// An edit is the last context_edit of a record.
type edit struct {
	rec, pos int32
	omit     bool
}

// apply puts the edit in force on one message.
func (e edit) apply(msg *message) {
	msg.flags &^= omitted
	msg.edit = -1
	if e.omit {
		msg.flags |= omitted
		msg.edit = e.rec
	} else if msg.kind.Replaceable() {
		msg.edit = e.rec
	}
}

// edit applies a context_edit (spec/pi-1.5.md 4.5). Where its target comes only
// later, it waits.
func (m *machine) edit(rec, pos int) (Effect, error) {
	line, err := m.load.lines.Line(rec)
	if err != nil {
		return Nothing, err
	}
	target := -1
	if id := line.Get("targetId"); id.IsString() {
		target = m.r.Session.Find(id.Text())
	}
	replacement := line.Get("replacement")
	if !replacement.Exists() {
		m.r.find("edit-no-replacement", rec, "the edit has no replacement: pi cannot build a context with its target in it; it changes nothing")
		return Nothing, nil
	}
	if target < 0 || m.r.Session.Kind(target) == sessionfmt.Transform {
		return Nothing, nil
	}
	if !replacement.IsNull() && !replacement.Get("content").Exists() {
		m.r.find("edit-no-content", rec, "the replacement has no content: the message stays without any, and pi cannot count it")
	}
	e := edit{rec: int32(rec), pos: int32(pos), omit: replacement.IsNull()}
	m.edits[int32(target)] = e
	did := Nothing
	m.each(func(s *state) {
		applied, failed := m.applyEdit(s, e, int32(target))
		if applied && s == m.now() {
			did = Edited
		}
		err = cmp.Or(err, failed)
	})
	return did, err
}

// applyEdit applies an edit to the messages of its target that are in a state.
func (m *machine) applyEdit(s *state, e edit, target int32) (bool, error) {
	i := m.place(s, target)
	if i < 0 {
		return false, nil
	}
	for ; i < s.msgs.n && s.msgs.at(i).rec == target; i++ {
		msg := *s.msgs.at(i)
		e.apply(&msg)
		if err := m.size(&msg); err != nil {
			return false, err
		}
		s.msgs.set(i, msg)
	}
	if k := m.r.Session.Kind(int(target)); k != sessionfmt.System && k != sessionfmt.Compaction {
		return true, nil // nothing of the prompt comes from it
	}
	for k, d := range s.deltas {
		if d.op == nil && d.m.rec == target {
			s.deltas = slices.Clone(s.deltas) // snapshots keep theirs
			e.apply(&s.deltas[k].m)
		}
	}
	return true, nil
}

// Edits are the edits in force on the messages of the context, those included that an
// edit leaves out: for each record the edit's.
func (e *Envelope) Edits() map[int]int {
	all := map[int]int{}
	for _, m := range e.state.msgs.all {
		if m.edit >= 0 {
			all[int(m.rec)] = int(m.edit)
		}
	}
	return all
}
