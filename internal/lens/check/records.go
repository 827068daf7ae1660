package check

import (
	"ctxtool/internal/lens/redact"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"path/filepath"
	"time"
)

func (x *subject) findBlank() { x.count(x.s.Coverage.Blank, "are blank") }

func (x *subject) findCRLF() { x.count(x.s.Coverage.CRLF, "end in CR LF") }

// count adds a finding with the number of lines with a property.
func (x *subject) count(n int, what string) {
	if n > 0 {
		x.addLine(0, "", "%d of %d lines %s", n, x.s.Coverage.Lines, what)
	}
}

// findParentSession looks for the parent session that the header names; a relative name is
// relative to the folder of the session.
func (x *subject) findParentSession() {
	head := x.s.Header()
	if head < 0 || x.s.Dialect() != nil { // another agent's names an id, and opening finds what is needed of it
		return
	}
	line, err := x.s.NewReader().Line(head)
	if err != nil {
		return // found when the file is replayed
	}
	for _, name := range []string{"parentSession", "branchedFrom"} {
		from := line.Get(name).Text()
		if from == "" || redact.Marked(from) {
			continue // no parent, or one that is not in the file
		}
		file := from
		if !filepath.IsAbs(file) {
			file = filepath.Join(filepath.Dir(x.report.File), file)
		}
		if !x.opt.Open.Disk.Has(file) {
			x.addLine(x.s.Line(head), "", "%s %q is not there", name, sessionfmt.Quote(from))
		}
	}
}

func (x *subject) unknownType(i int) {
	if x.s.Kind(i) == jsonl.Unknown && x.s.Dialect() == nil { // of another agent's, reading finds each type
		x.add(i, "its type is unknown")
	}
}

func (x *subject) noMessage(i int) {
	if x.s.Kind(i) == jsonl.NoMessage {
		x.add(i, "a message entry without a message: pi cannot build a context with it; it adds nothing")
	}
}

func (x *subject) forwardParent(i int) {
	if p := x.s.Parent(i); p > i {
		x.add(i, "its parent %q follows it, on line %d", sessionfmt.Quote(x.s.ID(p)), x.s.Line(p))
	}
}

func (x *subject) badTime(i int) {
	if _, ok := x.s.Time(i); !ok && x.s.Kind(i).IsEntry() && !x.untimed(i) {
		x.add(i, "its timestamp is missing or not a time")
	}
}

// untimed reports whether a record is another agent's and has no time, as is right for it, or
// one that stands elsewhere in its line.
func (x *subject) untimed(i int) bool {
	if x.s.Dialect() == nil || x.s.Untimed(i) {
		return x.s.Untimed(i)
	}
	line, err := x.s.NewReader().Line(i)
	at := line.Get("timestamp")
	_, ok := at.Millis()
	return err == nil && (ok || !at.Exists())
}

// timeBackward ignores labels: a branched session has them at its end with their original times. Differences
// below a second are not damage: entries made together are written in any order.
func (x *subject) timeBackward(i int) {
	p, d := x.s.Parent(i), x.s.Dialect()
	if p < 0 || p == i || x.s.Kind(i) == jsonl.Label || d != nil && d.Late {
		return
	}
	at, ok := x.s.Time(i)
	if before, known := x.s.Time(p); ok && known && at <= before-1000 && x.s.Pos(i).File == x.s.Pos(p).File {
		x.add(i, "it is %s older than its parent %s", time.Duration(before-at)*time.Millisecond,
			sessionfmt.Quote(x.s.ID(p)))
	}
}
