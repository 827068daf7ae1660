package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strconv"

	"ctxtool/replay"
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

// header returns the header to insert before the first line, nil if the file starts with one.
func (m *lineRepair) header() ([]byte, error) {
	head := m.s.Header()
	switch {
	case m.pass != records:
		return nil, nil
	case head < 0 && m.want("no-header", 0):
		return m.newHeader()
	case head <= 0 || !m.want("late-header", m.s.Line(head)):
		return nil, nil
	}
	line, err := m.s.NewReader().Line(head)
	if err != nil {
		return nil, err
	}
	c := sessionfmt.Change{Line: sessionfmt.Line{Number: m.s.Line(head)}} // the inserted header carries the note
	return bytes.Clone(m.repairHeader(&c, line)), nil
}

// newHeader makes a header for a file without one. Its id is a hash of the first entry, so
// that every repair yields the same, and its time is that of the entry.
func (m *lineRepair) newHeader() ([]byte, error) {
	line, err := m.s.NewReader().Line(0)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(line)
	id := hex.EncodeToString(sum[:16])
	head := `{"type":"session",`
	if m.s.Version > 1 {
		head += `"version":3,`
	}
	head += fmt.Sprintf(`"id":"%s-%s-%s-%s-%s"`, id[:8], id[8:12], id[12:16], id[16:20], id[20:])
	if at := line.Get("timestamp"); at.IsString() {
		head += `,"timestamp":` + string(at)
	}
	return []byte(head + `,"cwd":""}`), nil
}

// repairHeader gives the header a valid id and version.
func (m *lineRepair) repairHeader(c *sessionfmt.Change, line []byte) []byte {
	v := jsonl.Value(jsonl.Trim(line))
	var fields []jsonl.Field
	if id := v.Get("id"); !id.IsString() && m.repaired("header-id", c.Line) {
		text := string(id)
		if !id.IsNumber() {
			sum := sha256.Sum256(v)
			text = hex.EncodeToString(sum[:16])
		}
		fields = append(fields, jsonl.Field{Name: "id", Value: jsonl.AppendQuoted(nil, text)})
		c.Notes = append(c.Notes, "the session gets the id "+text)
	}
	if _, ok := v.Get("version").Version(); !ok && m.repaired("version", c.Line) {
		fields = append(fields, jsonl.Field{Name: "version", Value: jsonl.Value("3")})
		c.Notes = append(c.Notes, "the version is set to 3")
	}
	if fields == nil {
		return line
	}
	return v.AppendEdited(nil, fields...)
}

// own repairs a line of another agent's session.
func (m *lineRepair) own(c *sessionfmt.Change) {
	line := bytes.Trim(c.Raw, "\x00")
	if len(line) == len(c.Raw) || !m.repaired("padded", c.Line) {
		line = c.Raw
	} else if c.Out = c.Raw; jsonl.Blank(line) {
		c.Notes = append(c.Notes, "a line of NUL bytes is taken out")
		return
	} else {
		c.Notes = append(c.Notes, "the NUL bytes around it are taken out")
	}
	switch v, err := jsonl.ParseValue(jsonl.Trim(line)); {
	case err != nil:
		return
	case !v.IsObject():
		m.out(c, "scalar-line", "a line without entry is taken out")
		return
	}
	c.New = [][]byte{m.readable(c, line)}
	m.end(c)
}

// keeps returns an error unless the context at the leaf of a repaired session has all that it
// had before, in the same order.
func keeps(was, now *sessionfmt.Session) error {
	next, stop := iter.Pull2(contents(was))
	defer stop()
	want, err, left := next()
	for got, bad := range contents(now) {
		if bad != nil {
			err = bad
		}
		if err != nil || !left {
			break
		}
		if bytes.Equal(got, want) {
			want, err, left = next()
		}
	}
	switch {
	case err != nil:
		return refuse(was, "repaired, its context cannot be replayed: %w", err)
	case left:
		return refuse(was, "repaired, its context would lose messages")
	}
	return nil
}

// refuse is the error of a session whose repair is not written, with the reason.
func refuse(s *sessionfmt.Session, format string, args ...any) error {
	return sessionfmt.Errorf(format, args...).In(s.Name).
		Hinted("ctxtool check " + sessionfmt.Clean(s.Name) + " lists the damage")
}

// contents yields what the context at the leaf of a session has: each block of each message
// after its role.
func contents(s *sessionfmt.Session) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		e, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
		if err != nil {
			yield(nil, err)
			return
		}
		for m, err := range e.CachedMessages() {
			var f [2]jsonl.Value
			if err == nil {
				m.Raw.Fields(f[:], "role", "content")
			}
			if !f[1].IsArray() && !yield(slices.Concat(f[0], f[1]), err) {
				return
			}
			for block := range f[1].Elements {
				if !yield(slices.Concat(f[0], block), nil) {
					return
				}
			}
		}
	}
}
