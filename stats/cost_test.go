package stats_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats"
)

// lenses finds lenses by name.
func lenses(t *testing.T, names ...string) (found []*stats.Lens) {
	t.Helper()
	for _, l := range stats.Lenses {
		if slices.Contains(names, l.Name) {
			found = append(found, l)
		}
	}
	if len(found) != len(names) {
		t.Fatalf("no such lenses: %v", names)
	}
	return found
}

// store writes sessions into a folder, and returns their names.
func store(t *testing.T, sessions ...[]byte) (names []string) {
	t.Helper()
	dir := t.TempDir()
	for i, data := range sessions {
		name := filepath.Join(dir, string(rune('a'+i))+".jsonl")
		must.Do(os.WriteFile(name, data, 0o600))
		names = append(names, name)
	}
	return names
}

// costs reads files with the lens cost, one after the other.
func costs(t *testing.T, o stats.Options, files ...string) *stats.CostPart {
	t.Helper()
	o.Lenses = lenses(t, "cost")
	sum := &stats.Report{}
	for _, name := range files {
		one := must.Get(o.Read(name))
		if one.Fits() {
			o.Add(sum, one)
		}
	}
	if sum.Cost == nil {
		t.Fatal("no session fits")
	}
	o.Finish(sum)
	return sum.Cost
}

func costOf(t *testing.T, lines ...string) *stats.CostPart {
	t.Helper()
	return costs(t, stats.Options{}, store(t, text(lines...))...)
}

// text is a session of lines, below a header.
func text(lines ...string) []byte {
	return []byte(header + "\n" + strings.Join(lines, "\n") + "\n")
}

// entry is an entry's line with what else is in it.
func entry(typ, id, parent, rest string) string {
	up := "null"
	if parent != "" {
		up = `"` + parent + `"`
	}
	return `{"type":"` + typ + `","id":"` + id + `","parentId":` + up + `,"timestamp":"2026-01-01T00:00:01.000Z",` + rest + `}`
}

// answer is an answer's line.
func answer(id, parent, rest string) string {
	return entry("message", id, parent, `"message":{"role":"assistant","content":[],"provider":"p","model":"m",`+rest+`}`)
}

// TestPiTotals: what pi's own code says of the 71 sessions that it was asked about,
// in its /session and in the header of its page. Where it throws we continue.
func TestPiTotals(t *testing.T) {
	files := testenv.NeedShared(t, "vectors/pi-1.5/*.jsonl")
	type tokens struct{ Input, Output, CacheRead, CacheWrite, Total int64 }
	compared, thrown := 0, 0
	for _, file := range files {
		var want struct {
			Stats, ViewerHeader *struct {
				Tokens tokens
				Cost   float64
			}
		}
		data := must.Get(os.ReadFile(strings.TrimSuffix(file, ".jsonl") + ".expected.json"))
		must.Do(json.Unmarshal(data, &want))
		got := costs(t, stats.Options{}, file)
		if want.Stats == nil {
			thrown++
			continue
		}
		compared++
		if tokens(got.Tokens) != want.Stats.Tokens || got.Cost.Total != want.Stats.Cost {
			t.Errorf("%s: %+v, %v; want %+v", filepath.Base(file), got.Tokens, got.Cost.Total, *want.Stats)
		}
		page := got.Kinds.Answers
		page.Tokens.Total = 0 // the page shows none
		if v := want.ViewerHeader; tokens(page.Tokens) != v.Tokens || page.Cost.Total != v.Cost {
			t.Errorf("%s: answers %+v, %v; want %+v", filepath.Base(file), page.Tokens, page.Cost.Total, *v)
		}
	}
	t.Logf("%d sessions agree with pi's totals and its page; pi throws on %d more", compared, thrown)
	if compared+thrown != 71 {
		t.Errorf("%d sessions with numbers of pi and %d without, want 71", compared, thrown)
	}
}

