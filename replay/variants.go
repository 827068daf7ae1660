package replay

import "ctxtool/replay/origin"

// leaveOut applies an entry of a variant of pi that names entries to leave out
// (docs/session-format.md 21). They are edits without a replacement.
func (m *machine) leaveOut(rec, pos int) (did Effect, err error) {
	line, err := m.load.lines.Line(rec)
	if err != nil {
		return Nothing, err
	}
	for _, target := range m.deleted(rec, line) {
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
