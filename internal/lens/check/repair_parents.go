package check

import (
	"ctxtool/sessionfmt"
	"sort"
)

// parents decides the parent of each entry whose own is removed, lost or missing.
func (m *linkRepair) parents() {
	m.before = make([]int32, m.s.Len())
	last := int32(-1)
	for i := range m.s.Len() {
		m.before[i] = last
		if m.stays(i) {
			last = int32(i)
		}
	}
	for i := range m.s.Len() {
		if !m.stays(i) {
			continue
		}
		p := m.s.Parent(i)
		switch {
		case p == i:
			if m.repaired("self-parent", i) {
				m.link(i, int(m.before[i]), "it was its own parent")
			}
		case m.s.Orphan(i):
			if m.repaired("orphan", i) {
				m.adopt(i)
			}
		case p >= 0:
			if at := m.nearest(p, i); at == i { // another entry has its id too
				m.link(i, int(m.before[i]), "it was its own parent")
			} else if at != p {
				m.up[i] = at
				if m.gone[p] != "" {
					m.note(i, "reparented to %s: its parent is removed", m.name(at))
				} else {
					m.note(i, "its parent is %s, the entry of that id before it", m.name(at))
				}
			}
			if m.ids[m.parent(i)] != "" {
				m.note(i, "its parent has a new id")
			}
		}
	}
	m.breakCycles()
}

// parent returns an entry's parent in the repaired file.
func (m *linkRepair) parent(i int) int {
	if p, ok := m.up[i]; ok {
		return p
	}
	return m.s.Parent(i)
}

func (m *linkRepair) link(i, parent int, why string) {
	m.up[i] = parent
	m.note(i, "reparented to %s: %s", m.name(parent), why)
}

// name describes an entry in a note.
func (m *linkRepair) name(i int) string {
	if i < 0 {
		return "the root"
	}
	return sessionfmt.Quote(m.id(i))
}

// twin returns the entry that a reference from record from to record p means: of several
// entries with one id, the nearest before from.
func (m *linkRepair) twin(p, from int) int {
	list := m.twins[m.s.ID(p)]
	if len(list) == 0 {
		return p
	}
	return list[max(0, sort.SearchInts(list, from)-1)]
}

// nearest returns the entry that such a reference means; if it is removed, its nearest
// ancestor that stays.
func (m *linkRepair) nearest(p, from int) int {
	for steps := 0; p >= 0 && steps <= m.s.Len(); steps++ {
		if p = m.twin(p, from); m.gone[p] == "" {
			return p
		}
		if p == m.s.Parent(p) {
			return -1
		}
		p = m.s.Parent(p)
	}
	return -1
}

// adopt gives an orphan a parent: the nearest ancestor that is left if the ids in lost lines
// are still legible, else the entry before it.
func (m *linkRepair) adopt(i int) {
	id := m.read.Entry(i).Get("parentId").Text()
	if head := m.s.Header(); head >= 0 && id == m.s.ID(head) {
		m.link(i, -1, "its parent is the session itself")
		return
	}
	p, known := m.ancestor(id)
	up := m.nearest(p, i)
	switch {
	case !known, up == i: // the second: the lost lines closed a cycle
		m.link(i, int(m.before[i]), "the entry before it in the file, since its parent is lost")
	case p < 0:
		m.link(i, -1, "its parent is lost, and was a root")
	default:
		m.link(i, up, "the nearest ancestor that is left")
	}
}

// ancestor returns the nearest ancestor of a lost entry that is left, -1 if it was a child
// of the root. The result is cached for all lost entries on the way.
func (m *linkRepair) ancestor(id string) (rec int, known bool) {
	var way []string
	rec = -1
	for {
		up, lost := m.lost[id]
		if !lost || len(way) > len(m.lost) { // the second: a cycle
			break
		}
		way = append(way, id)
		id = up
		if rec = m.s.Find(up); rec >= 0 || up == "" {
			known = true
			break
		}
	}
	for _, w := range way {
		m.lost[w] = id
		if !known {
			delete(m.lost, w)
		}
	}
	return rec, known
}

// breakCycles reparents the first entry of each parent cycle to the entry before it, unless
// that is its descendant. All cycles are broken before any entry is reparented, so that every
// walk towards a root ends.
func (m *linkRepair) breakCycles() {
	all := cycles(m.s.Len(), m.parent)
	if len(all) == 0 {
		return
	}
	up := make([]int32, m.s.Len()) // an ancestor of each record; root shortens the paths
	for i := range up {
		if up[i] = int32(m.parent(i)); int(up[i]) == i {
			up[i] = -1
		}
	}
	for _, c := range all {
		up[c.first] = -1
	}
	for _, c := range all {
		if _, ours := m.up[c.first]; !ours && !m.repaired("cycle", c.first) {
			continue
		}
		to := m.before[c.first]
		if to >= 0 && root(up, to) == int32(c.first) {
			to = -1
		}
		up[c.first] = to
		m.link(c.first, int(to), "its parents form a cycle")
	}
}

// root returns the root above i, and halves the path to it for later calls.
func root(up []int32, i int32) int32 {
	for up[i] >= 0 {
		if next := up[up[i]]; next >= 0 {
			up[i] = next
		}
		i = up[i]
	}
	return i
}
