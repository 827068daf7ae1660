package check

import (
	"time"

	"ctxtool/sessionfmt"
)

var timeBackward = Check{
	Code:     "time-backward",
	Group:    "times",
	Severity: Warning,
	Title:    "an entry is older than its parent",
	About:    "The clock went back, or lines were put together from several files.",
	Pi:       "It reads the file; branches of its tree may be shown in another order.",
	Help:     "Nothing has to be done.",
	file:     findBackwardTimes,
}

// findBackwardTimes leaves labels out: a branched session has them at its end with
// the times that they had.
func findBackwardTimes(x *subject) {
	for i := range x.s.Len() {
		p := x.s.Parent(i)
		if p < 0 || p == i || x.s.Kind(i) == sessionfmt.Label {
			continue
		}
		at, ok := x.s.Time(i)
		before, known := x.s.Time(p)
		if ok && known && at < before {
			x.add(i, "it is %s older than its parent %s", time.Duration(before-at)*time.Millisecond, sessionfmt.Quote(x.s.ID(p)))
		}
	}
}
