package check

import (
	"crypto/sha256"
	"fmt"
	"sort"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A linkRepair is the last pass of a repair: over ids, parents, and entries with which no
// context can be built. Its fields override the session.
type linkRepair struct {
	s    *sessionfmt.Session
	want pick
	lost map[string]string // of lines that the passes before removed: their ids and those of their parents
	read *sessionfmt.Reader

	gone   map[int]string   // records to remove, with the reason
	ids    map[int]string   // new ids
	up     map[int]int      // new parents, -1 for a root
	notes  map[int][]string // the repairs of a record
	names  *sessionfmt.Namer
	twins  map[string][]int // by id that several entries have: those that stay, in order
	before []int32          // by record, the last entry before it that stays, -1 for none
}

// newLinkRepair decides the repairs of each record; lost has the ids and parents of lines
// that the passes before removed.
func newLinkRepair(s *sessionfmt.Session, lost map[string]string, want pick) (*linkRepair, error) {
	m := &linkRepair{
		s: s, want: want, lost: lost, read: s.NewReader(),
		gone: map[int]string{}, ids: map[int]string{}, up: map[int]int{}, notes: map[int][]string{},
		names: s.NewNamer(), twins: map[string][]int{},
	}
	m.takeOut()
	if s.Version >= 2 { // else its entries have no ids and parents yet
		m.duplicates()
		m.missingIDs()
		m.parents()
	}
	return m, m.read.Err()
}

func (m *linkRepair) any() bool { return len(m.gone)+len(m.notes) > 0 }

// repaired reports whether a record has a finding with that code that is to be repaired.
func (m *linkRepair) repaired(code string, i int) bool { return m.want(code, m.s.Line(i)) }

func (m *linkRepair) note(i int, format string, args ...any) {
	m.notes[i] = append(m.notes[i], fmt.Sprintf(format, args...))
}

// takeOut removes the entries with which pi cannot build a context.
func (m *linkRepair) takeOut() {
	for i := range m.s.Len() {
		switch m.s.Kind(i) {
		case jsonl.NoMessage:
			if m.repaired("no-message", i) {
				m.gone[i] = "a message entry without a message is taken out"
			}
		case jsonl.ContextEdit:
			r := m.read.Entry(i).Get("replacement")
			switch {
			case !r.Exists() && m.repaired("edit-no-replacement", i):
				m.gone[i] = "an edit without replacement is taken out"
			case !r.IsNull() && !r.Get("content").Exists() && m.repaired("edit-no-content", i):
				m.gone[i] = "an edit whose replacement has no content is taken out"
			}
		}
	}
}

// stays reports whether a record is an entry of the repaired file.
func (m *linkRepair) stays(i int) bool { return m.s.Kind(i).IsEntry() && m.gone[i] == "" }

// duplicates removes identical lines but the first, and renames all entries with an id but
// the last.
func (m *linkRepair) duplicates() {
	ids := map[string]bool{}
	for i := range m.s.Len() {
		if m.s.Shadowed(i) {
			ids[m.s.ID(i)] = true
		}
	}
	if len(ids) == 0 {
		return
	}
	seen := map[[sha256.Size]byte]bool{} // lines
	for i := range m.s.Len() {
		id := m.s.ID(i)
		if !m.stays(i) || !ids[id] {
			continue
		}
		sum := sha256.Sum256(m.read.Entry(i))
		if seen[sum] && m.repaired("duplicate-id", i) {
			m.gone[i] = "an earlier line is identical, and this one is removed"
			continue
		}
		seen[sum] = true
		m.twins[id] = append(m.twins[id], i)
	}
	for id, list := range m.twins {
		ids[id] = len(list) > 1
	}
	for i := range m.s.Len() {
		id := m.s.ID(i)
		if !m.stays(i) || !ids[id] {
			continue
		}
		list := m.twins[id]
		next := sort.SearchInts(list, i) + 1 // which has the finding
		if next == len(list) || !m.repaired("duplicate-id", list[next]) {
			continue
		}
		m.rename(i)
		m.note(i, "renamed from %s to %s: line %d has the same id", sessionfmt.Quote(id), m.ids[i],
			m.s.Line(list[len(list)-1]))
	}
}

// rename gives a record a new id.
func (m *linkRepair) rename(i int) {
	parent := ""
	if p := m.s.Parent(i); p >= 0 {
		parent = m.id(p)
	}
	m.ids[i] = m.names.Name(parent, m.read.Entry(i))
}

// id returns a record's id in the repaired file.
func (m *linkRepair) id(i int) string {
	if id := m.ids[i]; id != "" {
		return id
	}
	return m.s.ID(i)
}

// missingIDs gives ids to entries without one, and turns ids that are numbers into strings.
func (m *linkRepair) missingIDs() {
	for i := range m.s.Len() {
		id := m.s.ID(i)
		switch {
		case !m.stays(i):
		case id == "" && m.repaired("missing-id", i):
			m.rename(i)
			m.note(i, "gets the id %s", m.ids[i])
		case id != "" && m.s.WrongID(i) && m.repaired("id-type", i):
			if m.ids[i] = id; !m.names.Taken(id) {
				m.names.Take(id)
			} else {
				m.rename(i)
			}
			m.note(i, "its id becomes the string %s", m.ids[i])
		}
	}
}
