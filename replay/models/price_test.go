package models

import "testing"

func TestPrice(t *testing.T) {
	m := Model{Cost: Cost{
		Rates: Rates{Input: 2, Output: 8, CacheRead: 0.5, CacheWrite: 2.5},
		// Out of order on purpose: a configuration may give them so.
		Tiers: []Tier{
			{InputTokensAbove: 2000, Rates: Rates{Input: 8}},
			{InputTokensAbove: 1000, Rates: Rates{Input: 4, Output: 16, CacheRead: 1, CacheWrite: 5}},
		},
	}}
	const M = 1e6
	for _, c := range []struct {
		why  string
		in   Usage
		want Dollars
	}{
		{"nothing", Usage{}, Dollars{}},
		{"each rate", Usage{Input: 100, Output: 10, CacheRead: 200, CacheWrite: 40},
			Dollars{Input: 200 / M, Output: 80 / M, CacheRead: 100 / M, CacheWrite: 100 / M, Total: 480 / M}},
		{"one hour is a part, at twice the input", Usage{CacheWrite: 40, CacheWrite1h: 30},
			Dollars{CacheWrite: (10*2.5 + 30*4) / M, Total: (10*2.5 + 30*4) / M}},
		{"one hour, too many", Usage{CacheWrite: 40, CacheWrite1h: 50},
			Dollars{CacheWrite: 160 / M, Total: 160 / M}},
		{"one hour, fewer than none", Usage{CacheWrite: 40, CacheWrite1h: -50},
			Dollars{CacheWrite: 100 / M, Total: 100 / M}},
		{"on the bound", Usage{Input: 1000}, Dollars{Input: 2000 / M, Total: 2000 / M}},
		{"above it, output too", Usage{Input: 1000, CacheRead: 1, Output: 1},
			Dollars{Input: 4000 / M, CacheRead: 1 / M, Output: 16 / M, Total: 4017 / M}},
		{"one hour above the bound", Usage{CacheWrite: 1001, CacheWrite1h: 1001},
			Dollars{CacheWrite: 8008 / M, Total: 8008 / M}},
		{"output does not lengthen the prompt", Usage{Input: 1, Output: 5000},
			Dollars{Input: 2 / M, Output: 40000 / M, Total: 40002 / M}},
		{"the highest tier", Usage{Input: 2001}, Dollars{Input: 16008 / M, Total: 16008 / M}},
	} {
		if got := m.Price(c.in); !near(got, c.want) {
			t.Errorf("%s: %+v; want %+v", c.why, got, c.want)
		}
	}
}

// near compares within a billionth of a cent; exact equality is for
// TestPriceBits.
func near(a, b Dollars) bool {
	close := func(x, y float64) bool { return x-y < 1e-11 && y-x < 1e-11 }
	return close(a.Input, b.Input) && close(a.Output, b.Output) && close(a.CacheRead, b.CacheRead) &&
		close(a.CacheWrite, b.CacheWrite) && close(a.Total, b.Total)
}

// TestPriceBits holds the order of the arithmetic: sessions record
// rate/1e6*tokens, which for these rates and counts is not tokens*rate/1e6.
func TestPriceBits(t *testing.T) {
	for tokens := range int64(5000) {
		rate := 6.25
		got := Model{Cost: Cost{Rates: Rates{Output: rate}}}.Price(Usage{Output: tokens}).Output
		if want := rate / 1_000_000 * float64(tokens); got != want {
			t.Fatalf("%d tokens: %v; want %v", tokens, got, want)
		}
	}
}

func TestPriced(t *testing.T) {
	for _, c := range []struct {
		m    Model
		want bool
	}{
		{Model{}, false},
		{Model{Cost: Cost{Rates: Rates{CacheRead: 1}}}, true},
		{Model{Cost: Cost{Tiers: []Tier{{Rates: Rates{Input: 1}}}}}, true},
	} {
		if got := c.m.Priced(); got != c.want {
			t.Errorf("%+v: %v", c.m.Cost, got)
		}
	}
}
