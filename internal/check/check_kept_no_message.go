package check

var keptNoMessage = Check{
	Code:     "kept-no-message",
	Group:    "compactions",
	Severity: Warning,
	Title:    "a compaction's first kept entry gives no message",
	About: "It names a setting, a label or another entry that adds nothing to the context. Keeping starts " +
		"at the next message; the reference code of the envelope rules keeps everything. Under pi rules " +
		"nobody reads it otherwise, and nothing is found.",
	Pi:   "It keeps from the next message on.",
	Help: "Nothing has to be done for pi.",
}
