package sessionfmt

import "math"

// Offset is where the line of record i begins in the file, and LineSize how long it
// is without its newline; both in bytes.
func (s *Session) Offset(i int) int64 { return s.records[i].off }

// LineSize: see Offset.
func (s *Session) LineSize(i int) int { return int(s.records[i].size) }

// Orphan says that record i names a parent that is not in the file.
func (s *Session) Orphan(i int) bool { return s.records[i].parent.n > 0 && s.records[i].up == 0 }

// Shadowed says that a later record has the id of record i, and hides it.
func (s *Session) Shadowed(i int) bool { return s.records[i].flags&flagShadowed != 0 }

// Bare says that the line of record i has neither an id nor a parentId.
func (s *Session) Bare(i int) bool { return s.records[i].flags&(flagOwnID|flagOwnParent) == 0 }

// WrongID says that the id of record i is no string.
func (s *Session) WrongID(i int) bool { return s.records[i].flags&flagWrongID != 0 }

// Time is the time of record i in milliseconds since 1970. It is not ok where the
// record has none that can be read, or where the session was opened without
// Options.Times.
func (s *Session) Time(i int) (ms int64, ok bool) {
	if i >= len(s.times) || s.times[i] == noTime {
		return 0, false
	}
	return s.times[i], true
}

// noTime stands for a time that is missing or cannot be read.
const noTime = math.MinInt64
