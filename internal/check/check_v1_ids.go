package check

var v1IDs = Check{
	Code:     "v1-ids",
	Group:    "header",
	Severity: Error,
	Title:    "entries have ids, but the header has no version",
	About:    "Files of version 1 have no ids. Without a version this file is taken for one of them.",
	Pi: "It gives all entries new ids and makes one line of the tree when it opens the file; labels and " +
		"edits lose their targets.",
	Help: "If the file is of a later version, put `\"version\":3` into its header. `ctxtool migrate` does " +
		"what pi would do.",
}
