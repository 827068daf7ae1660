package check

import (
	"bytes"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

var recordStart = []byte(`{"type":"`)

// ofOther stands for the version of another agent's session.
const ofOther = 0

// salvageBudget limits the bytes that salvage parses, as a multiple of the length of the
// line: a line of unterminated objects must not take quadratic time.
const salvageBudget = 8

// salvage finds the records in a line that is not JSON. pi writes the type first, so it
// searches for objects that begin with one; other agents begin with any field, and their dialect
// tells what a record is; it is nil for pi. whole reports whether the line is only records.
func salvage(line []byte, version int, d *dialect.Dialect) (records [][]byte, whole bool) {
	recordStart, is := recordStart, func(v jsonl.Value) bool { return isRecord(v, version) }
	if d != nil {
		head := jsonl.NewHeadReader(d.Pick)
		recordStart, is = recordStart[:2], func(v jsonl.Value) bool {
			if isRecord(v, ofOther) {
				return true
			}
			h, bad := head.Read(v)
			return bad == nil && d.Read(h).Code > dialect.Unknown
		}
	}
	end := 0 // the end of the last record
	whole = true
	for from, budget := 0, salvageBudget*len(line); budget > 0; {
		at := bytes.Index(line[from:], recordStart)
		if at < 0 {
			break
		}
		at += from
		n, ok := jsonl.ValueLen(line[at:])
		budget -= n
		if !ok || !is(line[at:at+n:at+n]) {
			from = at + len(recordStart)
			continue
		}
		whole = whole && isSpace(line[end:at])
		records = append(records, line[at:at+n:at+n])
		end = at + n
		from = end
	}
	return records, whole && len(records) > 0 && isSpace(line[end:])
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
