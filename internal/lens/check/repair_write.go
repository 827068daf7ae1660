package check

import (
	"bytes"
	"strconv"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// changes calls f with the change of each line of the session.
func (m *linkRepair) changes(yield func(sessionfmt.Change, error) bool) {
	for l, err := range m.s.Lines {
		c := sessionfmt.Change{Line: l, Same: true}
		if err == nil && l.Record >= 0 {
			m.change(&c)
		}
		if !yield(c, err) || err != nil {
			return
		}
	}
}

// change computes the change of a record's line.
func (m *linkRepair) change(c *sessionfmt.Change) {
	i := c.Record
	if why := m.gone[i]; why != "" {
		c.Same, c.Out = false, c.Raw
		c.Notes = append(c.Notes, why)
		return
	}
	if len(m.notes[i]) == 0 && len(m.ids) == 0 && len(m.gone) == 0 {
		return
	}
	var fields []jsonl.Field
	set := func(name, text string) {
		fields = append(fields, jsonl.Field{Name: name, Value: jsonl.AppendQuoted(nil, text)})
	}
	if id := m.ids[i]; id != "" {
		set("id", id)
	}
	p, moved := m.up[i]
	switch {
	case moved && p < 0:
		fields = append(fields, jsonl.Field{Name: "parentId", Value: jsonl.Value("null")})
	case moved || m.parent(i) >= 0 && m.ids[m.parent(i)] != "":
		set("parentId", m.id(m.parent(i)))
	}
	pad := len(c.Raw) - len(bytes.TrimLeft(c.Raw, " \t\r"))
	line := jsonl.Value(bytes.TrimSpace(c.Raw))
	fields = append(fields, m.references(line, i)...)
	if len(fields) == 0 {
		return
	}
	if c.Notes = m.notes[i]; len(c.Notes) == 0 {
		c.Notes = []string{"what it refers to has a new id, or is taken out"}
	}
	out := line.AppendEdited(append([]byte(nil), c.Raw[:pad]...), fields...)
	c.Same, c.New = false, [][]byte{append(out, c.Raw[pad+len(line):]...)}
}

// namesOthers are the fields by which entries name others, besides their parents.
var namesOthers = map[jsonl.Kind]string{
	jsonl.Label: "targetId", jsonl.ContextEdit: "targetId", jsonl.Compaction: "firstKeptEntryId",
	jsonl.BranchSummary: "fromId",
	jsonl.Reset:         "firstKeptEntryId", jsonl.ChildUsage: "targetId",
}

// references returns the new values of the fields that name other entries, if those are
// renamed or removed.
func (m *linkRepair) references(line jsonl.Value, i int) []jsonl.Field {
	if len(m.ids) == 0 && len(m.gone) == 0 {
		return nil
	}
	name, refers := namesOthers[m.s.Kind(i)]
	if !refers {
		return nil
	}
	if m.s.Version < 2 {
		return m.keptIndex(line, i)
	}
	was := m.s.FindValue(line.Get(name))
	if was < 0 {
		return nil
	}
	p := was
	switch twin := m.twin(p, i); {
	case name == "firstKeptEntryId" && p == i: // a compaction that names itself keeps nothing
	case m.gone[twin] == "":
		p = twin
	case name == "firstKeptEntryId":
		p = m.nextKept(twin, i)
	case m.s.Kind(i) == jsonl.ContextEdit:
		return nil // a removed entry gave no message to edit, but its parent may
	default:
		p = m.nearest(p, i)
	}
	if p < 0 || m.ids[p] == "" && p == was {
		return nil
	}
	return []jsonl.Field{{Name: name, Value: jsonl.AppendQuoted(nil, m.id(p))}}
}

// nextKept returns the new first kept entry of compaction i if the old one, p, is removed:
// the next entry on its path, or i itself, which keeps nothing. It returns -1 if p is not an
// ancestor of i.
func (m *linkRepair) nextKept(p, i int) int {
	next := i
	for k, steps := m.s.Parent(i), 0; k >= 0 && steps < m.s.Len(); k, steps = m.s.Parent(k), steps+1 {
		if k == p {
			return next
		}
		if m.gone[k] == "" {
			next = k
		}
	}
	return -1
}

// keptIndex is nextKept for version 1, where compactions count records.
func (m *linkRepair) keptIndex(line jsonl.Value, i int) []jsonl.Field {
	const name = "firstKeptEntryIndex"
	k, ok := line.Get(name).Float()
	if !ok || m.s.Kind(i) != jsonl.Compaction {
		return nil
	}
	less := 0
	for gone := range m.gone {
		if float64(gone) < k {
			less++
		}
	}
	if less == 0 {
		return nil
	}
	return []jsonl.Field{{Name: name, Value: jsonl.Value(strconv.Itoa(int(k) - less))}}
}
