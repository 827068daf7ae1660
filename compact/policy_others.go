package compact

import "ctxtool/replay/tokens"

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
