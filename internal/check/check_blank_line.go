package check

var blankLine = Check{
	Code:     "blank-line",
	Group:    "lines",
	Severity: Info,
	Title:    "blank lines",
	About:    "Lines with nothing in them, or only white space.",
	Pi:       "It skips them.",
	Help:     "Nothing has to be done.",
	file: func(x *subject) {
		if n := x.s.Coverage.Blank; n > 0 {
			x.addLine(0, "", "%d of %d lines are blank", n, x.s.Coverage.Lines)
		}
	},
}
