package check

var checkpointRole = Check{
	Code:     "checkpoint-role",
	Group:    "compactions",
	Severity: Warning,
	Title:    "a compaction's checkpoint is no system message",
	About:    "The message that a compaction carries for prompt and tools has another role.",
	Pi:       "It sends it as it stands, as a message of that role.",
	Help:     "Append a compaction that is right.",
}
