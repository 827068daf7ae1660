package check

var scalarLeaf = Check{
	Code:     "scalar-leaf",
	Group:    "lines",
	Severity: Error,
	Title:    "the last record is no object",
	About:    "The place at which a conversation goes on is its last record, and this one has no id.",
	Pi:       "It shows an empty session, and goes on at a new root.",
	Help:     "`ctxtool repair` moves the line to the quarantine file; the entry before it is the leaf again.",
}
