package stats_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxtool/replay"
	"ctxtool/stats"
)

// long is a session with a long answer, up to where it is compacted.
func long(prompt int) *lines {
	return newLines().user("u", "go").answer("a", said(strings.Repeat("word ", 4000)), usage(prompt)).user("v", "on")
}

// TestTriggers: what caused a compaction, and by what that shows.
func TestTriggers(t *testing.T) {
	window := replay.Options{Window: 50_000}
	before := func(n int) string { return fmt.Sprintf(`,"tokensBefore":%d`, n) }
	for _, c := range []struct {
		name, trigger, evidence string
		session                 *lines
		opt                     replay.Options
	}{
		{"over the threshold", "unknown", "33617 tokens, more than 50000 less 16384: automatic by pi's usual settings, or manual", long(100).compaction("k", "v", "s", before(33617)), window},
		{"at the threshold", "unknown", "33616 tokens, not more than 50000 less 16384, and no failed answer: manual, or by other settings", long(100).compaction("k", "v", "s", before(33616)), window},
		{"by usage alone", "unknown", "40005 tokens, more than 50000 less 16384: automatic by pi's usual settings, or manual", long(40_000).compaction("k", "v", "s", ""), window},
		{"unknown window", "unknown", "100 tokens, but the window is unknown", long(100).compaction("k", "v", "s", before(100)), replay.Options{}},
		{"recorded", "automatic", "as the file records", long(100).compaction("k", "v", "s", before(90)+`,"trigger":"auto"`), window},
		{"recorded, over the threshold", "manual", "as the file records", long(100).compaction("k", "v", "s", before(33617)+`,"trigger":"manual"`), window},
		{"recorded overflow", "overflow", "as the file records", long(100).compaction("k", "v", "s", before(90)+`,"trigger":"overflow"`), window},
		{"recorded in other words", "unknown", "90 tokens, not more than 50000 less 16384, and no failed answer: manual, or by other settings",
			long(100).compaction("k", "v", "s", before(90)+`,"trigger":"x"`), window},
		{"too long", "overflow", "inferred: answer b failed: prompt is too long: 9 > 8",
			long(100).answer("b", "", `,"stopReason":"error","errorMessage":"prompt is too long: 9 > 8"`).compaction("k", "v", "s", before(90)), window},
		{"cut off", "overflow", "inferred: answer b was cut off for its length", long(100).answer("b", said("x"), `,"stopReason":"length"`).compaction("k", "v", "s", before(90)), window},
		{"left out", "overflow", "inferred: answer b was left out by an edit",
			long(100).answer("b", said("x"), "").entry("e", `"type":"context_edit","targetId":"b","replacement":null`).compaction("k", "v", "s", before(90)), window},
		{"another one left out", "unknown", "90 tokens, not more than 50000 less 16384, and no failed answer: manual, or by other settings",
			long(100).answer("b", said("x"), "").entry("e", `"type":"context_edit","targetId":"a","replacement":null`).compaction("k", "v", "s", before(90)), window},
		{"failed for another reason", "unknown", "90 tokens, not more than 50000 less 16384, and no failed answer: manual, or by other settings",
			long(100).answer("b", "", `,"stopReason":"error","errorMessage":"rate limit"`).compaction("k", "v", "s", before(90)), window},
		{"a prompt in between", "unknown", "90 tokens, not more than 50000 less 16384, and no failed answer: manual, or by other settings",
			long(100).answer("b", said("x"), `,"stopReason":"length"`).user("w", "?").compaction("k", "w", "s", before(90)), window},
	} {
		p := c.session.look(t, stats.Options{Replay: c.opt}, "compactions").Compactions
		if len(p.List) != 1 || p.List[0].Trigger != c.trigger || p.List[0].Evidence != c.evidence ||
			p.List[0].Inferred != strings.HasPrefix(c.evidence, "inferred: ") {
			t.Errorf("%s: %+v", c.name, p.List)
		}
	}
}

// TestCompactions: what a compaction kept, what it stands for, and what came next.
func TestCompactions(t *testing.T) {
	edits := call("c", "edit", `{"path":"src/a.go"}`)
	l := newLines().user("u", "You must keep the API. Go on.").answer("a", edits+","+said(strings.Repeat("word ", 400)), usage(1000)).
		result("r", "c", "done", "").user("v", "and now").answer("b", said("kept"), usage(1200)).
		compaction("k", "b", "Goal: nothing of use", `,"tokensBefore":1205,"fromHook":true`).
		answer("d", said("x"), `,"stopReason":"error"`).answer("e", said("yes"), usage(700))
	p := l.look(t, stats.Options{}, "compactions").Compactions
	c := p.List[0]
	got := fmt.Sprintln(c.Line, c.Entry, c.As, c.Hook, c.Request, c.Recorded, c.Next, c.Retried, c.Summarized, c.Kept, c.FirstKept, c.Split)
	if want := "7 k compaction true 2 1205 700 true 4 1 b true\n"; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if c.Before < 500 || c.After > 100 || c.Reduction != 1-float64(c.After)/float64(c.Before) || c.Band != "above" {
		t.Errorf("%+v", c)
	}
	if s := c.Survival; lost(s.Paths)+lost(s.Constraints) != "0/1 [src/a.go]0/1 [You must keep the API.]" {
		t.Errorf("%+v", s)
	}
	if p.Count != 1 || p.Split != 1 || p.Bands["above"] != 1 || p.Survival.Paths.Of != 1 || p.Survival.Paths.Lost != nil {
		t.Errorf("%+v", p)
	}
	sum := twice(t, l.look(t, stats.Options{}, "session", "growth", "compactions")).Compactions
	if sum.Count != 2 || sum.Before != 2*int64(c.Before) || sum.Survival.Paths.Of != 2 || sum.List[1].File != "b" {
		t.Errorf("%+v", sum)
	}
}

