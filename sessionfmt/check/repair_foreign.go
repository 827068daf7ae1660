package check

import (
	"bytes"
	"fmt"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// foreignPass repairs the lines of another agent's session, in that agent's format: records stay
// as they are, byte for byte, and what is no record is taken out.
var foreignPass = linePass{
	codes: []string{"broken-off", "malformed", "glued", "torn", "falsy-line", "bom", "padded", "unterminated", "scalar-line", "scalar-leaf"},
	every: (*lineRepair).foreign,
}

// foreign repairs a line of another agent's session.
func (m *lineRepair) foreign(c *sessionfmt.Change) {
	padless := bytes.Trim(c.Raw, "\x00")
	v, err := jsonl.ParseValue(jsonl.Trim(padless))
	switch {
	case c.IsMark() || c.Blank():
		m.broken(c)
	case err != nil:
		m.foreignBroken(c)
	case !v.IsObject():
		m.out(c, "scalar-line", "a line without entry is taken out")
	default:
		c.New = [][]byte{c.Raw}
		if len(padless) < len(c.Raw) {
			c.New, c.Out = [][]byte{v}, c.Raw
			c.Notes = append(c.Notes, "the NUL bytes around it are taken out")
		}
		if !c.Ended {
			c.Notes = append(c.Notes, "the newline is added")
		}
	}
}

// foreignBroken splits a line of records, and saves those of any other line that is not JSON.
func (m *lineRepair) foreignBroken(c *sessionfmt.Change) {
	line := bytes.Trim(c.Raw, "\x00")
	records, whole := salvageAt([]byte{'{'}, line, jsonl.Value.IsObject)
	if !whole { // an object may be a part of a broken record
		records, _ = salvageAt([]byte{'{'}, line, m.s.Dialect().Record)
	}
	c.New = append(c.New, records...)
	switch c.Out = c.Raw; {
	case whole:
		c.Out = nil
		c.Notes = append(c.Notes, fmt.Sprintf("split into %d records", len(records)))
	case len(records) > 0:
		c.Notes = append(c.Notes, fmt.Sprintf("%s saved out of it; the rest is no record", plural(len(records), "record is", "records are")))
	case !c.Ended:
		c.Notes = append(c.Notes, "the torn end is taken out")
	default:
		c.Notes = append(c.Notes, "what is not JSON is taken out")
	}
}
