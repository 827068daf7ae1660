package check

var idType = Check{
	Code:     "id-type",
	Group:    "tree",
	Severity: Warning,
	Title:    "an id is no string",
	About:    "An id that is a number is found only by a parent that is the same number.",
	Pi:       "It reads the entry; commands that take an id cannot name it.",
	Help:     "`ctxtool repair` makes a string of it, and of the parents that name it.",
}
