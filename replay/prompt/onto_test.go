package prompt

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ctxtool/replay/origin"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// said describes parts, tools and options of a fold.
func said(f *Fold, texts bool) string {
	var all []string
	for _, p := range f.Parts() {
		text := p.Text
		if !texts {
			text = ""
		}
		all = append(all, fmt.Sprintf("part %s %q %t", p.Name, text, p.Content))
	}
	have, lack := f.Tools()
	for _, t := range append(have, lack...) {
		all = append(all, fmt.Sprintf("tool %s %s", t.Name, t.Raw))
	}
	return strings.Join(append(all, fmt.Sprintf("options %s %s %s", f.Options.Reasoning, f.Options.Temperature, f.Options.MaxTokens)), "\n")
}

// op returns an operation of a patch, by lot.
func op(rnd *rand.Rand) func(f *Fold) {
	name, text := []string{"a", "b", "c", "content"}[rnd.IntN(4)], fmt.Sprint("text ", rnd.IntN(100))
	tool := func() Tool {
		return NewTool(jsonl.Value(fmt.Sprintf(`{"name":%q,"description":%q}`, name, text)), origin.Baseline)
	}
	switch rnd.IntN(8) {
	case 0:
		return func(f *Fold) { f.RemoveParts(name) }
	case 1, 2:
		return func(f *Fold) { f.SetPart(name, text, origin.Baseline) }
	case 3:
		return func(f *Fold) {
			f.ReplaceParts()
			f.AddPart(name, text, origin.Baseline)
			f.AddPart("z", text, origin.Baseline)
		}
	case 4:
		return func(f *Fold) { f.RemoveTools(name) }
	case 5:
		return func(f *Fold) { f.ReplaceTools(); f.AddTool(tool()) }
	case 6:
		return func(f *Fold) { f.Options.Reasoning = jsonl.AppendQuoted(nil, text) }
	}
	return func(f *Fold) { f.Options.MaxTokens, f.Options.Temperature = jsonl.Value("7"), jsonl.Value("0.5") }
}

// TestOnto: ops that are collected before their prompt is known do to it what they do one by one.
func TestOnto(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		var before, ops []func(*Fold)
		for range rnd.IntN(6) {
			before = append(before, op(rnd))
		}
		for range 1 + rnd.IntN(4) {
			if do := op(rnd); rnd.IntN(3) > 0 {
				ops = append(ops, do)
			}
		}
		fold := func(all []func(*Fold)) *Fold {
			f := &Fold{Meter: &Meter{Counter: &tokens.Pi}}
			f.AddPart("a", "base", origin.Baseline)
			for _, do := range all {
				do(f)
			}
			return f
		}
		want, got := fold(slices.Concat(before, ops)), fold(before)
		collected := OfOps(got)
		for _, do := range ops {
			do(&collected)
		}
		collected.Onto(got)
		if said(got, true) != said(want, true) {
			t.Fatalf("seed %d:\n%s\nwant\n%s", seed, said(got, true), said(want, true))
		}
		if n, units := got.Counts(&tokens.Pi); true {
			if wants, wantUnits := want.Counts(&tokens.Pi); n != wants || units != wantUnits {
				t.Fatalf("seed %d: %+v of %d units, want %+v of %d", seed, n, units, wants, wantUnits)
			}
		}
	}
}

// TestTexts: texts that a fold leaves out are those that it would have, read again from where they come.
func TestTexts(t *testing.T) {
	for seed := range uint64(100) {
		var groups [][]uint64 // the seeds of changes, by where they come from
		rnd := rand.New(rand.NewPCG(seed, 11))
		for range 1 + rnd.IntN(8) {
			var group []uint64
			for range 1 + rnd.IntN(3) {
				group = append(group, rnd.Uint64())
			}
			groups = append(groups, group)
		}
		again := func(f *Fold, from any) error {
			for _, one := range groups[from.(int)] {
				change(rand.New(rand.NewPCG(one, 0)), f, new(naive))
			}
			return nil
		}
		plain, left := &Fold{}, &Fold{}
		for k := range groups {
			left.Begin(k)
			_ = again(plain, k)
			_ = again(left, k)
		}
		parts := left.Parts()
		for _, p := range parts {
			if p.Text != "" {
				t.Fatalf("seed %d: part %s keeps its text", seed, p.Name)
			}
		}
		if err := Texts(parts, again); err != nil {
			t.Fatal(err)
		}
		for k, want := range plain.Parts() {
			if got := parts[k]; got.Name != want.Name || got.Text != want.Text {
				t.Fatalf("seed %d: part %d is %s %q, want %s %q", seed, k, got.Name, got.Text, want.Name, want.Text)
			}
		}
		failed := fmt.Errorf("failed")
		if parts = left.Parts(); len(parts) > 0 && Texts(parts, func(*Fold, any) error { return failed }) != failed {
			t.Errorf("seed %d: an error is lost", seed)
		}
	}
}

// TestUnrecorded: what no record has of prompt and tools.
func TestUnrecorded(t *testing.T) {
	one, tool := []Part{{Name: "a"}}, []Tool{{Name: "t"}}
	for _, c := range []struct {
		p             Prompt
		system, tools bool
	}{
		{Prompt{}, true, true}, {Prompt{Known: true}, false, false}, {Prompt{Known: true, NoTools: true}, false, true}, {Prompt{Parts: one}, false, true}, {Prompt{Tools: tool}, true, false},
		{Prompt{Omitted: tool, NoTools: true, Known: true}, false, false},
	} {
		if system, tools := c.p.Unrecorded(); system != c.system || tools != c.tools {
			t.Errorf("%+v: %v, %v", c.p, system, tools)
		}
	}
	if a, b, c := NewTool(jsonl.Value(`{"name":"a","x":1}`), origin.Baseline), NewTool(jsonl.Value(`{"name":"a", "x":1}`), origin.Baseline), NewTool(jsonl.Value(`{"name":"b"}`), origin.Baseline); a.Digest() != b.Digest() || a.Digest() == c.Digest() || a.Digest() == 0 {
		t.Error("digests of tools")
	}
}
