package check

import "ctxtool/sessionfmt"

var noMessage = Check{
	Code:     "no-message",
	Group:    "tree",
	Severity: Error,
	Title:    "a message entry without a message",
	About:    "The entry says that it is a message and holds none.",
	Pi:       "It fails to build a context with it on the path.",
	Help:     "`ctxtool repair` moves it to the quarantine file and links what follows to its parent.",
	file: func(x *subject) {
		for i := range x.s.Len() {
			if x.s.Kind(i) == sessionfmt.NoMessage {
				x.add(i, "a message entry without a message: pi cannot build a context with it; it adds nothing")
			}
		}
	},
}
