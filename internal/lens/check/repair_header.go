package check

import (
	"bytes"
	"crypto/sha256"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
)

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
		return refuse(was, "after the repair, its context cannot be replayed: %w", err)
	case left:
		return refuse(was, "after the repair, its context would lack messages")
	}
	return nil
}

// refuse returns the error of a session whose repair is not written, with the reason.
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
