//go:build unix

package main

// costGoal says what is wanted, and what each of them counts, for they do not do the
// same work.
const costGoal = `3 times faster than ccusage, 8 times jq; 64 MB and 16 bytes a call
  ctxtool: every record with a usage; each call once across all files by responseId, else entry id, time and usage
  ccusage 20: answers alone; each once in the files of one session id, so forks and clones count again
  jq: prints the usage of messages, adds nothing up, counts all`

// cost adds up what a store cost. ccusage is the native binary of npm's package.
func (b *bench) cost() contest {
	return contest{
		title:   "cost of a store",
		session: "store",
		args:    []string{"stats", "--lens", "cost", "--json", "FILE"},
		goal:    costGoal,
		against: []rival{
			{"ccusage pi session", []string{b.ccusage, "pi", "session", "--offline", "--json", "--pi-path", "FILE"}},
			{"jq .message.usage", []string{"sh", "-c", "find FILE -name '*.jsonl' -exec jq -c '.message.usage // empty' {} +"}},
		},
	}
}
