package check

var selfParent = Check{
	Code:     "self-parent",
	Group:    "tree",
	Severity: Error,
	Title:    "an entry is its own parent",
	About:    "The way up from it never ends.",
	Pi:       "It runs out of memory and dies as soon as the entry is on the path.",
	Help:     "`ctxtool repair` links it to the entry before it in the file.",
}
