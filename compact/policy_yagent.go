package compact

import (
	"math"
	"strconv"

	"ctxtool/replay/tokens"
)

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
