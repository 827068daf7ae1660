package cache

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// priced is a model whose tokens cost 4 dollars per million sent, 16 answered, 1 read and 5 written; those of free cost
// nothing to write.
func priced(write float64, long bool) *seenModel {
	m := &ledger.Model{Ref: models.Ref{Provider: "p", ID: "m"}}
	m.Model = models.Model{Cost: models.Cost{Rates: models.Rates{Input: 4, Output: 16, CacheRead: 1, CacheWrite: write}}}
	return &seenModel{Model: m, observed: &observed{long: long}}
}

// TestInstead: a request with another context, in the provider's size. The recorded one has 2000 tokens, of which the
// counter knows 1000, with 100 that the file does not record.
func TestInstead(t *testing.T) {
	row := func(change func(r *Row)) *Row {
		r := &Row{Prompt: 2000, Shared: &Shared{Tokens: 700, Messages: 7}, Expected: &Expected{Read: 700, Write: 1300}, Entry: "e", Record: 9,
			basis: basis{model: priced(5, false), counted: 1000, hidden: 100, output: 10}}
		if change != nil {
			change(r)
		}
		return r
	}
	pause := func(r *Row) {
		r.Break = &Break{Cause: CausePause, Pause: 400, Lifetime: 300, Rebilled: Rebilled{Tokens: 3}}
	}
	for _, c := range []struct {
		name    string
		r       *Row
		c       Context
		prompt  int64
		shared  Shared
		read    int64
		cause   Cause
		at      int
		pause   int64
		again   int64
		dollars float64 // of again, in millionths
	}{
		{"no earlier request", row(nil), Context{Messages: 5, Counted: 300, Kept: -1, Again: 200, Cause: CauseEdit}, 800, Shared{}, 0, "", 0, 0, 0, 0},
		{"one that only adds", row(nil), Context{Messages: 5, Counted: 300, Kept: 200}, 800, Shared{Tokens: 600, Messages: 5}, 600, "", 0, 0, 0, 0},
		{"one that breaks", row(nil), Context{Messages: 5, Counted: 300, Kept: 200, Again: 50, Cause: CauseEdit}, 800, Shared{Tokens: 600, Messages: 5}, 600, CauseEdit, 5, 0, 100, 400},
		{"and had more", row(nil), Context{Messages: 5, Counted: 300, Kept: 200, Again: 500, Cause: CauseEdit}, 800, Shared{Tokens: 600, Messages: 5}, 600, CauseEdit, 5, 0, 200, 800},
		{"of no size", row(func(r *Row) { r.Estimated = true }), Context{Messages: 5, Counted: 300, Kept: 200, Again: 50, Cause: CauseEdit}, 400, Shared{Tokens: 300, Messages: 5}, 300, CauseEdit, 5, 0, 50, 200},
		{"that failed", row(func(r *Row) { r.basis.unbilled = true }), Context{Messages: 5, Counted: 300, Kept: 200, Again: 50, Cause: CauseEdit}, 800, Shared{Tokens: 600, Messages: 5}, 600, CauseEdit, 5, 0, 0, 0},
		{"a pause that kept less", row(pause), Context{Messages: 9, Counted: 900, Kept: 500, Again: 100, Cause: CauseEdit}, 2000, Shared{Tokens: 700, Messages: 7}, 700, CausePause, 7, 400, 700, 2800},
		{"a pause that kept as much", row(pause), Context{Messages: 9, Counted: 900, Kept: 250, Again: 100, Cause: CauseEdit}, 2000, Shared{Tokens: 700, Messages: 9}, 700, CauseEdit, 9, 0, 200, 800},
		{"a pause, with fewer messages", row(pause), Context{Messages: 3, Counted: 900, Kept: 800}, 2000, Shared{Tokens: 700, Messages: 3}, 700, CausePause, 3, 400, 1100, 4400},
		{"the recorded one", row(pause), Context{Messages: 9, Counted: 900, Kept: 500, Same: true}, 2000, Shared{Tokens: 700, Messages: 7}, 700, CausePause, 0, 400, 3, 0},
	} {
		got := c.r.Instead(c.c)
		if got.Prompt != c.prompt || *got.Shared != c.shared || got.Expected.Read != c.read || got.Expected.Write != c.prompt-c.read || got.Entry != "e" || got.Record != 9 {
			t.Errorf("%s: %d %+v %+v", c.name, got.Prompt, got.Shared, got.Expected)
		}
		if all, hidden := got.Counted(); all != c.c.Counted+100 || hidden != 100 {
			t.Errorf("%s: counted %d, hidden %d", c.name, all, hidden)
		}
		var b Break
		if got.Break != nil {
			b = *got.Break
		}
		if b.Cause != c.cause || b.At != c.at || b.Pause != c.pause || got.Rebilled.Tokens != c.again || math.Abs(got.Rebilled.Cost*1e6-c.dollars) > 1e-3 || got.Rebilled != b.Rebilled {
			t.Errorf("%s: break %+v, again %+v", c.name, b, got.Rebilled)
		}
	}
	same := row(nil).Instead(Context{Same: true})
	if same.Break != nil || same.Rebilled != (Rebilled{}) || same.Shared.Tokens != 700 {
		t.Errorf("%+v", same)
	}
}

