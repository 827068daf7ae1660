package check

var falsyLine = Check{
	Code:     "falsy-line",
	Group:    "lines",
	Severity: Warning,
	Title:    "a line is null, 0, false or an empty string",
	About:    "Such a line holds no entry. No agent writes one.",
	Pi:       "It skips the line; older versions failed on `null`.",
	Help:     "`ctxtool repair` moves the line to the quarantine file.",
}
