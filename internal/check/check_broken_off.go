package check

var brokenOff = Check{
	Code:     "broken-off",
	Group:    "lines",
	Severity: Error,
	Title:    "the compressed data breaks off",
	About: "The file is compressed, and not whole: a copy or a download was cut short. What comes before the " +
		"break is read; what came after it is not in the file.",
	Pi:   "It knows no compression.",
	Help: "A whole copy, if there is one. `ctxtool repair` saves what can be read as a sound session.",
}
