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

// A naive is a prompt as a slice of parts, changed as docs/session-format.md 4.5 and the patch
// operations say.
type naive []Part

func (n *naive) set(name, text string) {
	if i := slices.IndexFunc(*n, func(p Part) bool { return p.Name == name }); i >= 0 {
		(*n)[i].Text = text
		return
	}
	*n = append(*n, NewPart(name, text, origin.Baseline))
}

func (n *naive) remove(name string) {
	*n = slices.DeleteFunc(*n, func(p Part) bool { return p.Name == name })
}

func (n *naive) content(text string) {
	if i := slices.IndexFunc(*n, func(p Part) bool { return p.Content }); i >= 0 {
		(*n)[i].Text += "\n\n" + text
		return
	}
	*n = append(naive{NewPart("content", text, origin.Baseline)}, *n...)
}

func (n *naive) section(name, text string) {
	at := slices.IndexFunc(*n, func(p Part) bool { return p.Name == name && !p.Content })
	switch {
	case at >= 0 && text == "":
		*n = slices.Delete(*n, at, at+1)
	case at >= 0:
		(*n)[at].Text = text
	case text != "":
		at = len(*n)
		if k, ok := jsonl.IndexName(name); ok {
			at = slices.IndexFunc(*n, func(p Part) bool {
				other, ok := jsonl.IndexName(p.Name)
				return !p.Content && (!ok || other >= k)
			})
			if at < 0 {
				at = len(*n)
			}
		}
		*n = slices.Insert(*n, at, Part{Name: name, Text: text})
	}
}

// change makes the same change of both.
func change(rnd *rand.Rand, f *Fold, n *naive) {
	name := []string{"a", "b", "c", "content", "0", "1", "5", "7", "20"}[rnd.IntN(9)]
	text := strings.Repeat("x", rnd.IntN(6)) + fmt.Sprint(rnd.IntN(3))
	switch rnd.IntN(12) {
	case 0:
		f.RemoveParts(name)
		n.remove(name)
	case 1, 2, 3:
		f.SetPart(name, text, origin.Baseline)
		n.set(name, text)
	case 4:
		f.Message(jsonl.Value(fmt.Sprintf(`{"content":%q}`, text)), origin.Baseline)
		n.content(text)
	case 5:
		f.Message(jsonl.Value(fmt.Sprintf(`{"sections":{%q:null}}`, name)), origin.Baseline)
		n.section(name, "")
	case 6:
		if rnd.IntN(4) == 0 {
			f.ReplaceParts()
			*n = nil
			for _, name := range []string{name, "a", name} {
				f.AddPart(name, text, origin.Baseline)
				*n = append(*n, NewPart(name, text, origin.Baseline))
			}
		}
	default:
		f.Message(jsonl.Value(fmt.Sprintf(`{"sections":{%q:%q}}`, name, text)), origin.Baseline)
		n.section(name, text)
	}
}

// TestFold: a fold has the parts that a slice has after the same changes, with the sum of their texts,
// and what it reports of two states makes one of the other.
func TestFold(t *testing.T) {
	counters := []*tokens.Counter{&tokens.Pi, &tokens.GSH, &tokens.SWE}
	for seed := range uint64(60) {
		rnd, c := rand.New(rand.NewPCG(seed, 3)), counters[seed%3]
		f := Fold{Meter: &Meter{Counter: c}}
		var is naive
		var states []State
		for range 80 {
			change(rnd, &f, &is)
			whole := Prompt{Parts: is}
			got := f.Parts()
			same := func(a, b Part) bool { return a.Name == b.Name && a.Text == b.Text && a.Content == b.Content }
			if !slices.EqualFunc(got, is, same) {
				t.Fatalf("seed %d:\n got %v\nwant %v", seed, got, is)
			}
			sum, _ := f.Sums()
			text := ""
			for _, p := range is {
				text += p.Text
			}
			n, _ := f.Counts(c)
			n.NoSystem, n.NoTools = false, false // whether the file records them is for whoever knows the agent
			if n != whole.Counts(c) || sum.Hash != hashed(text).Hash {
				t.Fatalf("seed %d: %+v and %x, want %+v and %x", seed, n, sum.Hash, whole.Counts(c), hashed(text).Hash)
			}
			each, _ := whole.Count(c)
			for i := range got {
				if n := f.Taken(&got[i], c); n != each[i] {
					t.Fatalf("seed %d: part %d takes %d, want %d", seed, i, n, each[i])
				}
			}
			states = append(states, f.Kept())
			was := states[rnd.IntN(len(states))]
			if made := applied(&was, &states[len(states)-1]); !slices.EqualFunc(made, got, same) {
				t.Fatalf("seed %d: differences make %v of %v, want %v", seed, made, was.Parts(), got)
			}
		}
	}
}

// applied returns the parts of a state with the differences of another one.
func applied(was, to *State) []Part {
	all := was.Parts()
	type edit struct{ at, gone int }
	var edits []edit
	var items []*Part
	was.PartsDiffer(to, func(at int, a, b *Part) {
		if a != b {
			gone := 0
			if a != nil {
				gone = 1
			}
			edits, items = append(edits, edit{at, gone}), append(items, b)
		}
	})
	for i, e := range slices.Backward(edits) {
		var added []Part
		if items[i] != nil {
			one := []Part{*items[i]}
			_ = Texts(one, nil)
			added = one
		}
		all = slices.Replace(all, e.at, e.at+e.gone, added...)
	}
	return all
}
