package check

var patchIndex = Check{
	Code:     "patch-index",
	Group:    "patches",
	Severity: Warning,
	Title:    "an index beyond the list",
	About: "A `compaction_apply` keeps messages from an index on that the list does not have: it was made " +
		"for another list.",
	Pi: "It ignores transforms. The reference code takes an index below 0 for 0, and keeps nothing where " +
		"it is beyond the end.",
	Help: "Nothing in the file mends it; a later patch can put the list right.",
}
