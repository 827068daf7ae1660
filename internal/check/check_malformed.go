package check

var malformed = Check{
	Code:     "malformed",
	Group:    "lines",
	Severity: Error,
	Title:    "a line is not JSON",
	About: "A character was lost or changed. The entry on the line cannot be read, and whatever followed it " +
		"in the conversation has lost its parent: see [orphan](orphan.md).",
	Pi: "It skips the line without a word. What came before the lost entry is then no longer in the " +
		"context.",
	Help: "`ctxtool repair` moves the line to the quarantine file and links what followed to the nearest " +
		"ancestor that is left. If the line can be mended by hand, do that first.",
}
