package check

var patchShape = Check{
	Code:     "patch-shape",
	Group:    "patches",
	Severity: Error,
	Title:    "a patch of the wrong shape",
	About:    "A field that an operation needs is missing or of the wrong type.",
	Pi:       "It ignores transforms. The reference code fails to build any request; here the replay stops.",
	Help:     "`--lenient` leaves the whole patch out.",
}
