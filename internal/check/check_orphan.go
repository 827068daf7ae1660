package check

var orphan = Check{
	Code:     "orphan",
	Group:    "tree",
	Severity: Error,
	Title:    "an entry's parent is not in the file",
	About: "The conversation before this entry cannot be reached from it. Most often the line of its parent " +
		"was lost: see [malformed](malformed.md), [glued](glued.md), [torn](torn.md).",
	Pi: "Its path starts here: all that came before is silently gone from the context.",
	Help: "`ctxtool repair` links it to the nearest ancestor that is left, where a broken line still tells " +
		"which that is, else to the entry before it in the file.",
}
