package check

var headerID = Check{
	Code:     "header-id",
	Group:    "header",
	Severity: Error,
	Title:    "the header's id is no string",
	About:    "The session has no id by which it can be named.",
	Pi:       "It refuses the file.",
	Help:     "`ctxtool repair` makes a string of the id, or gives one.",
}
