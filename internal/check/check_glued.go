package check

var glued = Check{
	Code:     "glued",
	Group:    "lines",
	Severity: Error,
	Title:    "a second record follows on the same line",
	About: "Two writers, or one that broke off in the middle of a line and another that went on behind it: " +
		"the newline between two records is missing.",
	Pi: "It skips the line: both records are lost, and what follows them has lost its parent.",
	Help: "`ctxtool repair` splits the line. Where a record was only half written the line goes to the " +
		"quarantine file as well.",
}
