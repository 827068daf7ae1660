package check

var missingID = Check{
	Code:     "missing-id",
	Group:    "tree",
	Severity: Error,
	Title:    "an entry has no id",
	About:    "Nothing can follow an entry without id.",
	Pi: "If it is the last entry, pi shows the context, but an empty branch, and writes the next entry " +
		"without a parent: a new root.",
	Help: "`ctxtool repair` gives it an id.",
}
