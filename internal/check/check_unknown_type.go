package check

import "ctxtool/sessionfmt"

var unknownType = Check{
	Code:     "unknown-type",
	Group:    "tree",
	Severity: Warning,
	Title:    "an entry of a type that nobody knows",
	About: "It is part of the tree and adds nothing to the context. A newer agent or an extension may have " +
		"written it.",
	Pi:   "It keeps the entry, without effect.",
	Help: "Use a newer ctxtool, if there is one.",
	file: func(x *subject) {
		for i := range x.s.Len() {
			if x.s.Kind(i) == sessionfmt.Unknown {
				x.add(i, "nobody knows its type")
			}
		}
	},
}