// TestRowCost: what a request costs by what a cache serves of it: writes at their own price, if they have one.
func TestRowCost(t *testing.T) {
	for _, c := range []struct {
		b       basis
		none    bool
		dollars float64 // millionths
		priced  bool
	}{
		{basis{model: priced(5, false), output: 10}, false, 700 + 300*5 + 160, true},
		{basis{model: priced(5, false), output: 10, long: true}, false, 700 + 300*8 + 160, true},
		{basis{model: priced(0, false), output: 10}, false, 700 + 300*4 + 160, true},
		{basis{model: priced(5, false), output: 10, unbilled: true}, false, 0, true},
		{basis{model: priced(5, false), output: 10}, true, 0, true},
		{basis{model: &seenModel{Model: &ledger.Model{}}, output: 10}, false, 0, false},
	} {
		r := Row{Prompt: 1000, Expected: &Expected{Read: 700, Write: 300}, basis: c.b}
		if c.none {
			r.Expected = nil
		}
		if cost, priced := r.Cost(); math.Abs(cost.Total*1e6-c.dollars) > 1e-3 || priced != c.priced {
			t.Errorf("%+v: %g millionths, %v; want %g", c.b, cost.Total*1e6, priced, c.dollars)
		}
		r.basis.counted = 500
		want := 20.0*4 + 2*16
		if c.b.unbilled || !c.priced {
			want = 0
		}
		if c.b.model.Model != nil && math.Abs(r.SummaryCost(10, 1)*1e6-want) > 1e-3 {
			t.Errorf("a summary costs %g millionths, want %g", r.SummaryCost(10, 1)*1e6, want)
		}
	}
	for _, c := range []struct {
		r    Row
		want bool
	}{{Row{Prompt: 1}, true}, {Row{}, false}, {Row{Prompt: 1, Estimated: true}, false}} {
		if c.r.Sized() != c.want {
			t.Errorf("%+v: sized %v", c.r, !c.want)
		}
	}
	for _, c := range [][4]int64{{10, 100, 200, 20}, {10, 0, 200, 10}, {10, 100, 0, 10}, {1, 3, 2, 1}, {0, 3, 2, 0}} {
		if got := scaled(c[0], c[1], c[2]); got != c[3] {
			t.Errorf("%d of %d as %d: %d, want %d", c[0], c[1], c[2], got, c[3])
		}
	}
}

