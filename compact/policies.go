package compact

import (
	"math"
	"strconv"

	"ctxtool/replay/tokens"
)

// GSHPolicy is gsh: results are capped, old ones pruned, and above a share of the window
// everything becomes one message (spec/policies.md 1).
var GSHPolicy = Policy{
	Name:    "gsh",
	About:   "cap results at 30000 bytes, prune behind the last 40000 tokens of them, compact above 85 %",
	Window:  100000,
	Counter: &tokens.GSH,
	Layers: []Layer{
		{Pass: &Truncate, Options: Options{Max: 30000, Unit: "bytes"}},
		{Pass: &Prune, Options: Options{Protect: 40000}},
		{Pass: &Compact, Options: Options{Style: StyleGSH}, When: &Trigger{Share: 0.85, Whole: true}},
	},
	Presets: []preset{
		{"small", "for windows of 4,000 to 8,000 tokens", []Layer{
			{Pass: &Truncate, Options: Options{Max: 8000, Unit: "bytes"}},
			{Pass: &Prune, Options: Options{Protect: 4000}},
			{Pass: &Compact, Options: Options{Style: StyleGSH}, When: &Trigger{Share: 0.75, Whole: true}},
		}},
		{"large", "for windows of 128,000 to 200,000 tokens", []Layer{
			{Pass: &Truncate, Options: Options{Max: 50000, Unit: "bytes"}},
			{Pass: &Prune, Options: Options{Protect: 80000}},
			{Pass: &Compact, Options: Options{Style: StyleGSH}, When: &Trigger{Share: 0.90, Whole: true}},
		}},
		{"cost", "fewer tokens a request", []Layer{
			{Pass: &Truncate, Options: Options{Max: 15000, Unit: "bytes"}},
			{Pass: &Prune, Options: Options{Protect: 20000}},
			{Pass: &Compact, Options: Options{Style: StyleGSH}, When: &Trigger{Share: 0.70, Whole: true}},
		}},
	},
}

// comparison says of a policy that nobody has read its source for this.
const comparison = "numbers from the comparison in gsh's documentation only; how results are cut and summaries framed is gsh's"

// claudeCodePolicy has the numbers that gsh's comparison gives for Claude Code.
var claudeCodePolicy = Policy{
	Name:    "claude-code",
	About:   "cap results at 25000 tokens, compact above 95 %",
	Note:    comparison,
	Window:  200000,
	Counter: &tokens.Pi,
	Layers: []Layer{
		{Pass: &Truncate, Options: Options{Max: 25000, Unit: "tokens"}},
		{Pass: &Compact, Options: Options{Style: StyleGSH}, When: &Trigger{Share: 0.95, Whole: true}},
	},
}

// codexPolicy has the numbers that gsh's comparison gives for Codex CLI: 10,000 tokens
// are 40,000 bytes, as both count.
var codexPolicy = Policy{
	Name:    "codex",
	About:   "keep 10000 tokens of both ends of a result, compact above 95 %",
	Note:    comparison,
	Window:  200000,
	Counter: &tokens.GSH,
	Layers: []Layer{
		{Pass: &Truncate, Options: Options{Max: 40000, Unit: "bytes"}},
		{Pass: &Compact, Options: Options{Style: StyleGSH}, When: &Trigger{Share: 0.95, Whole: true}},
	},
}

// openCodePolicy is what gsh's comparison says of OpenCode: it prunes, and compacts what
// does not fit. The window of results that stays is gsh's, for it gives none.
var openCodePolicy = Policy{
	Name:    "opencode",
	About:   "prune behind the last 40000 tokens of results, compact what does not fit the window",
	Note:    comparison,
	Window:  200000,
	Counter: &tokens.Pi,
	Layers: []Layer{
		{Pass: &Prune, Options: Options{Protect: 40000}},
		{Pass: &Compact, Options: Options{Style: StyleGSH}, When: &Trigger{Share: 1}},
	},
}

// PiPolicy is today's pi: one compaction, where less than a reserve is left
// (spec/pi-1.5.md 7.3, 7.4).
var PiPolicy = Policy{
	Name:    "pi",
	About:   "compact above the window less 16384 tokens, and keep about the last 20000",
	Window:  200000,
	Counter: &tokens.Pi,
	ByUsage: true,
	Layers: []Layer{
		{Pass: &Compact, Options: Options{Style: StylePi, Keep: 20000}, When: &Trigger{Reserve: 16384}},
	},
}

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
	Time             string  `json:"timestamp"`
	Type             string  `json:"type"` // compaction
	TokensBefore     int     `json:"tokens_before"`
	TokensAfter      int     `json:"tokens_after"`
	ReductionPercent float64 `json:"reduction_percent"` // one decimal
	MessagesCompact  int     `json:"messages_compacted"`
}

// newSWECompaction is the event of a compaction with those numbers.
func newSWECompaction(stamp string, before, after, messages int) sweCompaction {
	share := 0.0
	if before > 0 {
		share = float64(before-after) / float64(before) * 100
	}
	return sweCompaction{stamp, "compaction", before, after, oneDecimal(share), messages}
}

// yAgentPolicy is y-agent: reads that have been superseded are blanked, failures that
// were retried and old thinking go, and where that is not enough finished work is
// summarised, and at last the whole history (spec/policies.md 3). Its guard has three
// modes, which are presets; hybrid is the default.
var yAgentPolicy = Policy{
	Name:    "y-agent",
	About:   "blank superseded reads, drop retried failures and old thinking; from 85 % of 112000 tokens on summarise finished work, then all",
	Window:  guardTotal,
	Counter: &tokens.YScalars,
	Layers:  yAgentActs,
	Presets: []preset{
		{"auto", "acts from 85 % on", yAgentActs},
		{"soft", "acts from 95 % on: until then the agent is expected to", yAgentStops},
		{"hybrid", "warns from 70 % on, acts from 85 % on", yAgentActs},
	},
}

// The guard's total, in tokens, and its steps, in whole percent of that.
const (
	guardTotal = 8000 + 16000 + 80000 + 8000
	guardActs  = 85
	guardStops = 95
)

var yAgentActs = []Layer{
	{Pass: &Superseded},
	{Pass: &RetryPrune, Options: Options{Profile: "seed"}, When: &Trigger{Tokens: growth, At: true}},
	{Pass: &StripThinking},
	{Pass: &Progressive, Options: Options{MinTokens: growth, Retries: 2}, When: &Trigger{Percent: guardActs, At: true}},
	{Pass: &Compact, Options: Options{Style: styleYAgent, Retries: 3}, When: &Trigger{Percent: guardActs, At: true}},
}

var yAgentStops = []Layer{
	{Pass: &Superseded},
	{Pass: &RetryPrune, Options: Options{Profile: "seed"}, When: &Trigger{Tokens: growth, At: true}},
	{Pass: &StripThinking},
	{Pass: &Progressive, Options: Options{MinTokens: growth, Retries: 2}, When: &Trigger{Percent: guardStops, At: true}},
	{Pass: &Compact, Options: Options{Style: styleYAgent, Retries: 3}, When: &Trigger{Percent: guardStops, At: true}},
}

// oneDecimal rounds as Python's round and format do: ties to even.
func oneDecimal(f float64) float64 {
	n, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', 1, 64), 64)
	if err != nil {
		return math.NaN()
	}
	return n
}
