package check

var editNoContent = Check{
	Code:     "edit-no-content",
	Group:    "edits",
	Severity: Error,
	Title:    "a context edit whose replacement cannot be used",
	About:    "The replacement is neither null nor an object with `content`.",
	Pi: "The message stays without any content, and pi fails to count it: no context indicator, no " +
		"compaction.",
	Help: "`ctxtool repair` moves the edit to the quarantine file and links what follows to its parent; " +
		"the message is as it was before.",
}
