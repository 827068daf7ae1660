package compact

import "ctxtool/replay/tokens"

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
