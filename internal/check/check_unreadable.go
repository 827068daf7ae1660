package check

var unreadable = Check{
	Code:     "unreadable",
	Group:    "file",
	Severity: Error,
	Title:    "the file cannot be read as a session",
	About: "No line of it is a session header or an entry, or it cannot be read at all: it is empty, its " +
		"compression breaks off before anything is there, it is something else.",
	Pi:   "It refuses the file. Into an empty one it writes a header of its own.",
	Help: "Look at the file. If it was written over, only a copy brings it back.",
}
