package compact

import "ctxtool/replay/tokens"

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

// A GSHConfig is gsh's section [context], as far as it is about what leaves the context.
// What is nil keeps its value.
type GSHConfig struct {
	MaxToolOutputBytes *int     `toml:"max_tool_output_bytes"`
	PruneProtectTokens *int     `toml:"prune_protect_tokens"`
	CompactThreshold   *float64 `toml:"compact_threshold"`
}

// Configure is a gsh policy with what a configuration says.
func (c GSHConfig) Configure(p *Policy) *Policy {
	q := p.Copy()
	if l := q.Layer(&Truncate); l != nil && c.MaxToolOutputBytes != nil {
		l.Max = *c.MaxToolOutputBytes
	}
	if l := q.Layer(&Prune); l != nil && c.PruneProtectTokens != nil {
		l.Protect = *c.PruneProtectTokens
	}
	if l := q.Layer(&Compact); l != nil && c.CompactThreshold != nil {
		l.When = &Trigger{Share: *c.CompactThreshold, Whole: true}
	}
	return q
}
