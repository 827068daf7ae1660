package check

var secondHeader = Check{
	Code:     "second-header",
	Group:    "header",
	Severity: Warning,
	Title:    "a second session header",
	About: "Two files were joined, or an old agent wrote a file twice: before 0.99.0 a session without an " +
		"answer got its header and entries again with the first one.",
	Pi: "It ignores the header. Entries that come twice are counted twice in its totals: see " +
		"[duplicate-id](duplicate-id.md).",
	Help: "`ctxtool repair` moves the header to the quarantine file.",
}
