package models

import (
	"math"
	"strings"
	"testing"

	"ctxtool/sessionfmt/jsonl"
)

func same(a, b float64) bool { return math.Abs(a-b) < 1e-9*max(1, math.Abs(b)) }

// TestFactors compares the factors with the models that resellers list for the same terms: a name with
// -fast is Anthropic's fast mode or OpenAI's tier priority, one with :batch or -batch the tier batch.
func TestFactors(t *testing.T) {
	compared := 0
	for sold := range Builtin().All() {
		maker, id, ok := strings.Cut(sold.ID, "/")
		if !ok || maker != "anthropic" && maker != "openai" {
			continue
		}
		var terms jsonl.Terms
		plain, fast := strings.CutSuffix(id, "-fast")
		switch {
		case fast && maker == "anthropic":
			terms.Speed = "fast"
		case fast:
			terms.Tier = "priority"
		default:
			plain, terms.Tier = strings.TrimSuffix(strings.TrimSuffix(id, "-batch"), ":batch"), "batch"
		}
		base, _, ok := Builtin().Lookup(sold.Provider, maker+"/"+plain)
		if plain == id || !ok || base.ID != maker+"/"+plain || strings.HasPrefix(plain, "gpt-oss") || plain == "gpt-5.1-thinking" {
			continue
		}
		if base.Provider = maker; maker == "anthropic" {
			plain = strings.ReplaceAll(plain, ".", "-")
		}
		base.ID = plain
		on, unknown := base.On(terms)
		compared++
		if unknown != "" || !same(on.Cost.Input, sold.Cost.Input) || !same(on.Cost.Output, sold.Cost.Output) {
			t.Errorf("%s/%s: %+v %q, %s sells it at %+v", maker, plain, on.Cost.Rates, unknown, sold.Provider, sold.Cost.Rates)
		}
		for i, tier := range sold.Cost.Tiers {
			if i < len(on.Cost.Tiers) && !same(on.Cost.Tiers[i].Input, tier.Input) {
				t.Errorf("%s/%s above %d: %v, not %v", maker, plain, tier.InputTokensAbove, on.Cost.Tiers[i].Input, tier.Input)
			}
		}
	}
	if compared < 40 {
		t.Errorf("only %d compared", compared)
	}
}

