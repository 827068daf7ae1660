package check

var patchScope = Check{
	Code:     "patch-scope",
	Group:    "patches",
	Severity: Warning,
	Title:    "a scope that does not fit its operation",
	About: "A transform in the file may only hold operations of scope `cached`; uncached ones belong to a " +
		"single request and are replayed with every one from here on.",
	Pi:   "It ignores transforms. The reference code does not look at the scope.",
	Help: "Nothing in the file mends it; a later patch can put the list right.",
}
