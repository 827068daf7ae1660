package check

var patchSchema = Check{
	Code:     "patch-schema",
	Group:    "patches",
	Severity: Error,
	Title:    "a transform with another schemaVersion than 1",
	About:    "The operations of another version may mean something else.",
	Pi: "It ignores transforms. The reference code of the envelope rules applies it as if it were " +
		"version 1; here the replay stops.",
	Help: "`--lenient` replays as the reference code does.",
}