// TestRebilled: tokens cost what they cost the request, else what the table says, beyond reading them.
func TestRebilled(t *testing.T) {
	for _, c := range []struct {
		m          *seenModel
		paid, read float64
		known      bool
		want       float64 // millionths for ten tokens
		unpriced   int64
	}{
		{priced(5, false), 0, 0, false, 40, 0}, {priced(5, true), 0, 0, false, 70, 0}, {priced(0, false), 0, 0, false, 30, 0},
		{priced(5, false), 9e-6, 0, true, 80, 0}, {priced(5, false), 9e-6, 2e-6, true, 70, 0}, {priced(5, false), 1e-6, 2e-6, true, 0, 0},
		{&seenModel{Model: &ledger.Model{}, observed: &observed{}}, 0, 0, false, 0, 10}, {&seenModel{Model: &ledger.Model{}, observed: &observed{}}, 0, 0, true, 0, 0},
		{&seenModel{Model: &ledger.Model{}, observed: &observed{}}, 1e-6, 0, false, 10, 0},
	} {
		got := c.m.rebilled(c.paid, c.read, c.known, 100, 10)
		if got.Tokens != 10 || math.Abs(got.Cost*1e6-c.want) > 1e-3 || got.Unpriced != c.unpriced {
			t.Errorf("paid %g, read %g: %+v, want %g", c.paid, c.read, got, c.want)
		}
	}
	if got := priced(5, false).rebilled(0, 0, false, 0, 10); got != (Rebilled{Tokens: 10}) {
		t.Errorf("of a request without a prompt: %+v", got)
	}
	for _, c := range []struct {
		cache models.PromptCache
		o     observed
		want  int64
	}{
		{models.PromptCache{}, observed{seen: 9}, 0}, {models.PromptCache{Short: 300}, observed{}, 300_000}, {models.PromptCache{Short: 300}, observed{seen: 400_000}, 400_000},
		{models.PromptCache{Short: 300, Long: 3600}, observed{}, 300_000}, {models.PromptCache{Short: 300, Long: 3600}, observed{long: true}, 3600_000},
		{models.PromptCache{Long: 3600}, observed{}, 3600_000}, {models.PromptCache{Short: 300}, observed{long: true}, 300_000},
	} {
		m := &seenModel{Model: &ledger.Model{Model: models.Model{PromptCache: c.cache}}, observed: &c.o}
		if got := m.lifetime(); got != c.want {
			t.Errorf("%+v %+v: %d ms, want %d", c.cache, c.o, got, c.want)
		}
	}
}

