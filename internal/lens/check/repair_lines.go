package check

import (
	"bytes"
	"fmt"
	"iter"
	"unicode/utf8"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A lineRepair is a pass of a repair over single lines. There are two: the records of a line
// are known only once broken lines are split. Lines of other agents' sessions have none: an entry
// may be several lines, or a part of one.
type lineRepair struct {
	s    *sessionfmt.Session
	want pick
	pass pass
	any  bool // there is something to repair

	lost map[string]string // of lines that cannot be kept: their ids and those of their parents, if legible
}

func newLineRepair(s *sessionfmt.Session, p pass, want pick) *lineRepair {
	m := &lineRepair{s: s, want: want, pass: p, lost: map[string]string{}}
	for _, f := range s.Findings {
		if c := Find(f.Code); f.Code == "more" || c != nil && c.mend&p != 0 && want(f.Code, f.Line) {
			m.any = true
		}
	}
	return m
}

// repaired reports whether the line has a finding with that code that is to be repaired.
func (m *lineRepair) repaired(code string, l sessionfmt.Line) bool { return m.want(code, l.Number) }

// changes calls f with the change of each line.
func (m *lineRepair) changes(yield func(sessionfmt.Change, error) bool) {
	front, err := m.header()
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
		switch has := l.Record >= 0; {
		case m.pass == splits && !has:
			m.broken(&c)
		case m.pass == records && has:
			c.New = m.record(&c)
		case m.pass == foreign:
			m.own(&c)
		}
		if c.Same = len(c.Notes) == 0; c.Same {
			c.New = nil
		}
		if front != nil && !l.IsMark() {
			if c.Same {
				c.Same, c.New = false, [][]byte{l.Raw}
			}
			c.New = append([][]byte{front}, c.New...)
			c.Notes = append(c.Notes, "the header is put before it")
			front = nil
		}
		if !yield(c, nil) {
			return
		}
	}
}

// broken repairs a line without a record.
func (m *lineRepair) broken(c *sessionfmt.Change) {
	if c.IsMark() {
		m.out(c, "bom", "the byte order mark is taken away")
		return
	}
	if c.Blank() {
		if bytes.HasPrefix(c.Raw, []byte("\ufeff")) { // it would begin the file once the first mark is gone
			m.out(c, "bom", "a line of byte order marks is taken out")
		}
		return
	}
	line := jsonl.Trim(bytes.Trim(c.Raw, "\x00"))
	if _, err := jsonl.ParseValue(line); err == nil {
		if m.s.Dialect() != nil {
			return // a part of an entry, or for display
		}
		m.out(c, "falsy-line", "a line without entry is taken out")
		return
	}
	if !m.repaired("malformed", c.Line) && !m.repaired("glued", c.Line) && !m.repaired("torn", c.Line) {
		return
	}
	records, whole := m.salvage(line)
	c.New = append(c.New, records...)
	if whole {
		c.Notes = append(c.Notes, fmt.Sprintf("split into %d records", len(records)))
		return
	}
	if id, parent, ok := jsonl.BrokenHead(line); ok {
		m.lost[id] = parent
	}
	c.Out = c.Raw
	switch {
	case len(records) > 0:
		c.Notes = append(c.Notes, fmt.Sprintf("%s saved out of it; the rest is no record",
			plural(len(records), "record is", "records are")))
	case !c.Ended:
		c.Notes = append(c.Notes, "the torn end is taken out")
	default:
		c.Notes = append(c.Notes, "what is not JSON is taken out")
	}
}

// out moves a line to the quarantine.
func (m *lineRepair) out(c *sessionfmt.Change, code, note string) {
	if m.repaired(code, c.Line) {
		c.Out = c.Raw
		c.Notes = append(c.Notes, note)
	}
}