// rawTotals sums up a session's raw lines by another way of reading them.
func rawTotals(data []byte) (want stats.CostSum) {
	before := ""
	for _, line := range strings.Split(string(data), "\n") {
		// With an empty answer pi ends a turn whose calls the user aborted.
		unsent := strings.Contains(line, `"content":[]`) && strings.Contains(line, `"stopReason":"aborted"`) &&
			strings.Contains(before, `aborted"}]`) && strings.Contains(before, `"isError":true`)
		if before = line; unsent {
			continue
		}
		var e struct {
			Type    string
			Usage   any
			Message any
		}
		if json.Unmarshal([]byte(line), &e) != nil {
			continue
		}
		m, _ := e.Message.(map[string]any)
		paid := false
		var usage any
		switch e.Type {
		case "message":
			usage = m["usage"]
			_, has := usage.(map[string]any)
			paid = m["role"] == "assistant" || m["role"] == "toolResult" && has
		case "usage", "compaction", "branch_summary":
			usage = e.Usage
			_, has := usage.(map[string]any)
			paid = e.Type == "usage" || has
		}
		if !paid {
			continue
		}
		want.Calls.Total++
		u, _ := usage.(map[string]any)
		number := func(name string) int64 {
			if n, _ := u[name].(float64); n >= 0 && n < jsonl.MostUsage {
				return int64(n)
			}
			return 0
		}
		want.Tokens.Input += number("input")
		want.Tokens.Output += number("output")
		want.Tokens.CacheRead += number("cacheRead")
		want.Tokens.CacheWrite += number("cacheWrite")
		want.Tokens.Total += number("input") + number("output") + number("cacheRead") + number("cacheWrite")
		cost, _ := u["cost"].(map[string]any)
		if total, ok := cost["total"].(float64); ok && total >= 0 && total <= jsonl.MostUsage {
			want.Cost.Total += total
		} else {
			want.Calls.Unpriced++
		}
	}
	return want
}

// TestTotalsOfRawLines: of all sessions that there are the totals are those of their
// lines, to the last bit, and the rows, the kinds and the ways to pay add up to them.
func TestTotalsOfRawLines(t *testing.T) {
	n, paid := 0, 0
	for _, s := range corpus.All(t) {
		name := store(t, s.Data)[0]
		one, err := (&stats.Options{Lenses: lenses(t, "cost")}).Read(name)
		if err != nil {
			continue // no session: other tests say so
		}
		n++
		got, want := one.Cost, rawTotals(s.Data)
		if got.Calls.Total != want.Calls.Total || got.Calls.Computed+got.Calls.Unpriced != want.Calls.Unpriced || got.Tokens != want.Tokens || got.Cost.Recorded != want.Cost.Total {
			t.Errorf("%s:\n got %+v\nwant %+v", s.Name, got.CostSum, want)
		}
		if want.Cost.Total > 0 {
			paid++
		}
		var rows, kinds int64
		for _, r := range got.Rows {
			rows += r.Tokens.Total
		}
		for _, k := range []stats.CostSum{got.Kinds.Answers, got.Kinds.Tools, got.Kinds.Summaries, got.Kinds.Warming, got.Kinds.Other} {
			kinds += k.Tokens.Total
		}
		if rows != got.Tokens.Total || kinds != got.Tokens.Total || got.Calls.Billed+got.Calls.Estimated+got.Calls.Computed+got.Calls.Unpriced != got.Calls.Total {
			t.Errorf("%s: rows %d, kinds %d of %d tokens; calls %+v", s.Name, rows, kinds, got.Tokens.Total, got.Calls)
		}
	}
	t.Logf("%d sessions, %d of them with a cost", n, paid)
	if paid == 0 {
		t.Error("no session cost anything")
	}
}

// TestForkAddsNothing: what a fork or a copy took over was paid once, whichever file
// it is counted in; what it did itself counts.
func TestForkAddsNothing(t *testing.T) {
	session := text(
		answer("a", "", `"responseId":"r1","usage":{"input":1,"cost":{"total":0.5}}`),
		answer("b", "a", `"usage":{"input":2,"cost":{"total":0.25}}`),
		entry("usage", "c", "b", `"kind":"cache_warm","provider":"p","model":"m","usage":{"cacheRead":4,"cost":{"total":0.125}}`),
		answer("d", "a", `"usage":{"input":8,"cost":{"total":4}}`))
	names := store(t, session, nil, session)
	s := must.Get(sessionfmt.Open(names[0], sessionfmt.Options{}))
	defer s.Close()
	b := must.Get(s.Branch(s.Find("c"), names[0], time.UnixMilli(1767225700000)))
	fork := must.Get(os.Create(names[1]))
	must.Do(b.Print(fork))
	must.Do(fork.Close())
	alone, all := costs(t, stats.Options{}, names[0]), costs(t, stats.Options{By: []string{"session"}}, names...)
	if all.CostSum != alone.CostSum || alone.Cost.Total != 4.875 || alone.Copies != 0 || all.Copies != 7 {
		t.Errorf("alone %+v, together %+v, %d copies", alone.CostSum, all.CostSum, all.Copies)
	}
	for _, row := range all.Rows {
		if want := map[bool]float64{true: 4.875}[row.Session == "s1"]; row.Cost.Total != want {
			t.Errorf("row %+v: cost %v, want %v: the first file counts", row.CostKeys, row.Cost.Total, want)
		}
	}
	if own := append(bytesOf(names[1]), []byte(answer("x", "c", `"usage":{"input":16,"cost":{"total":1}}`)+"\n")...); os.WriteFile(names[1], own, 0o600) != nil {
		t.Fatal("cannot write")
	}
	if got := costs(t, stats.Options{}, names...).Cost.Total; got != 5.875 {
		t.Errorf("with an answer of the fork's own %v, want 5.875", got)
	}
}