// lost is how much was kept, and what was not.
func lost(k stats.Kept) string { return fmt.Sprintf("%d/%d %s", k.Found, k.Of, k.Lost) }

// TestSecondSummary: what the first summary still told can be lost by the second, what
// it had lost already cannot.
func TestSecondSummary(t *testing.T) {
	read := func(l *lines, id, path string) *lines {
		return l.answer("a"+id, call(id, "read", `{"path":`+quote(path)+`}`), "").result("r"+id, id, strings.Repeat("text ", 100), "")
	}
	l := read(read(newLines().user("u", "go"), "1", "kept.go"), "2", "lost.go").compaction("k1", "none", "it has kept.go", "")
	l = read(l, "3", "new.go").compaction("k2", "none", "it has new.go", "")
	list := l.look(t, stats.Options{}, "compactions").Compactions.List
	if got := lost(list[0].Survival.Paths) + lost(list[1].Survival.Paths); got != "1/2 [lost.go]1/2 [kept.go]" {
		t.Errorf("%s", got)
	}
}

// TestLoops: compactions that free nothing.
func TestLoops(t *testing.T) {
	window := replay.Options{Window: 20_000}
	summary := strings.Repeat("word ", 4000)
	for _, c := range []struct {
		name    string
		session *lines
		want    []string // of the last one
	}{
		{"it frees", long(100).compaction("k", "v", "s", `,"tokensBefore":100`), nil},
		{"it frees nothing", long(100).compaction("k", "v", summary, `,"tokensBefore":100`), []string{"it frees less than 5 percent", "it ends above the threshold"}},
		{"the next request is still too long", long(100).compaction("k", "v", "s", "").answer("b", said("x"), usage(3700)), []string{"it ends above the threshold"}},
		{"the next request is not", long(100).compaction("k", "v", "s", "").answer("b", said("x"), usage(3600)), nil},
		{"two in a row", long(100).compaction("k", "v", "s", "").user("w", strings.Repeat("word ", 900)).compaction("l", "w2", "s", ""), []string{"no request since the one before"}},
		{"a request in between", long(100).compaction("k", "v", "s", "").answer("b", said(strings.Repeat("word ", 900)), "").compaction("l", "w2", "s", ""), nil},
	} {
		p := c.session.look(t, stats.Options{Replay: window}, "compactions").Compactions
		if got := p.List[len(p.List)-1].Loops; !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if p.Loops != min(1, len(c.want)) {
			t.Errorf("%s: %d in loops", c.name, p.Loops)
		}
	}
}

// TestPatchedCompaction: a patch is a compaction by its effect, or its name; the entry
// that only repeats it is none.
func TestPatchedCompaction(t *testing.T) {
	patch := func(name, op string) string {
		return `"type":"context_transform","schemaVersion":1,"transformerName":"` + name + `","patch":[` + op + `]`
	}
	apply := `{"op":"compaction_apply","scope":"cached","invalidateCacheReason":"x","summary":"s","timestamp":1,"firstKeptMessageIndex":2,"tokensBefore":77}`
	swap := `{"op":"messages_cached_replace","scope":"cached","invalidateCacheReason":"x","messages":[{"role":"user","content":"a.go is all","timestamp":1}]}`
	read := func() *lines {
		return newLines().user("u", "go").answer("a", call("c", "read", `{"path":"a.go"}`), "").result("r", "c", "text", "").user("v", "on")
	}
	opt := stats.Options{Replay: replay.Options{Rules: replay.ByEnvelope}}
	for _, c := range []struct {
		name, want string
		session    *lines
	}{
		{"by its effect", "t context_transform 77 2 2 r true 0/1 [a.go]", read().entry("t", patch("other", apply))},
		{"with its shadow", "t context_transform 77 2 2 r true 0/1 [a.go]", read().entry("t", patch("compaction", apply)).compaction("k", "v", "s", "")},
		{"by its name", "t context_transform 0 4 0  false 1/1 []", read().entry("t", patch("compaction", swap))},
		{"neither", "", read().entry("t", patch("other", swap))},
	} {
		var got []string
		r := c.session.look(t, opt, "compactions", "growth")
		for _, k := range r.Compactions.List {
			got = append(got, fmt.Sprint(k.Entry, " ", k.As, " ", k.Recorded, k.Summarized, k.Kept, " ", k.FirstKept, " ", k.Split, " ", lost(k.Survival.Paths)))
		}
		if strings.Join(got, "; ") != c.want || r.Growth.Sessions[0].Compactions != len(got) {
			t.Errorf("%s: %q, want %q; %+v", c.name, got, c.want, r.Growth)
		}
	}
}
