package check

import (
	"bytes"

	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
)

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
