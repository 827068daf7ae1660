package check

var duplicateID = Check{
	Code:     "duplicate-id",
	Group:    "tree",
	Severity: Error,
	Title:    "two entries have the same id",
	About:    "The later entry hides the earlier one, which no path can reach any more.",
	Pi:       "It takes the last one wherever the id is named, and counts both in its totals.",
	Help: "`ctxtool repair` moves a line that is there twice, letter by letter, to the quarantine file. Of " +
		"entries that differ it renames the earlier, and what stands between the two and names the id " +
		"follows the earlier.",
}