// TestPart: recorded bodies differ first in the order in which a provider caches them.
func TestPart(t *testing.T) {
	sent := func(digests string) *dialect.Sent {
		var all []dialect.Digest
		for _, c := range digests {
			all = append(all, dialect.Digest{byte(c)})
		}
		return dialect.NewSent(nil, 0, all)
	}
	tool := func(name string) jsonl.Value { return jsonl.Value(`{"name":"` + name + `"}`) }
	one := &dialect.PromptSketch{Sections: []dialect.Section{{Name: "s", Text: "x"}}, Tools: []jsonl.Value{tool("t")}}
	again := &dialect.PromptSketch{Sections: slices.Clone(one.Sections), Tools: slices.Clone(one.Tools)}
	tools := &dialect.PromptSketch{Sections: []dialect.Section{{Name: "s", Text: "y"}}, Tools: []jsonl.Value{tool("u")}}
	system := &dialect.PromptSketch{Sections: []dialect.Section{{Name: "s", Text: "y"}}, Tools: one.Tools}
	think := jsonl.Value(`{"thinking":{"type":"enabled","budget_tokens":5},"output_config":{"effort":"low"},"x":1}`)
	for _, c := range []struct {
		name    string
		was, is dialect.Sketch
		want    string
	}{
		{"more", dialect.Sketch{Prompt: one, Sent: sent("ab")}, dialect.Sketch{Prompt: one, Sent: sent("abc")}, "true 2  []"},
		{"the same", dialect.Sketch{Prompt: one, Sent: sent("ab")}, dialect.Sketch{Prompt: again, Sent: sent("ab")}, "true 2  []"},
		{"fewer", dialect.Sketch{Prompt: one, Sent: sent("ab")}, dialect.Sketch{Prompt: one, Sent: sent("a")}, "false 1 rewritten []"},
		{"another", dialect.Sketch{Prompt: one, Sent: sent("ab")}, dialect.Sketch{Prompt: one, Sent: sent("xb")}, "false 0 rewritten []"},
		{"tools", dialect.Sketch{Prompt: one, Sent: sent("ab")}, dialect.Sketch{Prompt: tools, Sent: sent("ab")}, "false 0 tools [tool t tool u s]"},
		{"system", dialect.Sketch{Prompt: one, Sent: sent("ab")}, dialect.Sketch{Prompt: system, Sent: sent("ab")}, "false 0 system [s]"},
		{"thinking", dialect.Sketch{Prompt: one, Sent: sent("ab")}, dialect.Sketch{Prompt: one, Sent: sent("ab"), Params: think}, "false 0 thinking []"},
		{"other parameters", dialect.Sketch{Prompt: one, Sent: sent("ab")}, dialect.Sketch{Prompt: one, Sent: sent("ab"), Params: jsonl.Value(`{"x":2}`)}, "true 2  []"},
		{"effort", dialect.Sketch{Prompt: one, Sent: sent("a"), Params: think}, dialect.Sketch{Prompt: one, Sent: sent("a"), Params: jsonl.Value(`{"thinking":{"type":"enabled","budget_tokens":5},"output_config":{"effort":"high"}}`)}, "false 0 thinking []"},
		{"a budget", dialect.Sketch{Prompt: one, Sent: sent("a"), Params: think}, dialect.Sketch{Prompt: one, Sent: sent("a"), Params: jsonl.Value(`{"thinking":{"type":"enabled","budget_tokens":6},"output_config":{"effort":"low"}}`)}, "false 0 thinking []"},
	} {
		p := part(&c.was, &c.is)
		if got := fmt.Sprint(p.whole, " ", p.at, " ", p.cause, " ", p.sections); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestCorrected: what recorded bodies say goes before what the session gives, except for why.
func TestCorrected(t *testing.T) {
	all := []Cause{"", CauseModel, CauseSystem, CauseTools, CauseThinking, CauseCompaction, CauseEdit, CauseTransform, CauseBranch, CauseEphemeral, CauseUncached, CauseUnknown}
	stay := map[Cause]string{
		CauseSystem:    "system- system+ system+ system- system+ compaction+ system+ system+ branch+ system+ system+ system-",
		CauseRewritten: "rewritten- model+ rewritten- rewritten- rewritten- compaction+ edit+ transform+ branch+ rewritten- rewritten- rewritten-",
	}
	for cause, want := range stay {
		got := ""
		for _, was := range all {
			var b *Break
			if was != "" {
				b = &Break{Cause: was, Record: 7, Op: 3, Sections: []string{"old"}}
			}
			b = (&parting{at: 4, cause: cause, sections: []string{"new"}}).corrected(b)
			kept := map[bool]string{true: "+", false: "-"}[b.Record == 7 && b.Op == 3]
			got += " " + string(b.Cause) + kept
			if !b.Recorded || b.At != 4 || cause == CauseSystem && b.Sections[0] != "new" || cause == CauseRewritten && kept == "-" && b.Sections != nil {
				t.Errorf("%s over %q: %+v", cause, was, b)
			}
		}
		if got[1:] != want {
			t.Errorf("%s: %s, want %s", cause, got[1:], want)
		}
	}
	if b := (&parting{whole: true}).corrected(&Break{Cause: CauseEdit}); b != nil {
		t.Errorf("a body that only adds breaks at %+v", b)
	}
}

// TestCompare: a course compared with itself is the same, and is served as a walk over its requests says.
func TestCompare(t *testing.T) {
	compared := 0
	for _, c := range corpus.Own(t) {
		s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
		if err != nil {
			continue
		}
		read := func() *ledger.Ledger {
			return must.Get(ledger.Read(replay.New(s, replay.Options{Lenient: true}), ledger.Options{Leaf: s.Leaf(), Counter: &tokens.Pi}))
		}
		l := read()
		all, err := Compare(l, read())
		must.Do(err)
		for _, one := range all {
			compared++
			k := slices.IndexFunc(l.Requests, func(q ledger.Request) bool { return int(q.Record) == one.Record })
			if q := &l.Requests[k]; one.Was != one.Is || one.Was.Read+one.Was.Write != one.Was.Prompt || q.Size() > 0 && one.Was.Prompt != q.Size() || q.Free() {
				t.Errorf("%s: record %d of %d tokens: %+v", c.Name, one.Record, q.Size(), one)
			}
		}
		s.Close()
	}
	if compared < 50 {
		t.Errorf("only %d requests", compared)
	}
	m := priced(5, false)
	for _, c := range []struct {
		m    *seenModel
		want Served
	}{
		{m, Served{Prompt: 200, Read: 60, Write: 140, Cost: 60e-6 + 140*5e-6}}, {priced(5, true), Served{Prompt: 200, Read: 60, Write: 140, Cost: 60e-6 + 140*8e-6}},
		{priced(0, false), Served{Prompt: 200, Read: 60, Write: 140, Cost: 60e-6 + 140*4e-6}},
	} {
		got := c.m.priced(Served{Prompt: 100, Read: 30, Write: 70}, 2)
		if math.Abs(got.Cost-c.want.Cost) > 1e-12 {
			t.Errorf("%+v, want %+v", got, c.want)
		}
		if got.Cost = c.want.Cost; got != c.want {
			t.Errorf("%+v, want %+v", got, c.want)
		}
	}
}
