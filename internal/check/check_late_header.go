package check

var lateHeader = Check{
	Code:     "late-header",
	Group:    "header",
	Severity: Error,
	Title:    "the session header is not the first record",
	About:    "Something stands in front of the header.",
	Pi:       "It refuses the file; before 0.80.3 it wrote a new header over it, and all was lost.",
	Help:     "`ctxtool repair` moves the header to the front.",
}