func bytesOf(name string) []byte {
	return must.Get(os.ReadFile(name))
}

// TestUnpriced: a cost of 0 is one; where none was recorded the table says what it
// would be, tiers and one-hour writes included, and what it cannot tell is counted.
func TestUnpriced(t *testing.T) {
	used := `"usage":{"input":100000,"output":1000,"cacheRead":150000,"cacheWrite":1000,"cacheWrite1h":400}`
	known := strings.Replace(answer("a", "", used), `"provider":"p","model":"m"`, `"provider":"anthropic","model":"claude-haiku-5-5"`, 1)
	routed := strings.Replace(answer("b", "a", `"responseModel":"claude-haiku-5-5",`+used), `"provider":"p","model":"m"`, `"provider":"anthropic","model":"some-router"`, 1)
	free := strings.Replace(answer("c", "b", `"usage":{"input":5,"cost":{"total":0}}`), `"provider":"p","model":"m"`, `"provider":"anthropic","model":"claude-haiku-5-5"`, 1)
	got := costOf(t, known, routed, free, answer("d", "c", `"usage":{"input":7,"cost":{"input":1}}`), answer("e", "d", `"stopReason":"error"`),
		entry("compaction", "k", "e", `"summary":"s","firstKeptEntryId":"a","usage":{"input":9}`))
	m, _, ok := models.Builtin().Lookup("anthropic", "claude-haiku-5-5")
	if !ok || len(m.Cost.Tiers) != 1 || m.Cost.Tiers[0].InputTokensAbove >= 251000 {
		t.Fatalf("of this model the table says %+v: another is needed, with a tier", m)
	}
	tier := m.Cost.Tiers[0]
	one := (100000*tier.Input + 1000*tier.Output + 150000*tier.CacheRead + 600*tier.CacheWrite + 400*2*tier.Input) / 1e6
	if math.Abs(got.Cost.Total-2*one) > 1e-12 || got.Cost.Recorded != 0 {
		t.Errorf("%+v, want %v computed", got.Cost, 2*one)
	}
	if want := (stats.CostCalls{Total: 6, Estimated: 1, Computed: 2, Unpriced: 3}); got.Calls != want {
		t.Errorf("%+v, want %+v", got.Calls, want)
	}
	if got.Prices != models.Date {
		t.Errorf("prices of %q", got.Prices)
	}
}

// TestOddUsage: an implausible number is as if it were not there.
func TestOddUsage(t *testing.T) {
	got := costOf(t, answer("a", "", `"usage":{"input":1e300,"output":-5,"cacheRead":"7","cacheWrite":3,"cost":{"total":1e300}}`),
		answer("b", "a", `"usage":[1]`), answer("c", "b", `"usage":{"cost":{"total":"1"}}`), answer("d", "c", `"usage":{"cost":{"total":-0.5}}`),
		answer("e", "d", `"usage":{"cost":{"total":8,"totalFromProvider":true},"cost":{"total":0.25}}`))
	if got.Tokens.Total != 3 || got.Cost.Total != 0.25 || got.Cost.Billed != 0 || got.Calls.Unpriced != 4 {
		t.Errorf("%+v", got.CostSum)
	}
}

