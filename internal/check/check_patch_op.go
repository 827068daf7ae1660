package check

var patchOp = Check{
	Code:     "patch-op",
	Group:    "patches",
	Severity: Error,
	Title:    "an unknown patch operation",
	About:    "The operation has a name that nobody knows.",
	Pi:       "It ignores transforms. The reference code passes over the operation; here the replay stops.",
	Help:     "`--lenient` replays as the reference code does.",
}
