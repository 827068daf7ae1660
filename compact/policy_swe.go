package compact

// swecliPolicy is SWE-CLI: from a share of the window on, all but the last messages
// become one (spec/policies.md 2.4).
var swecliPolicy = Policy{
	Name:    "swe-cli",
	About:   "compact from 80 % of 256000 tokens on, and keep the last 20 messages",
	Window:  256000,
	Counter: &sweCounter,
	Layers: []Layer{
		{Pass: &Compact, Options: Options{Style: styleSWECLI, Keep: 20}, When: &Trigger{Share: 0.8, At: true}},
	},
}

// An sweCompaction is what SWE-CLI logs of a compaction.
type sweCompaction struct {
	Type             string  `json:"type"` // compaction
	TokensBefore     int     `json:"tokens_before"`
	TokensAfter      int     `json:"tokens_after"`
	ReductionPercent float64 `json:"reduction_percent"` // one decimal
	MessagesCompact  int     `json:"messages_compacted"`
}

// newSWECompaction is the event of a compaction with those numbers.
func newSWECompaction(before, after, messages int) sweCompaction {
	share := 0.0
	if before > 0 {
		share = float64(before-after) / float64(before) * 100
	}
	return sweCompaction{"compaction", before, after, oneDecimal(share), messages}
}