func TestPaidOnTerms(t *testing.T) {
	usage := jsonl.Usage{Input: 10_000, Output: 1000}
	long := jsonl.Usage{Input: 300_000, Output: 1000}
	for _, c := range []struct {
		provider, id string
		u            jsonl.Usage
		terms        jsonl.Terms
		searches     int64
		want         float64
		lacks        string // nothing for a known price
	}{
		{"anthropic", "claude-opus-4-6", usage, jsonl.Terms{}, 0, 0.075, ""},
		{"anthropic", "claude-opus-4-6", usage, jsonl.Terms{Speed: "fast"}, 0, 0.45, ""},
		{"anthropic", "claude-opus-4-6", usage, jsonl.Terms{Geo: "us"}, 0, 0.0825, ""},
		{"anthropic", "claude-opus-4-6", usage, jsonl.Terms{Speed: "fast", Geo: "us"}, 0, 0.495, ""},
		{"anthropic", "claude-opus-4-6", usage, jsonl.Terms{}, 20, 0.275, ""},
		{"anthropic", "claude-opus-4-6", usage, jsonl.Terms{Speed: "fast"}, 20, 0.65, ""},
		{"anthropic", "claude-opus-4-6", usage, jsonl.Terms{Tier: "batch"}, 0, 0.0375, ""},
		{"anthropic", "claude-opus-4-6", usage, jsonl.Terms{Tier: "priority"}, 0, 0, "service tier priority"},
		{"anthropic", "claude-opus-4-6", usage, jsonl.Terms{Geo: "eu"}, 0, 0, "inference geo eu"},
		{"anthropic", "claude-opus-4-5", usage, jsonl.Terms{Geo: "us"}, 0, 0, "inference geo us"},
		{"anthropic", "claude-sonnet-4-6", usage, jsonl.Terms{Speed: "fast"}, 0, 0, "speed fast"},
		{"anthropic", "claude-opus-4-6[1m]", long, jsonl.Terms{Speed: "fast"}, 0, 9.15, ""},
		{"anthropic", "claude-sonnet-4-5[1m]", long, jsonl.Terms{}, 0, 1.8225, ""},
		{"anthropic", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", usage, jsonl.Terms{}, 0, 0.0495, ""},
		{"anthropic", "global.anthropic.claude-sonnet-4-5-20250929-v1:0", usage, jsonl.Terms{}, 0, 0.045, ""},
		{"anthropic", "claude-opus-4-5@20251101", usage, jsonl.Terms{}, 0, 0.075, ""},
		{"openai", "gpt-5.4", usage, jsonl.Terms{Tier: "priority"}, 0, 0.08, ""},
		{"openai", "gpt-5.4", usage, jsonl.Terms{Tier: "flex"}, 0, 0.02, ""},
		{"openai", "gpt-5.4", long, jsonl.Terms{Tier: "flex"}, 0, 0.76125, ""},
		{"openai", "gpt-5.4", long, jsonl.Terms{Tier: "priority"}, 0, 0, "service tier priority with a long prompt"},
		{"openai", "gpt-5.5", usage, jsonl.Terms{Tier: "priority"}, 0, 0.2, ""},
		{"openai", "gpt-5.4-nano", usage, jsonl.Terms{Tier: "priority"}, 0, 0, "service tier priority"},
		{"openai", "gpt-5.4", usage, jsonl.Terms{Tier: "scale"}, 0, 0, "service tier scale"},
		{"azure", "gpt-5.4", usage, jsonl.Terms{Tier: "priority"}, 0, 0, "service tier priority"},
		{"acme", "m1", usage, jsonl.Terms{Tier: "priority"}, 0, 0, ""},
	} {
		c.u.Terms, c.u.Searches = c.terms, c.searches
		m, _, _ := Builtin().Lookup(c.provider, c.id)
		dollars, recorded, ok := m.Paid(&c.u)
		if !same(dollars, c.want) || recorded || ok != (c.want > 0) || !ok && m.Lacks(&c.u) != c.lacks {
			t.Errorf("%s/%s on %+v: %v %v %v %q, want %v %q", c.provider, c.id, c.terms, dollars, recorded, ok,
				m.Lacks(&c.u), c.want, c.lacks)
		}
		c.u.Cost = jsonl.Cost{Known: true, Total: 3}
		if dollars, recorded, ok := m.Paid(&c.u); dollars != 3 || !recorded || !ok {
			t.Errorf("%s/%s: the recorded cost does not count: %v", c.provider, c.id, dollars)
		}
	}
}

func TestWindowMark(t *testing.T) {
	for id, want := range map[string]int64{
		"claude-opus-4-6[1m]": 1_000_000, "claude-sonnet-4-5[1M]": 1_000_000, "claude-sonnet-4-5[400k]": 400_000,
		"claude-sonnet-4-5-20250929[1m]": 1_000_000, "us.anthropic.claude-sonnet-4-5-20250929-v1:0[1m]": 1_000_000,
		"claude-sonnet-4-5": 200_000, "claude-sonnet-4-5[m]": 0, "claude-sonnet-4-5[0m]": 0, "[1m]": 0, "opus[1m]": 0,
		"claude-sonnet-4-5[-1m]": 0, "claude-sonnet-4-5[99999999999999m]": 0,
	} {
		if m, _, _ := Builtin().Lookup("anthropic", id); m.ContextWindow != want {
			t.Errorf("%s: window %d, want %d", id, m.ContextWindow, want)
		}
	}
	own := Builtin().With(Model{Provider: "anthropic", ID: "claude-opus-4-6[1m]", Cost: Cost{Rates: Rates{Input: 9}}})
	if m, how, _ := own.Lookup("anthropic", "claude-opus-4-6[1m]"); how != Exact || m.Cost.Input != 9 {
		t.Errorf("a configured name with a mark: %v, %v", m, how)
	}
}
