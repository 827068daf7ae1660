package check

var version = Check{
	Code:     "version",
	Group:    "header",
	Severity: Warning,
	Title:    "the header's version is no number",
	About:    "The version decides how entries are read.",
	Pi:       "It takes the file for current, and writes it anew each time it opens it.",
	Help:     "`ctxtool repair` sets the version to 3.",
}
