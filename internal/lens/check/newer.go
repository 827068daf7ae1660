package check

import (
	"fmt"
	"strings"

	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt"
)

// newerVersion reports unknown fields if a newer version than the newest known wrote the session. Without
// unknown fields, the session reads like those of earlier versions.
func (x *subject) newerVersion() {
	for _, f := range x.s.Findings { // by the version of pi's format, or by unknown types
		if f.Code == x.check.Code {
			x.addAt(sessionfmt.Pos{File: f.File, Line: f.Line, Entry: f.Entry}, "%s", f.Text)
			return
		}
	}
	newer := x.s.Newer()
	if newer == "" {
		return
	}
	var all Coverage
	if err := all.Add(x.s, x.report.File); err != nil {
		x.unread = err
		return
	}
	var names []string
	line := 0
	for _, f := range all.Fields {
		if f.Known {
			continue
		}
		names = append(names, f.Path)
		if line == 0 {
			line = f.Line
		}
	}
	if names == nil {
		return
	}
	more := ""
	if n := len(names) - mostFields; n > 0 {
		names, more = names[:mostFields], fmt.Sprintf(" and %s", phrase.Count(n, "more field"))
	}
	x.addLine(line, "", "%s, and writes fields that are not known: %s%s", newer, strings.Join(names, ", "), more)
}

// mostFields is how many fields a finding names.
const mostFields = 3
