package check

var tooNew = Check{
	Code:     "too-new",
	Group:    "header",
	Severity: Warning,
	Title:    "the version is newer than 3",
	About:    "The file is read as it stands, and something in it may mean more than we know.",
	Pi:       "It reads it as it stands too.",
	Help:     "Use a newer ctxtool, if there is one. Nothing here writes to such a file.",
}
