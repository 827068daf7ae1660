package check

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"ctxtool/sessionfmt"
)

// A lineMend is the first pass of a repair: it mends single lines and the header.
type lineMend struct {
	s    *sessionfmt.Session
	want pick
	any  bool // there is something to mend

	first  int               // the line that the header goes in front of
	header []byte            // the header that goes in front of the first line, where it is not there
	found  map[string]bool   // code and line of the findings to mend
	lost   map[string]string // of lines that cannot be kept: their ids and their parents', where they still tell
}

func newLineMend(s *sessionfmt.Session, want pick) *lineMend {
	m := &lineMend{s: s, want: want, found: map[string]bool{}, lost: map[string]string{}}
	for _, f := range s.Findings {
		if f.Code == "more" || slices.Contains(mends[:14], f.Code) && want(f.Code, f.Line) {
			m.any = true
		}
	}
	return m
}

// mended says whether the line has that code and is to be mended for it.
func (m *lineMend) mended(code string, l sessionfmt.Line) bool { return m.want(code, l.Number) }

// changes goes through the lines.
func (m *lineMend) changes(yield func(sessionfmt.Change, error) bool) {
	front, err := m.front()
	if err != nil {
		yield(sessionfmt.Change{}, err)
		return
	}
	for l, err := range m.s.Lines {
		if err != nil {
			yield(sessionfmt.Change{Line: l}, err)
			return
		}
		c := sessionfmt.Change{Line: l}
		if l.Record < 0 {
			m.rest(&c)
		} else {
			m.record(&c)
		}
		if front != nil && (c.Same || len(c.New) > 0 || c.Record >= 0) {
			if c.Same {
				c.Same, c.New = false, [][]byte{l.Raw}
			}
			c.New = append([][]byte{front}, c.New...)
			c.Notes = append(c.Notes, "the header is put in front of it")
			front = nil
		}
		if !yield(c, nil) {
			return
		}
	}
}

// front is the header that has to be put in front, nil where it is there.
func (m *lineMend) front() ([]byte, error) {
	head := m.s.Header()
	if head > 0 && m.want("late-header", m.s.Line(head)) {
		line, err := m.s.NewReader().Line(head)
		return append([]byte(nil), line...), err
	}
	if head >= 0 || !m.want("no-header", 0) {
		return nil, nil
	}
	return m.newHeader()
}

// newHeader makes a header for a file without one: the id is made from the first
// entry, so that it is the same each time, and the time is that entry's.
func (m *lineMend) newHeader() ([]byte, error) {
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

// rest mends a line without record.
func (m *lineMend) rest(c *sessionfmt.Change) {
	line := bytes.TrimSpace(c.Raw)
	switch {
	case !c.Ended && c.Number == 1 && string(c.Raw) == "\xef\xbb\xbf":
		m.out(c, "bom", "the byte order mark is taken away")
		return
	case sessionfmt.TrimJS(string(line)) == "":
		c.Same = true
		return
	}
	if _, err := sessionfmt.ParseValue(line); err == nil {
		m.out(c, "falsy-line", "a line without entry is taken out")
		return
	}
	records, whole := salvage(line, m.s.Version)
	code := "malformed"
	switch {
	case len(records) > 0 && records[0].at == 0:
		code = "glued"
	case !c.Ended:
		code = "torn"
	}
	if !m.mended(code, c.Line) {
		c.Same = true
		return
	}
	for _, r := range records {
		c.New = append(c.New, r.text)
	}
	if !whole {
		m.remember(line)
		c.Out = c.Raw
	}
	switch {
	case whole:
		c.Notes = append(c.Notes, fmt.Sprintf("split into %d records", len(records)))
	case len(records) > 0:
		c.Notes = append(c.Notes, fmt.Sprintf("%s saved out of it; the rest is no record", plural(len(records), "record is", "records are")))
	case code == "torn":
		c.Notes = append(c.Notes, "the torn end is taken out")
	default:
		c.Notes = append(c.Notes, "what is not JSON is taken out")
	}
}

// out takes a line out, to the quarantine.
func (m *lineMend) out(c *sessionfmt.Change, code, note string) {
	if !m.mended(code, c.Line) {
		c.Same = true
		return
	}
	c.Out = c.Raw
	c.Notes = append(c.Notes, note)
}

// record mends a line that holds a record.
func (m *lineMend) record(c *sessionfmt.Change) {
	kind := m.s.Kind(c.Record)
	switch {
	case kind == sessionfmt.Scalar:
		m.out(c, "scalar-line", "a line without entry is taken out")
		return
	case kind == sessionfmt.Header && c.Record != m.s.Header():
		m.out(c, "second-header", "the second header is taken out")
		return
	case kind == sessionfmt.Header && c.Record > 0 && m.mended("late-header", c.Line):
		c.Notes = append(c.Notes, "moved to the front")
		return
	}
	line := c.Raw
	if mended := sessionfmt.MendUTF8(line); !bytes.Equal(mended, line) && m.mended("invalid-utf8", c.Line) {
		line, c.Out = mended, c.Raw
		c.Notes = append(c.Notes, "U+FFFD in place of bytes that are not UTF-8")
	}
	if kind == sessionfmt.Header {
		line = m.mendHeader(c, line)
	}
	if !c.Ended && m.mended("unterminated", c.Line) {
		c.Notes = append(c.Notes, "the newline is added")
	}
	if len(c.Notes) == 0 {
		c.Same = true
		return
	}
	c.New = [][]byte{line}
}

// mendHeader gives the header an id and a version that can be read.
func (m *lineMend) mendHeader(c *sessionfmt.Change, line []byte) []byte {
	v := sessionfmt.Value(bytes.TrimSpace(line))
	var fields []sessionfmt.Field
	if id := v.Get("id"); !id.IsString() && m.mended("header-id", c.Line) {
		text := string(id)
		if !id.IsNumber() {
			sum := sha256.Sum256(v)
			text = hex.EncodeToString(sum[:16])
		}
		fields = append(fields, sessionfmt.Field{Name: "id", Value: sessionfmt.AppendQuoted(nil, text)})
		c.Notes = append(c.Notes, "the session gets the id "+text)
	}
	for _, f := range m.s.Findings {
		if f.Code == "version" && m.mended("version", c.Line) {
			fields = append(fields, sessionfmt.Field{Name: "version", Value: sessionfmt.Value("3")})
			c.Notes = append(c.Notes, "the version is set to 3")
		}
	}
	if fields == nil {
		return line
	}
	return v.AppendEdited(nil, fields...)
}

// origin is the number of the line that each new line comes from, from 1.
func (m *lineMend) origin() ([]int32, error) {
	origin := []int32{0}
	for c, err := range m.changes {
		if err != nil {
			return nil, err
		}
		n := len(c.New)
		if c.Same {
			n = 1
		}
		for range n {
			origin = append(origin, int32(c.Number))
		}
	}
	return origin, nil
}
