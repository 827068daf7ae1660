package replay

import (
	"slices"

	"ctxtool/sessionfmt"
)

// compact applies a compaction entry: the state without compactions is cut anew
// (spec/pi-1.5.md 4.2, spec/pi-format.md 4.3).
func (m *machine) compact(msg message) (Effect, error) {
	rec := int(msg.rec)
	if m.r.opt.Without[rec] {
		return Nothing, nil
	}
	if m.r.Rules == ByEnvelope {
		shadow, err := m.r.Shadows(rec)
		if err != nil || shadow {
			return Nothing, err
		}
	}
	line, err := m.load.lines.Line(rec)
	if err != nil {
		return Nothing, err
	}
	before := m.now()
	first, from := m.firstKept(rec, line)
	next := state{from: int32(from), uncached: slices.Clip(m.base.uncached)}
	m.watch.take(before.msgs.first(before.msgs.n), taker{msg.origin(), true}) // what is kept of them nobody will look for
	m.watch.take(m.base.msgs.first(first), taker{msg.origin(), true})
	m.cut = &next
	m.where = map[*state]map[int32]int{&m.base: m.where[&m.base]}

	if v := line.Get("systemMessage"); v.Truthy() {
		cp := msg
		cp.form, cp.kind = checkpoint, v.Get("role").RoleKind()
		cp.start, cp.size = stretch(line, v)
		if cp.kind >= sessionfmt.TransformMessage {
			cp.flags |= unsent
		}
		if err := m.size(&cp); err != nil {
			return Nothing, err
		}
		if err := m.add(&next, cp); err != nil {
			return Nothing, err
		}
		if cp.kind != sessionfmt.System {
			m.r.find("checkpoint-role", rec, "the compaction's systemMessage has another role: pi sends it as it stands")
		}
	} else if hasSystem(m.base.deltas) {
		m.r.find("no-checkpoint", rec, "a compaction without checkpoint: prompt and tools are lost to pi until it declares them again")
	}
	msg.form, msg.kind = summary, sessionfmt.CompactionMessage
	if err := m.size(&msg); err != nil {
		return Nothing, err
	}
	if err := m.add(&next, msg); err != nil {
		return Nothing, err
	}
	heads := next.msgs.n
	if err := m.keep(&next, &m.base.msgs, first); err != nil {
		return Nothing, err
	}
	for _, d := range m.base.deltas {
		if d.op != nil {
			next.deltas = append(next.deltas, d)
		}
	}
	return Compacted, m.watch.compacted(m, msg, line, before, &next, heads)
}

// keep adds the messages that a compaction keeps, those of a list from place first
// on, to the state that it makes.
func (m *machine) keep(next *state, of *list, first int) error {
	for i := first; i < of.n; i++ {
		kept := *of.at(i)
		if kept.form == plain && kept.kind == sessionfmt.System {
			continue
		}
		// An edit that lies before the kept entries is forgotten.
		if kept.edit >= 0 && m.edits[kept.rec].pos < next.from {
			kept.edit = -1
			kept.flags &^= omitted
			if err := m.size(&kept); err != nil {
				return err
			}
		}
		next.msgs.push(kept)
	}
	return nil
}

// Shadows says of a compaction entry whether it only repeats a patch: its parent is a
// context_transform named compaction. Labels in between do not count, to the reference
// code they do.
func (r *Replay) Shadows(rec int) (bool, error) {
	up := r.Session.Parent(rec)
	for steps := 0; up >= 0 && !r.opt.Lenient && r.Session.Kind(up) == sessionfmt.Label && steps < r.Session.Len(); steps++ {
		up = r.Session.Parent(up)
	}
	if up < 0 || r.Session.Kind(up) != sessionfmt.Transform {
		return false, nil
	}
	line, err := r.Session.NewReader().Line(up)
	return line.Get("transformerName").Is("compaction"), err
}

// firstKept is where keeping starts for a compaction: the index of the first
// message kept in the list without compactions, and the place on the path from
// which edits count.
func (m *machine) firstKept(rec int, line value) (first, from int) {
	var f [2]value
	line.Fields(f[:], "firstKeptEntryId", "firstKeptEntryIndex")
	kept := m.r.Session.FirstKept(rec, f[0], f[1])
	if kept == rec {
		return m.base.msgs.n, m.pos
	}
	if from = m.placeOnPath(kept); from < 0 {
		first, from = m.base.msgs.n, m.pos
		if m.r.Rules == ByEnvelope {
			first, from = 0, 0
		}
		m.r.find("kept-unknown", rec, "the compaction's first kept entry %s is not on the path before it: pi keeps nothing of what came before, the envelope rules keep everything", orMissing(f[0]))
		return first, from
	}
	first, exact := m.base.msgs.from(int32(from))
	if exact {
		return first, from
	}
	m.r.find("kept-no-message", rec, "the compaction's first kept entry (%s) gives no message: keeping starts at the next one after it", m.r.Session.Kind(kept))
	return first, from
}

// placeOnPath is where a record stands on the path before the entry at hand, -1
// if it does not.
func (m *machine) placeOnPath(rec int) int { return m.path.place(rec, m.pos) }

// hasSystem says whether there are system messages: then prompt and tools are in
// the session.
func hasSystem(deltas []delta) bool {
	for _, d := range deltas {
		if d.op == nil && d.m.flags&omitted == 0 {
			return true
		}
	}
	return false
}

// stretch is where v, which must be a piece of line itself and no copy, stands
// in it: both end their capacity at the same byte.
func stretch(line, v value) (start, size uint32) {
	return uint32(cap(line) - cap(v)), uint32(len(v))
}
