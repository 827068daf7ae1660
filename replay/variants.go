package replay

import (
	"ctxtool/replay/origin"
	"ctxtool/sessionfmt/jsonl"
)

// leaveOut applies an entry of a variant of pi that leaves entries out: one that names them, or
// a reset, which leaves out all before its first kept entry (docs/session-format.md 21). They
// are edits without a replacement.
func (m *machine) leaveOut(rec, pos int) (did Effect, err error) {
	line, err := m.load.lines.Line(rec)
	if err != nil {
		return Nothing, err
	}
	targets := m.deleted(rec, line)
	if m.r.Session.Kind(rec) == jsonl.Reset {
		targets = m.beforeKept(rec, line)
	}
	for _, target := range targets {
		e := edit{rec: int32(rec), pos: int32(pos), target: target, omit: true}
		m.edits[target] = e
		if err := m.do(Change{Do: OpRemove, By: origin.Origin{Record: rec, By: rec, Op: -1}, edit: e}); err != nil {
			return Nothing, err
		}
		if m.change.changed {
			did = Edited
		}
	}
	return did, nil
}

// deleted returns the entries that a deletion names. One of a part of a message is not applied.
func (m *machine) deleted(rec int, line value) (targets []int32) {
	for el := range line.Get("deletedTargets").Elements {
		if !el.Get("kind").Is("entry") {
			m.r.addFinding("part-kept", rec, "the deletion of a part of entry %s is not applied", orMissing(el.Get("entryId")))
		} else if target := m.r.Session.Find(el.Get("entryId").Text()); target >= 0 {
			targets = append(targets, int32(target))
		}
	}
	return targets
}

// beforeKept returns the entries whose messages a reset leaves out.
func (m *machine) beforeKept(rec int, line value) (targets []int32) {
	end := m.base.msgs.n
	if line.Get("firstKeptEntryId").IsString() {
		end, _ = m.firstKept(rec, line)
	}
	for i := range end {
		if msg := m.base.msgs.at(i); msg.kind != jsonl.System && msg.flags&omitted == 0 {
			targets = append(targets, msg.rec)
		}
	}
	return targets
}
