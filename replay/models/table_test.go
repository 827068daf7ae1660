package models

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"
	"testing"

	"ctxtool/internal/test/testenv"
)

// readCatalogue returns the models of the built-in table as another program took them, or skips the
// test: the catalogue is not part of the repository.
func readCatalogue(t *testing.T) []Model {
	t.Helper()
	catalogue := testenv.NeedShared(t, "data/models.jsonl")[0]
	data, err := os.ReadFile(catalogue)
	if err != nil {
		t.Fatal(err)
	}
	var all []Model
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		dec := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		// A field that Model does not have must not get lost unseen.
		dec.DisallowUnknownFields()
		var m Model
		if err := dec.Decode(&m); err != nil {
			t.Fatalf("%s:%d: %v", catalogue, len(all)+1, err)
		}
		all = append(all, m)
	}
	return all
}

// TestCatalogue asks the table for every model of the catalogue, which is of an earlier day: what
// providers have changed since are few models, what is read wrongly are many.
func TestCatalogue(t *testing.T) {
	all := readCatalogue(t)
	table := Builtin()
	changed, gone := 0, 0
	for _, want := range all {
		got, how, ok := table.Lookup(want.Provider, want.ID)
		if !ok || how != Exact {
			gone++
			continue
		}
		if !got.Takes.Has("text") {
			t.Errorf("%s takes %q", want.ID, got.Takes)
		}
		got.Takes, got.Interface = "", Interface{} // not in the catalogue
		if !reflect.DeepEqual(got, want) {
			changed++
		}
	}
	t.Logf("of %d models %d have changed and %d are gone", len(all), changed, gone)
	if changed+gone > len(all)/8 {
		t.Errorf("of %d models %d have changed and %d are gone", len(all), changed, gone)
	}
}

// TestBuiltinLines needs no catalogue: encoding what was decoded must give
// the embedded lines back, and every line must be found by its own name.
func TestBuiltinLines(t *testing.T) {
	table := Builtin()
	all := slices.Collect(table.All())
	if len(all) < 1600 {
		t.Errorf("%d models; want 1600 or more", len(all))
	}
	built := unpack()
	text := "\n"
	for _, k := range built.keys {
		text += built.lines[k] + "\n"
	}
	if encode(all) != text {
		t.Error("decoding and encoding the built-in lines changes them")
	}
	seen := map[key]bool{}
	for _, m := range all {
		if seen[m.key()] {
			t.Errorf("%v is there twice", m.key())
		}
		seen[m.key()] = true
		if m.ContextWindow <= 0 || m.MaxTokens <= 0 {
			t.Errorf("%v: window %d, limit %d", m.key(), m.ContextWindow, m.MaxTokens)
		}
		if !slices.IsSortedFunc(m.Cost.Tiers, func(a, b Tier) int { return int(a.InputTokensAbove - b.InputTokensAbove) }) {
			t.Errorf("%v: tiers out of order", m.key())
		}
	}
}

// TestMakers holds every maker to a provider of the table.
func TestMakers(t *testing.T) {
	known := map[string]bool{}
	for m := range Builtin().All() {
		known[m.Provider] = true
	}
	for _, m := range makers {
		if !known[m.provider] {
			t.Errorf("maker %q of %q is not in the table", m.provider, m.prefix)
		}
	}
}