// TestCostGroups: rows by every group, and by several.
func TestCostGroups(t *testing.T) {
	at := func(line, time string) string { return strings.Replace(line, "2026-01-01T00:00:01.000Z", time, 1) }
	cost := func(n string) string { return `"usage":{"input":1,"cost":{"total":` + n + `}}` }
	session := text(at(answer("a", "", cost("1")), "2025-12-31T23:59:59.999Z"),
		at(answer("b", "a", `"responseModel":"n",`+cost("2")), "2026-01-01T00:00:00.000Z"),
		at(answer("c", "a", `"responseModel":"",`+cost("4")), "2026-01-05T08:00:00+10:00"),
		strings.Replace(entry("compaction", "d", "c", `"summary":"s","firstKeptEntryId":"c",`+cost("8")), `,"timestamp":"2026-01-01T00:00:01.000Z"`, "", 1))
	other := []byte(strings.NewReplacer(`"id":"s1"`, `"id":"s2"`, `"cwd":"/w"`, `"cwd":"/v"`, `"input":1`, `"input":2`).Replace(string(session)))
	for by, want := range map[string]string{
		"session":     `s2:15 s1:15`,
		"project":     `/v:15 /w:15`,
		"model":       `Tools/summaries:16 p/:8 p/n:4 p/m:2`,
		"provider":    `Tools/summaries:16 p:14`,
		"day":         `:16 2025-12-31:2 2026-01-01:4 2026-01-04:8`,
		"week":        `:16 2026-W01:14`,
		"month":       `:16 2025-12:2 2026-01:12`,
		"agent":       `pi:30`,
		"tool":        `:30`,
		"branch":      `d:24 b:4 shared:2`,
		"month,model": `/Tools/summaries:16 2025-12/p/m:2 2026-01/p/:8 2026-01/p/n:4`,
		"project,day": `/v/:8 /w/:8 /v/2026-01-04:4 /w/2026-01-04:4 /v/2026-01-01:2 /w/2026-01-01:2 /v/2025-12-31:1 /w/2025-12-31:1`,
	} {
		got := costs(t, stats.Options{By: strings.Split(by, ",")}, store(t, session, other)...)
		var rows []string
		for _, r := range got.Rows {
			data := must.Get(json.Marshal(r.CostKeys))
			var keys map[string]string
			must.Do(json.Unmarshal(data, &keys))
			var names []string
			for _, name := range got.By {
				names = append(names, keys[name])
			}
			total, _ := json.Marshal(r.Cost.Total)
			rows = append(rows, strings.Join(names, "/")+":"+string(total))
		}
		if s := strings.Join(rows, " "); s != want {
			t.Errorf("by %s:\n got %s\nwant %s", by, s, want)
		}
	}
	if names := stats.CostGroups; len(names) != 10 {
		t.Errorf("groups %v", names)
	}
}

// TestDearestFirst: rows are in order of what they cost, by the table where no cost is
// recorded.
func TestDearestFirst(t *testing.T) {
	used := strings.Replace(answer("b", "a", `"usage":{"input":1000000}`), `"provider":"p","model":"m"`, `"provider":"anthropic","model":"claude-haiku-5-5"`, 1)
	file := store(t, text(answer("a", "", `"usage":{"cost":{"total":0.001}}`), used))
	got := costs(t, stats.Options{By: []string{"provider"}}, file...).Rows
	if len(got) != 2 || got[0].Provider != "anthropic" || got[0].Cost.Total < 0.01 {
		t.Errorf("%+v", got)
	}
}

// TestOnly: sessions and calls that were asked for, and no others.
func TestOnly(t *testing.T) {
	later := strings.Replace(answer("b", "a", `"responseModel":"n","usage":{"cost":{"total":2}}`), "2026-01-01", "2026-01-03", 1)
	file := store(t, text(answer("a", "", `"usage":{"cost":{"total":1}}`), later))[0]
	at := func(day string) int64 {
		d := must.Get(time.Parse(time.DateOnly, day))
		return d.UnixMilli()
	}
	for name, c := range map[string]struct {
		only stats.Only
		want float64 // 0 for a session that does not fit
	}{
		"all":           {stats.Only{}, 3},
		"since":         {stats.Only{Since: at("2026-01-02")}, 2},
		"until":         {stats.Only{Until: at("2026-01-02")}, 1},
		"between":       {stats.Only{Since: at("2026-01-02"), Until: at("2026-01-02") + 1}, 0},
		"after":         {stats.Only{Since: at("2026-01-04")}, 0},
		"model":         {stats.Only{Model: "p/n"}, 2},
		"model in time": {stats.Only{Model: "p/n", Until: at("2026-01-02")}, 0},
		"no such model": {stats.Only{Model: "gpt"}, 0},
		"project":       {stats.Only{Project: "w"}, 3},
		"other project": {stats.Only{Project: "v"}, 0},
	} {
		o := stats.Options{Lenses: lenses(t, "cost", "session"), Only: c.only}
		one := must.Get(o.Read(file))
		if one.Fits() != (c.want > 0) || one.Fits() && one.Cost.Cost.Total != c.want {
			t.Errorf("%s: fits %v, cost %v; want %v", name, one.Fits(), one.Cost.Cost.Total, c.want)
		}
	}
}

// TestOneShape: the part of a session and that of a sum of it alone are the same.
func TestOneShape(t *testing.T) {
	for _, s := range corpus.Own(t) {
		o := stats.Options{Lenses: lenses(t, "cost"), By: stats.CostGroups}
		one, err := o.Read(store(t, s.Data)[0])
		if err != nil {
			continue
		}
		sum := &stats.Report{}
		o.Add(sum, one)
		o.Finish(one)
		o.Finish(sum)
		a, errA := json.Marshal(one.Cost)
		b, errB := json.Marshal(sum.Cost)
		if errA != nil || errB != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s:\n%s\n%s", s.Name, a, b)
		}
	}
}
