package jsonl

import "testing"

// TestUsage: impossible numbers count as not recorded, and the
// first of them is named.
func TestUsage(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Usage
	}{
		{`{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"cacheWrite1h":1,"totalTokens":10,"cost":{"input":0.1,"output":1,"cacheRead":0.2,"cacheWrite":0.3,"total":0.6,"totalFromProvider":true}}`,
			Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, CacheWrite1h: 1, Total: 10, Cost: Cost{0.1, 0.2, 0.3, 0.6, true, true}}},
		{`{"input":1.9,"output":9007199254740992,"cost":{"total":0}}`, Usage{Input: 1, Output: MostUsage, Cost: Cost{Known: true}}},
		{`{"input":9007199254740994,"output":-1,"cost":{"total":1}}`, Usage{Implausible: "input", Cost: Cost{Total: 1, Known: true}}},
		{`{"output":1e308,"cost":{"total":1e999}}`, Usage{Implausible: "output"}},
		{`{"input":1,"cost":{"input":1e308,"total":9007199254740994}}`, Usage{Input: 1, Implausible: "cost.input"}},
		{`{"cost":{"output":-1,"total":9007199254740992}}`, Usage{Implausible: "cost.output", Cost: Cost{Total: MostUsage, Known: true}}},
		{`{"totalTokens":-5}`, Usage{Implausible: "totalTokens"}},
		{`{"input":"7","cost":{"total":"1"},"x":[{}]}`, Usage{}},
		{`{"input":7,"input":8,"cost":{"total":8,"totalFromProvider":true},"cost":{"total":0.25}}`, Usage{Input: 8, Cost: Cost{Total: 0.25, Known: true}}},
		{`{"input":1,"serviceTier":"flex","speed":"fast","inferenceGeo":"us","webSearches":3}`,
			Usage{Input: 1, Searches: 3, Terms: Terms{"flex", "fast", "us"}}},
		{`[1]`, Usage{}},
		{`null`, Usage{}},
	} {
		if got := Value(c.in).Usage(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.in, got, c.want)
		}
	}
	if u := (Usage{Input: 1, CacheRead: 2, CacheWrite: 4, Output: 8}); u.Prompt() != 7 || u.Context() != 15 {
		t.Errorf("prompt %d, context %d", u.Prompt(), u.Context())
	}
	if u := (Usage{Input: 1, Total: 9}); u.Context() != 9 {
		t.Errorf("context %d", u.Context())
	}
}
