package check

import "ctxtool/sessionfmt"

var forwardParent = Check{
	Code:     "forward-parent",
	Group:    "tree",
	Severity: Warning,
	Title:    "an entry's parent stands below it in the file",
	About: "Entries are appended, so a parent comes before its children. Here somebody has sorted or joined " +
		"lines.",
	Pi:   "It reads the file. Anything that reads a session from front to back does not.",
	Help: "Put the lines in order, or leave it.",
	file: func(x *subject) {
		for i := range x.s.Len() {
			if p := x.s.Parent(i); p > i {
				x.add(i, "its parent %q stands below it, on line %d", sessionfmt.Quote(x.s.ID(p)), x.s.Line(p))
			}
		}
	},
}
