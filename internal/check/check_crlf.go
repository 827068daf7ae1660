package check

var crlf = Check{
	Code:     "crlf",
	Group:    "lines",
	Severity: Info,
	Title:    "lines end in CR LF",
	About: "An editor or a transfer has changed the ends of the lines. A carriage return is white space to " +
		"JSON.",
	Pi:   "It reads the file all the same.",
	Help: "Nothing has to be done.",
	file: func(x *subject) {
		if n := x.s.Coverage.CRLF; n > 0 {
			x.addLine(0, "", "%d of %d lines end in CR LF", n, x.s.Coverage.Lines)
		}
	},
}
