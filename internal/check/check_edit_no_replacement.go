package check

var editNoReplacement = Check{
	Code:     "edit-no-replacement",
	Group:    "edits",
	Severity: Error,
	Title:    "a context edit without replacement",
	About: "An edit omits a message with the replacement null, or gives it other content. This one does " +
		"neither.",
	Pi:   "It fails to build a context while the target is in it.",
	Help: "`ctxtool repair` moves the edit to the quarantine file and links what follows to its parent.",
}
