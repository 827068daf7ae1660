package check

var scalarLine = Check{
	Code:     "scalar-line",
	Group:    "lines",
	Severity: Warning,
	Title:    "a line is JSON, but no object",
	About:    "A number, a string, `true` or a list holds no entry. No agent writes one.",
	Pi: "It keeps it as a record without id, which has no effect unless it is the last: see " +
		"[scalar-leaf](scalar-leaf.md).",
	Help: "`ctxtool repair` moves the line to the quarantine file.",
}
