package check

var noHeader = Check{
	Code:     "no-header",
	Group:    "header",
	Severity: Error,
	Title:    "the session header is missing",
	About: "The first record of a session says its id, version and folder. Without it a reader does not " +
		"know what it reads.",
	Pi:   "It refuses the file; before 0.80.3 it wrote a new header over it, and all was lost.",
	Help: "`ctxtool repair` puts a header in front, with an id made from the first entry.",
}
