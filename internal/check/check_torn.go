package check

var torn = Check{
	Code:     "torn",
	Group:    "lines",
	Severity: Error,
	Title:    "the last line breaks off",
	About: "A write was cut short: a crash, a full disk, or a writer that is still at it. A tail of a file " +
		"that was written to less than five seconds ago is only noted.",
	Pi: "It drops the line and adds a newline behind it, so that the rest of a record stays in the file " +
		"for good. If the missing end arrives later it is lost too.",
	Help: "`ctxtool repair` moves the rest to the quarantine file and ends the file where the last whole " +
		"entry ends.",
}
