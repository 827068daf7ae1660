package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// header returns the header to insert before the first line, nil if the file starts with one.
func (m *lineRepair) header() ([]byte, error) {
	head := m.s.Header()
	if head < 0 && m.want("no-header", 0) {
		return m.newHeader()
	}
	if head <= 0 || !m.want("late-header", m.s.Line(head)) {
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