// record repairs a line that holds a record.
func (m *lineRepair) record(c *sessionfmt.Change) [][]byte {
	switch kind := m.s.Kind(c.Record); {
	case kind == jsonl.Scalar:
		m.out(c, "scalar-line", "a line without entry is taken out")
		return nil
	case kind == jsonl.Header && c.Record != m.s.Header():
		m.out(c, "second-header", "the second header is taken out")
		return nil
	}
	line := m.readable(c, c.Raw)
	if c.Record == m.s.Header() {
		line = m.repairHeader(c, line)
		if c.Record > 0 && m.repaired("late-header", c.Line) {
			c.Notes = append(c.Notes, "moved to the front")
			return nil
		}
	}
	m.end(c)
	return [][]byte{line}
}

// readable returns a line with invalid UTF-8 replaced.
func (m *lineRepair) readable(c *sessionfmt.Change, line []byte) []byte {
	if utf8.Valid(line) || !m.repaired("invalid-utf8", c.Line) {
		return line
	}
	c.Out = c.Raw
	c.Notes = append(c.Notes, "U+FFFD in place of bytes that are not UTF-8")
	return jsonl.ReplaceInvalidUTF8(line)
}

func (m *lineRepair) end(c *sessionfmt.Change) {
	if !c.Ended && m.repaired("unterminated", c.Line) {
		c.Notes = append(c.Notes, "the newline is added")
	}
}

// traced is changes, but also appends to origin the source line of each line of the result.
func (m *lineRepair) traced(origin *[]int) iter.Seq2[sessionfmt.Change, error] {
	return func(yield func(sessionfmt.Change, error) bool) {
		for c, err := range m.changes {
			n := len(c.New)
			if c.Same && !c.IsMark() {
				n = 1
			}
			for range n {
				*origin = append(*origin, c.Number)
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

// recordStart begins the records of pi, which writes the type first.
const recordStart = `{"type":"`

// salvageBudget limits the bytes that salvage parses, as a multiple of the length of the
// line: a line of unterminated objects must not take quadratic time.
const salvageBudget = 8

// salvage finds the records in a line that is not JSON. Each begins with start. whole reports
// whether the line is only records.
func salvage(line []byte, start string, isRecord func(jsonl.Value) bool) (records [][]byte, whole bool) {
	end := 0 // the end of the last record
	whole = true
	for from, budget := 0, salvageBudget*len(line); budget > 0; {
		at := bytes.Index(line[from:], []byte(start))
		if at < 0 {
			break
		}
		at += from
		n, ok := jsonl.ValueLen(line[at:])
		budget -= n
		if !ok || !isRecord(line[at:at+n:at+n]) {
			from = at + len(start)
			continue
		}
		whole = whole && isSpace(line[end:at])
		records = append(records, line[at:at+n:at+n])
		end = at + n
		from = end
	}
	return records, whole && len(records) > 0 && isSpace(line[end:])
}

// salvage finds the records in a broken line of the session. Of another agent's, objects
// without anything between them are records; else an object may be a part of a broken one,
// and the agent's format has to tell.
func (m *lineRepair) salvage(line []byte) (records [][]byte, whole bool) {
	d := m.s.Dialect()
	if d == nil {
		return salvage(line, recordStart, func(v jsonl.Value) bool { return isRecord(v, m.s.Version) })
	}
	if records, whole = salvage(line, "{", jsonl.Value.IsObject); whole {
		return records, true
	}
	isRecord := d.Record
	if isRecord == nil {
		isRecord = known(d)
	}
	return salvage(line, "{", isRecord)
}

// known returns a function that reports whether a dialect knows what an object is.
func known(d *dialect.Dialect) func(jsonl.Value) bool {
	head := jsonl.NewHeadReader(d.Pick)
	return func(v jsonl.Value) bool {
		p, err := head.Read(v)
		return err == nil && d.Read(p).Code > dialect.Unknown
	}
}

func isSpace(b []byte) bool { return len(jsonl.Trim(b)) == 0 }

// isRecord reports whether an object is an entry or a header, and not part of a broken one:
// entries have a time, and from version 2 on an id and a parent.
func isRecord(v jsonl.Value, version int) bool {
	var f [4]jsonl.Value
	v.Fields(f[:], "type", "id", "parentId", "timestamp")
	if f[0].Is("session") {
		return f[1].IsString()
	}
	return f[0].IsString() && f[3].IsString() && (version < 2 || f[1].IsString() && f[2].Exists())
}
