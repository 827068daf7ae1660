package compact

import (
	"fmt"

	"ctxtool/replay/tokens"
)

// GSHPolicy is gsh's policy: it caps results, prunes old ones, and above a share of the window replaces
// everything with one message (docs/policies.md 2).
var GSHPolicy = Policy{
	Name:    "gsh",
	About:   "cap results at 30000 bytes, prune before the last 40000 tokens of them, compact above 85 %",
	Window:  100000,
	Windows: gshWindows,
	Counter: &tokens.GSH,
	Layers:  gshLayers(30000, 40000, 0.85),
	Presets: []Preset{
		{Name: "small", About: "for windows of 4,000 to 8,000 tokens", Layers: gshLayers(8000, 4000, 0.75)},
		{Name: "large", About: "for windows of 128,000 to 200,000 tokens", Layers: gshLayers(50000, 80000, 0.90)},
		{Name: "cost", About: "fewer tokens per request", Layers: gshLayers(15000, 20000, 0.70)},
	},
}

func gshLayers(bytes, protect int, share float64) []Layer {
	return []Layer{capped(bytes, "bytes"), {Pass: &Prune, Options: Options{Protect: protect}}, gshCompact(share)}
}

// capped returns a layer that caps results.
func capped(most int, unit string) Layer {
	return Layer{Pass: &Truncate, Options: Options{Max: most, Unit: unit}}
}

// gshCompact returns a layer that compacts as gsh does, above a share of the window.
func gshCompact(share float64) Layer {
	return Layer{Pass: &Compact, Options: Options{Style: StyleGSH}, When: &Trigger{Share: share, Whole: true}}
}

// comparison is the note on a policy whose numbers do not come from its source.
const comparison = "numbers from the comparison in gsh's documentation only; how results are cut and summaries " +
	"framed is gsh's"

// The policies with the numbers of gsh's comparison: those of Claude Code; of Codex CLI,
// whose 10,000 tokens are 40,000 bytes, as both count; and of OpenCode, which prunes, and
// compacts what does not fit. The window of results to keep is gsh's, as the comparison has none.
var (
	claudeCodePolicy = Policy{
		Name: "claude-code", About: "cap results at 25000 tokens, compact above 95 %", Note: comparison,
		Window: 200000, Counter: &tokens.Pi, Layers: []Layer{capped(25000, "tokens"), gshCompact(0.95)},
	}
	codexPolicy = Policy{
		Name: "codex", About: "keep 10000 tokens of both ends of a result, compact above 95 %", Note: comparison,
		Window: 200000, Counter: &tokens.GSH, Layers: []Layer{capped(40000, "bytes"), gshCompact(0.95)},
	}
	openCodePolicy = Policy{
		Name: "opencode", About: "prune before the last 40000 tokens of results, compact what does not fit the window",
		Note:   comparison,
		Window: 200000, Counter: &tokens.Pi, Layers: []Layer{
			{Pass: &Prune, Options: Options{Protect: 40000}},
			{Pass: &Compact, Options: Options{Style: StyleGSH}, When: &Trigger{Share: 1}},
		},
	}
)

// PiPolicy is the policy of current pi: one compaction, when less than a reserve is left
// (docs/session-format.md 9.1, 9.2, 9.3).
var PiPolicy = Policy{
	Name:    "pi",
	About:   "compact above the window less 16384 tokens, and keep about the last 20000",
	Window:  200000,
	Counter: &tokens.Pi,
	ByUsage: true, TurnEnds: true,
	Layers: []Layer{
		{Pass: &Compact, Options: Options{Style: StylePi, Keep: 20000}, When: &Trigger{Reserve: 16384}},
	},
}

// swecliPolicy is SWE-CLI's policy: from a share of the window on, all but the last messages become one
// (docs/policies.md 3.2).
var swecliPolicy = Policy{
	Name:    "swe-cli",
	About:   "compact from 80 % of 256000 tokens on, and keep the last 20 messages",
	Window:  256000,
	Counter: &tokens.SWE,
	counts:  notesOf,
	Layers: []Layer{
		{Pass: &Compact, Options: Options{Style: styleSWECLI, Keep: 20}, When: &Trigger{Share: 0.8, At: true}},
	},
}

// yAgentPolicy is y-agent's policy: it blanks superseded reads, and drops retried failures and old thinking. If
// that is not enough, it summarises finished work, then the whole history (docs/policies.md 4). The three modes
// of its guard are presets; hybrid is the default.
var yAgentPolicy = Policy{
	Name: "y-agent",
	About: "blank superseded reads, drop retried failures and old thinking; from 85 % of 112000 tokens on " +
		"summarise finished work, then all",
	Window:  guardTotal,
	Counter: &tokens.YBytes, TurnEnds: true,
	Layers: yAgentLayers(guardActs),
	Warns:  &guardWarning,
	Presets: []Preset{
		{Name: "auto", About: "acts from 85 % on", Layers: yAgentLayers(guardActs)},
		{Name: "soft", About: "acts from 95 % on: until then the agent is expected to",
			Layers: yAgentLayers(guardStops)},
		{Name: "hybrid", About: "warns from 70 % on, acts from 85 % on", Layers: yAgentLayers(guardActs),
			Warns: &guardWarning},
	},
}

var guardWarning = Trigger{Percent: guardWarns, At: true}

func yAgentLayers(percent int64) []Layer {
	guard := &Trigger{Percent: percent, At: true}
	return []Layer{
		{Pass: &Superseded, Between: true},
		{Pass: &RetryPrune, When: &Trigger{Tokens: growth, At: true, Growth: true}, Between: true},
		{Pass: &StripThinking},
		{Pass: &Progressive, Options: Options{MinTokens: growth, Retries: 2}, When: guard},
		{Pass: &Compact, Options: Options{Style: styleYAgent, Retries: 3}, When: guard},
		{Pass: &DropBootstrap, When: guard},
		{Pass: &DropTools, When: guard},
	}
}

// A Guarding is the verdict of y-agent's guard on the size of a context (docs/policies.md 4.3).
type Guarding struct {
	Verdict string `json:"verdict"` // ok, warning, overflow, critical
	Percent int    `json:"percent"` // of the budget, rounded down
	Over    int    `json:"tokensOver"`
	Status  string `json:"status"` // the line that the agent gets, with advice on a second line
}

// The guard's total, in tokens, and its steps, in whole percent of that.
const (
	guardTotal = 8000 + 16000 + 80000 + 8000
	guardWarns = 70
	guardActs  = 85
	guardStops = 95
)

// guard returns the guard's verdict on the tokens used of a budget.
func guard(used, budget int) *Guarding {
	g, advice := &Guarding{Verdict: "ok", Percent: 100}, ""
	if budget > 0 {
		g.Percent = used * 100 / budget
	}
	switch {
	case g.Percent >= guardStops:
		g.Verdict, g.Over, advice = "critical", max(0, used-budget), "\nCRITICAL: the context is full"
	case g.Percent >= guardActs:
		g.Verdict, g.Over, advice = "overflow", used-budget*guardActs/100, "\nWARNING: the context is nearly full"
	case g.Percent >= guardWarns:
		g.Verdict, advice = "warning", "\nconsider compress_experience"
	}
	g.Status = fmt.Sprintf("[Context Status: working_tokens=%d, threshold=%d, utilization=%d%%]%s",
		used, budget, g.Percent, advice)
	return g
}
