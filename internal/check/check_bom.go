package check

var byteOrderMark = Check{
	Code:     "bom",
	Group:    "lines",
	Severity: Error,
	Title:    "the file starts with a byte order mark",
	About:    "An editor has put three bytes in front of the header that mean nothing in UTF-8.",
	Pi:       "Since 0.78.1 the header does not parse for it, and it refuses the file.",
	Help:     "`ctxtool repair` takes the mark away.",
}
