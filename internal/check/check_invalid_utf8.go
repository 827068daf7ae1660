package check

var invalidUTF8 = Check{
	Code:     "invalid-utf8",
	Group:    "lines",
	Severity: Warning,
	Title:    "bytes that are not UTF-8",
	About:    "The line holds bytes that are no text. They are read as U+FFFD, the replacement character.",
	Pi:       "It reads U+FFFD as well, and writes that if it ever writes the file anew.",
	Help: "`ctxtool repair` puts U+FFFD in their place and keeps the line as it was in the quarantine " +
		"file.",
}
