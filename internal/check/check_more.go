package check

var moreFindings = Check{
	Code:     "more",
	Group:    "file",
	Severity: Info,
	Title:    "more findings than are listed",
	About:    "At most 1,000 findings of a file are listed, and the number of those that are not.",
	Help:     "Mend the first ones and look again.",
}
