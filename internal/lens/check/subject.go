package check

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"ctxtool/internal/base/sorting"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
)

// Options are the options of a check.
type Options struct {
	Choice Choice        // the checks to run; see Choose
	Models *models.Table // the table with limits; nil for the built-in table
	Now    time.Time     // the current time: a torn tail that was written a moment ago is still growing

	Implemented []string // names of the existing tools; empty if all exist

	// one of Providers, whose rules the next request is held to, or OwnProvider; empty for none
	Provider string

	Weigh bool // of Opening: findings say what they hide, as those of File do

	Open sessionfmt.Options // how files are opened; the checks override what they need
}

// A subject is a session while it is checked.
type subject struct {
	s      *sessionfmt.Session
	opt    Options
	report *Report
	check  *Check // the check that runs
	facts  *facts
	told   map[Finding]bool // so that a finding that several branches share is added once
	more   int
	unread error // the first error of a check that reads lines again

	// Made on first use.
	tree      func() *sessionfmt.Tree
	ancestors func() *ancestry
	pairs     func() *pairs
	requests  func() []*dialect.Recorded // see readRequests
}

// File checks the session file called name. A file that cannot be read as a session has one
// finding with the error.
func File(name string, opt Options) *Report {
	x := newSubject(name, opt)
	s, err := sessionfmt.Open(name, x.opening())
	if err != nil {
		x.fails(err)
		x.report.Verdict = Unread
		x.report.Rename(name)
		return x.report
	}
	defer s.Close()
	x.opt.Weigh = true
	return x.reported(s)
}

// Opening returns the options with which to open the session called name, and a function that
// then reports its damage.
func Opening(name string, opt Options) (sessionfmt.Options, func(s *sessionfmt.Session) *Report) {
	x := newSubject(name, opt)
	return x.opening(), x.reported
}

// reported checks an open session.
func (x *subject) reported(s *sessionfmt.Session) *Report {
	x.run(s)
	if x.opt.Weigh {
		x.weigh()
	}
	x.report.judge()
	x.report.Rename(x.report.File)
	return x.report
}

func newSubject(name string, opt Options) *subject {
	x := &subject{opt: opt, told: map[Finding]bool{}}
	x.report = &Report{Schema: "ctxtool/check/1", File: name, Findings: []Finding{}, provider: opt.Provider}
	if x.opt.Models == nil {
		x.opt.Models = models.Builtin()
	}
	return x
}

// opening returns the options with which to open the session for the chosen checks.
func (x *subject) opening() sessionfmt.Options {
	open := x.opt.Open
	open.Times = true
	if x.opt.Choice.any(func(c *Check) bool { return c.facts != nil || c.replays() }) {
		x.facts = &facts{seed: maphash.MakeSeed()}
		open.Visit = x.facts.visitor
	}
	return open
}

// run checks an open session.
func (x *subject) run(s *sessionfmt.Session) {
	x.s = s
	x.tree, x.ancestors, x.pairs = sync.OnceValue(s.Tree), sync.OnceValue(x.newAncestry), sync.OnceValue(x.findPairs)
	x.requests = sync.OnceValue(x.readRequests)
	r := x.report
	r.Version, r.Coverage, r.Reading = x.s.Version, x.s.Coverage, x.s.Reading()
	r.Foreign, r.ownLines = x.s.Dialect() != nil, x.s.OwnLines() == nil
	x.take(x.s.Findings)
	if x.facts != nil {
		x.facts.sort()
		go x.pairs()                 // needed once the session is replayed
		defer func() { x.pairs() }() // it reads the session, which may be closed after it
	}
	for c := range x.chosen {
		if c.file != nil {
			c.file(x)
		}
		for i := 0; c.record != nil && i < x.s.Len(); i++ {
			c.record(x, i)
		}
	}
	if x.opt.Choice.any((*Check).replays) {
		x.replay()
	}
	for c := range x.chosen {
		if c.facts != nil {
			c.facts(x)
		}
	}
	if x.unread != nil {
		x.fails(x.unread)
	}
	if x.more > 0 && x.opt.Choice.has("more") {
		r.Findings = append(r.Findings, Finding{Code: "more", Severity: Info, File: r.File,
			Text: fmt.Sprintf("%d more findings, not listed", x.more)})
	}
	sorting.By(r.Findings, func(a, b Finding) int { // those of the file itself come first
		if a.File != b.File && (a.File == r.File || b.File == r.File) {
			return map[bool]int{true: -1, false: 1}[a.File == r.File]
		}
		return cmp.Or(cmp.Compare(a.File, b.File), a.Line-b.Line)
	})
	r.Opens = opening(x.s)
}

// chosen yields the chosen checks, and sets x.check to each.
func (x *subject) chosen(yield func(*Check) bool) {
	for _, c := range All() {
		if x.check = c; x.opt.Choice.has(c.Code) && !yield(c) {
			return
		}
	}
}

// replays reports whether a chosen check needs a replay of the session.
func (c *Check) replays() bool {
	return steps[c.Group] != nil || c.leaf != nil || c.watch != nil || c.Group == "patches"
}

// take adds the findings of reading or replaying.
func (x *subject) take(found []sessionfmt.Finding) {
	for _, f := range found {
		if f.Code == "more" { // its text begins with the number of further findings
			n := 0
			fmt.Sscan(f.Text, &n)
			x.more += n
			continue
		}
		x.check = Find(f.Code)
		if x.check == nil || !x.opt.Choice.has(f.Code) || x.check.file != nil ||
			x.check.record != nil && x.s.Dialect() == nil {
			continue // its check has its own function
		}
		x.addAt(sessionfmt.Pos{File: f.File, Line: f.Line, Entry: f.Entry}, "%s", f.Text)
	}
}

// add adds a finding of the running check at a record.
func (x *subject) add(rec int, format string, args ...any) {
	pos := x.s.Pos(rec)
	pos.Entry = sessionfmt.Quote(pos.Entry)
	x.addAt(pos, format, args...)
}

// addLine adds a finding of the running check at a line of the file.
func (x *subject) addLine(line int, entry, format string, args ...any) {
	x.addAt(sessionfmt.Pos{Line: line, Entry: entry}, format, args...)
}

// addAt adds a finding of the running check at a place, unless it is there already.
func (x *subject) addAt(pos sessionfmt.Pos, format string, args ...any) {
	f := Finding{
		Code: x.check.Code, Severity: x.check.Severity, File: cmp.Or(pos.File, x.report.File),
		Line: pos.Line, Entry: pos.Entry, Text: fmt.Sprintf(format, args...),
	}
	switch {
	case x.told[f]:
		return
	case len(x.report.Findings) >= sessionfmt.MaxFindings:
		x.more++
		return
	}
	x.told[f] = true
	if f.Code == "torn" && x.fresh() {
		f.Severity = Info
		f.Text += "; the file was written to a moment ago: it may be in use"
	}
	x.report.Findings = append(x.report.Findings, f)
}

// freshly is the time after the last write in which a torn tail may still grow.
const freshly = 5 * time.Second

// fresh reports whether the file was written to within that time.
func (x *subject) fresh() bool {
	info, err := x.opt.Open.Disk.Stat(x.report.File)
	return err == nil && !x.opt.Now.IsZero() && x.opt.Now.Sub(info.ModTime()) < freshly
}

// plural returns a number with its noun, in the singular or the plural.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
