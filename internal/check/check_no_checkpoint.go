package check

var noCheckpoint = Check{
	Code:     "no-checkpoint",
	Group:    "compactions",
	Severity: Warning,
	Title:    "a compaction without checkpoint where system messages exist",
	About: "A compaction replaces the system messages before it by the one that it carries. This one " +
		"carries none, so prompt and tools are not in the context any more.",
	Pi: "It declares prompt and tools again with its next request; until then, and in every replay of " +
		"this stretch, they are missing.",
	Help: "Nothing, if pi went on. `ctxtool replay --baseline` puts them in from outside.",
}
