package check

var keptUnknown = Check{
	Code:     "kept-unknown",
	Group:    "compactions",
	Severity: Error,
	Title:    "a compaction's first kept entry is not on the path before it",
	About: "A compaction names the first entry that stays in the context behind its summary. If that is " +
		"nowhere on the path, it cannot be said what stays.",
	Pi:   "It keeps nothing of what came before. The envelope rules keep everything.",
	Help: "Append a compaction that is right, or an entry to the branch before it.",
}
