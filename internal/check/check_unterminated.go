package check

var unterminated = Check{
	Code:     "unterminated",
	Group:    "lines",
	Severity: Warning,
	Title:    "the last newline is missing",
	About: "The last entry is whole, but a writer that does not look at the end of the file would glue the " +
		"next entry to it.",
	Pi: "Today it adds the newline when it opens the file; versions before 0.84.4 glued the next record " +
		"on and lost both.",
	Help: "`ctxtool repair` adds the newline.",
}
