package check

import (
	"path/filepath"

	"ctxtool/internal/redact"
	"ctxtool/sessionfmt"
)

var parentSession = Check{
	Code:     "parent-session",
	Group:    "header",
	Severity: Warning,
	Title:    "the session that this one came from is not there",
	About: "The header names a file from which this session was branched, and there is none by that name. A " +
		"relative name is looked up beside the session.",
	Pi: "It only shows the link in its list of sessions.",
	Help: "Nothing depends on it. It happens when sessions are moved to another machine. " +
		"A name in which something was redacted is not looked up.",
	file: findParentSession,
}

// findParentSession looks for the file that the header says the session came from,
// beside the session where the name is relative.
func findParentSession(x *subject) {
	head := x.s.Header()
	if head < 0 {
		return
	}
	line, err := x.s.NewReader().Line(head)
	if err != nil {
		return // found when the file is replayed
	}
	for _, name := range []string{"parentSession", "branchedFrom"} {
		from := line.Get(name).Text()
		if from == "" || redact.Marked(from) {
			continue // none, or one that nobody can look up any more
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
