package check

import (
	"bytes"

	"ctxtool/sessionfmt"
)

// changes goes through the lines of the session.
func (m *linkMend) changes(yield func(sessionfmt.Change, error) bool) {
	for l, err := range m.s.Lines {
		c := sessionfmt.Change{Line: l, Same: true}
		if err == nil && l.Record >= 0 {
			err = m.change(&c)
		}
		if !yield(c, err) || err != nil {
			return
		}
	}
}

// change says what becomes of a record's line.
func (m *linkMend) change(c *sessionfmt.Change) error {
	i := c.Record
	if why := m.gone[i]; why != "" {
		c.Same, c.Out = false, c.Raw
		c.Notes = append(c.Notes, why)
		return nil
	}
	if len(m.notes[i]) == 0 && len(m.ids) == 0 {
		return nil
	}
	var fields []sessionfmt.Field
	set := func(name, text string) {
		fields = append(fields, sessionfmt.Field{Name: name, Value: sessionfmt.AppendQuoted(nil, text)})
	}
	if id := m.ids[i]; id != "" {
		set("id", id)
	}
	p, moved := m.up[i]
	switch {
	case moved && p < 0:
		fields = append(fields, sessionfmt.Field{Name: "parentId", Value: sessionfmt.Value("null")})
	case moved || m.parent(i) >= 0 && m.ids[m.parent(i)] != "":
		set("parentId", m.id(m.parent(i)))
	}
	pad := len(c.Raw) - len(bytes.TrimLeft(c.Raw, " \t\r"))
	line := sessionfmt.Value(bytes.TrimSpace(c.Raw))
	fields = append(fields, m.references(line, i)...)
	if len(fields) == 0 {
		return nil
	}
	if c.Notes = m.notes[i]; len(c.Notes) == 0 {
		c.Notes = []string{"what it refers to has a new id"}
	}
	out := line.AppendEdited(append([]byte(nil), c.Raw[:pad]...), fields...)
	c.Same, c.New = false, [][]byte{append(out, c.Raw[pad+len(line):]...)}
	return nil
}

// references are the fields of an entry that name others, as far as those have new
// ids.
func (m *linkMend) references(line sessionfmt.Value, i int) (fields []sessionfmt.Field) {
	if len(m.ids) == 0 {
		return nil
	}
	name := ""
	switch m.s.Kind(i) {
	case sessionfmt.Label, sessionfmt.ContextEdit:
		name = "targetId"
	case sessionfmt.Compaction:
		name = "firstKeptEntryId"
	case sessionfmt.BranchSummary:
		name = "fromId"
	default:
		return nil
	}
	v := line.Get(name)
	p := m.s.FindValue(v)
	if p < 0 {
		return nil
	}
	if name == "firstKeptEntryId" && p == i {
		p = i // its own id keeps nothing, whatever the id is
	} else {
		p = m.nearest(p, i)
	}
	if p >= 0 && (m.ids[p] != "" || p != m.s.FindValue(v)) {
		fields = append(fields, sessionfmt.Field{Name: name, Value: sessionfmt.AppendQuoted(nil, m.id(p))})
	}
	return fields
}