func TestWith(t *testing.T) {
	base := Builtin()
	was, _, _ := base.Lookup("anthropic", "claude-opus-4-5")
	window := Model{Provider: "anthropic", ID: "claude-opus-4-5", ContextWindow: 123}
	price := Model{Provider: "anthropic", ID: "claude-opus-4-5", Cost: Cost{Rates: Rates{Output: 9}}}
	added := Model{Provider: "house", ID: "own-1", ContextWindow: 4096}
	table := base.With(window, added).With(price, Model{Provider: "house", ID: "own-1", MaxTokens: 512})

	want := was
	want.ContextWindow, want.Cost.Output = 123, 9
	if got, how, _ := table.Lookup("anthropic", "claude-opus-4-5"); how != Exact || !reflect.DeepEqual(got, want) {
		t.Errorf("overridden: %v %+v; want %+v", how, got, want)
	}
	wantAdded := Model{Provider: "house", ID: "own-1", ContextWindow: 4096, MaxTokens: 512}
	if got, how, _ := table.Lookup("house", "own-1"); how != Exact || !reflect.DeepEqual(got, wantAdded) {
		t.Errorf("added: %v %+v; want %+v", how, got, wantAdded)
	}
	if got, how, _ := table.Lookup("elsewhere", "own-1-20260101"); how != Bare || !reflect.DeepEqual(got, wantAdded) {
		t.Errorf("added, by fallback: %v %+v; want %+v", how, got, wantAdded)
	}
	if got, _, _ := base.Lookup("anthropic", "claude-opus-4-5"); !reflect.DeepEqual(got, was) {
		t.Errorf("With changed its receiver: %+v", got)
	}
	all := slices.Collect(table.All())
	if own := len(slices.Collect(base.All())); len(all) != own+1 || !reflect.DeepEqual(all[own], wantAdded) || !slices.ContainsFunc(all, func(m Model) bool { return reflect.DeepEqual(m, want) }) {
		t.Errorf("All yields %d models; want %d, the overridden in place and the added last", len(all), own+1)
	}
}

func TestWithTiers(t *testing.T) {
	tiers := []Tier{{InputTokensAbove: 10, Rates: Rates{Input: 2}}}
	o := Model{Provider: "openai", ID: "gpt-5.4", Cost: Cost{Tiers: tiers}}
	table := Builtin().With(o)
	tiers[0].InputTokensAbove = 99
	for range 2 {
		got, _, _ := table.Lookup("openai", "gpt-5.4")
		if len(got.Cost.Tiers) != 1 || got.Cost.Tiers[0].InputTokensAbove != 10 {
			t.Errorf("tiers %+v; want the one bound of 10 that With was given", got.Cost.Tiers)
		}
		got.Cost.Tiers[0].InputTokensAbove = 98
	}
}

// TestConcurrentFirst has several goroutines ask a fresh table at once.
func TestConcurrentFirst(t *testing.T) {
	table := &Table{facts: sync.OnceValue(unpack)}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, _, ok := table.Lookup("openai", "gpt-5.4"); !ok {
				t.Error("gpt-5.4 not found")
			}
		})
	}
	wg.Wait()
}

func BenchmarkLookup(b *testing.B) {
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			table := &Table{facts: sync.OnceValue(unpack)}
			if _, _, ok := table.Lookup("xiaomi-token-plan-sgp", "mimo-v2.6-pro"); !ok {
				b.Fatal("not found")
			}
		}
	})
	for _, q := range []struct {
		how Match
		id  key
	}{
		{Exact, key{"xai", "grok-4.7"}},
		{Dated, key{"openai", "gpt-5.4-2026-03-05"}},
		{Bare, key{"acme", "gpt-5.4"}},
		{None, key{"acme", "m1"}},
	} {
		b.Run(fmt.Sprint("later/", q.how), func(b *testing.B) {
			table := Builtin()
			for b.Loop() {
				if _, how, _ := table.Lookup(q.id.provider, q.id.id); how != q.how {
					b.Fatal(how)
				}
			}
		})
	}
}

func TestTakes(t *testing.T) {
	m, _, _ := Builtin().Lookup("openai", "gpt-5.1")
	off, named := m.Takes.Level("off")
	if !m.Takes.Has("reasoning") || off != "none" || !named {
		t.Errorf("gpt-5.1 takes %q; off is %q, %v", m.Takes, off, named)
	}
	if name, named := m.Takes.Level("xhigh"); name != "" || !named {
		t.Errorf("xhigh is %q, %v", name, named)
	}
	if name, named := Takes("text xoff=1").Level("off"); name != "" || named {
		t.Errorf("a level that only ends like another one is %q, %v", name, named)
	}
}
