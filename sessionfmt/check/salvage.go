package check

import (
	"bytes"

	"ctxtool/sessionfmt/jsonl"
)

var recordStart = []byte(`{"type":"`)

// salvageBudget is how many times as long as a line all looks into it may be: a
// line of beginnings without ends must not take forever.
const salvageBudget = 8

// salvage finds the records in a line that is not JSON: agents write the type
// first, so that is where to look. whole reports that the line is nothing else.
func salvage(line []byte, version int) (records [][]byte, whole bool) {
	end := 0 // of the last record
	whole = true
	for from, budget := 0, salvageBudget*len(line); budget > 0; {
		at := bytes.Index(line[from:], recordStart)
		if at < 0 {
			break
		}
		at += from
		n, ok := jsonl.ValueLen(line[at:])
		budget -= n
		if !ok || !isRecord(line[at:at+n:at+n], version) {
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

// isRecord reports whether an object is an entry or a header, and no piece of one that
// is broken: entries have a time, and from version 2 on an id and a parent.
func isRecord(v jsonl.Value, version int) bool {
	var f [4]jsonl.Value
	v.Fields(f[:], "type", "id", "parentId", "timestamp")
	if f[0].Is("session") {
		return f[1].IsString()
	}
	return f[3].IsString() && (version < 2 || f[1].IsString() && f[2].Exists())
}
