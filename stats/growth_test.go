package stats_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ctxtool/replay"
	"ctxtool/stats"
	"ctxtool/stats/table"
)

// TestGrowthSizes: what the provider recorded, and where it did not our count and what
// the recorded request before it had more.
func TestGrowthSizes(t *testing.T) {
	text := strings.Repeat("word", 100) // 100 tokens
	l := newLines().user("u", text).answer("a", said(text), `,"stopReason":"aborted","usage":{"input":7}`).
		user("v", text).answer("b", said(text), usage(1000)).
		user("w", text).answer("c", said(text), "").
		compaction("k", "c", text, "").answer("d", said("x"), "")
	r := l.look(t, stats.Options{Replay: replay.Options{Window: 2000}}, "growth")
	g := r.Growth.Sessions[0]
	var got []string
	for _, row := range append(slices.Clone(g.Requests), g.Now) {
		got = append(got, fmt.Sprintf("%d %s: %d %v %d %d %v %s", row.Request, row.Entry, row.Size, row.Estimated, row.Tokens, row.Recorded, row.Share, row.Marks))
	}
	want := []string{
		"0 a: 100 true 100 0 0.05 ",
		"1 b: 1000 false 300 1000 0.5 ",
		"2 c: 1105 true 500 0 0.5525 ", // the answer took 5, then 100 came
		"3 d: 900 true 227 0 0.45 C",   // as sent, the summary has some words around it
		"4 : 901 true 228 0 0.4505 ",   // no usage applies after a compaction
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	if g.Peak != 1105 || g.PeakRequest != 2 || g.Share != 0.5525 || g.Compactions != 1 {
		t.Errorf("%+v", g)
	}
}

// TestGrowthMarks: what is marked, at the first request that shows it.
func TestGrowthMarks(t *testing.T) {
	ask := func() *lines {
		return newLines().user("u", "go").answer("a", call("c", "bash", `{"command":"x"}`), "")
	}
	edit := func(content string) string {
		return `"type":"context_edit","targetId":"r","replacement":{"content":` + quote(content) + `}`
	}
	patch := func(text string) string {
		return `"type":"context_transform","schemaVersion":1,"transformerName":"x","patch":[{"op":"messages_cached_replace","scope":"cached","invalidateCacheReason":"x","messages":[{"role":"user","content":` + quote(text) + `,"timestamp":1}]}]`
	}
	gsh := "head\n\n... (500 bytes omitted) ...\n\ntail"
	for _, c := range []struct {
		name, want string
		session    *lines
	}{
		{"nothing", "", ask().result("r", "c", "whole", `,"details":{"truncation":{"truncated":false}}`)},
		{"cut by the tool", "T", ask().result("r", "c", "x", `,"details":{"truncation":{"truncated":true}}`)},
		{"cut as gsh cuts", "T", ask().result("r", "c", gsh, "")},
		{"cut as y-agent cuts", "T", ask().result("r", "c", "x\n[... truncated: 15000 chars total, showing first 10000]", "")},
		{"cut, in escaped letters", "T", ask().entry("r", `"type":"message","message":{"role":"toolResult","toolCallId":"c","content":"x\n[\u0074runcated]"}`)},
		{"cut by the tool, in escaped letters", "T", ask().entry("r", `"type":"message","message":{"role":"toolResult","toolCallId":"c",`+
			`"content":"x","details":{"truncation":{"\u0074runcated":true}}}`)},
		{"speaks of being cut", "", ask().result("r", "c", "(500 bytes omitted) ... [truncated] x", "")},
		{"a command of the user, cut", "T", ask().result("r", "c", "x", "").entry("s", `"type":"message","message":{"role":"bashExecution","command":"x","output":"y","truncated":true}`)},
		{"edited", "E", ask().result("r", "c", "x", "").entry("e", edit("y"))},
		{"cut by an edit", "ET", ask().result("r", "c", "x", "").entry("e", edit(gsh))},
		{"an edit of nothing", "", ask().result("r", "c", "x", "").entry("e", `"type":"context_edit","targetId":"none","replacement":null`)},
		{"compacted, then edited", "CE", ask().result("r", "c", "x", "").compaction("k", "r", "s", "").entry("e", edit("y"))},
		{"shortened by a patch", "T", ask().result("r", "c", strings.Repeat("x", 500), "").entry("p", patch("y"))},
		{"lengthened by a patch", "", ask().result("r", "c", "x", "").entry("p", patch(strings.Repeat("y", 500)))},
	} {
		opt := stats.Options{Replay: replay.Options{Rules: replay.ByEnvelope}}
		now := c.session.look(t, opt, "growth").Growth.Sessions[0]
		if now.Now.Marks != c.want || now.Requests[0].Marks != "" {
			t.Errorf("%s: now %q, want %q", c.name, now.Now.Marks, c.want)
		}
		then := c.session.answer("z", said("x"), "").look(t, opt, "growth").Growth.Sessions[0]
		if then.Requests[1].Marks != c.want || then.Now.Marks != "" {
			t.Errorf("%s: at the request %q, want %q", c.name, then.Requests[1].Marks, c.want)
		}
	}
}

// TestGrowthSheets: one session is a chart with a bar a request and one for now, several
// are a table.
func TestGrowthSheets(t *testing.T) {
	l := newLines().user("u", "go").answer("a", said("x"), usage(50)).compaction("k", "a", "s", "")
	opt := stats.Options{Lenses: []*stats.Lens{lens(t, "growth")}}
	r := l.look(t, stats.Options{}, "session", "growth", "compactions")
	s := opt.Sheets(r)[0]
	if s.Chart == nil || rows(s) != 2 || len(s.Chart.Bars) != 2 || s.Chart.Bars[0] != (table.Bar{Size: 50}) || s.Chart.Bars[1].Mark != 'C' {
		t.Errorf("%+v", s)
	}
	if shown := s.Shown(); rows(shown) != 0 || rows(s) != 2 {
		t.Errorf("%+v", shown)
	}
	if s := opt.Sheets(twice(t, r))[0]; s.Chart != nil || rows(s) != 2 || s.Columns[0].Value(slices.Collect(s.Rows)[1]) != "b" {
		t.Errorf("%+v", s)
	}
	if s := opt.Sheets(newLines().look(t, stats.Options{}, "growth"))[0]; s.Chart != nil || s.Notes[0] != "0 requests; now ~0" {
		t.Errorf("%+v", s)
	}
}

// rows counts the rows of a table.
func rows(s table.Sheet) int { return len(slices.Collect(s.Rows)) }

// TestNothingSeen: where no session could be read there are tables anyway, without
// rows or with sums of nothing.
func TestNothingSeen(t *testing.T) {
	for _, name := range []string{"session", "context", "cost", "growth", "compactions", "bytes", "cache", "check"} {
		opt := stats.Options{Lenses: []*stats.Lens{lens(t, name)}}
		if all := opt.Sheets(&stats.Report{}); len(all) == 0 || len(all[0].Columns) == 0 || rows(all[0]) > 1 {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// TestAbsurdUsage: an implausible number is as if it were not there.
func TestAbsurdUsage(t *testing.T) {
	for _, n := range []string{"1e300", "-5", `"many"`, "9007199254740993", "null"} {
		l := newLines().user("u", "go").answer("a", said("x"), `,"usage":{"input":`+n+`}`)
		if row := l.look(t, stats.Options{}, "growth").Growth.Sessions[0].Requests[0]; row.Recorded != 0 || row.Size != 1 {
			t.Errorf("%s: %+v", n, row)
		}
	}
}

func lens(t *testing.T, name string) *stats.Lens {
	t.Helper()
	for _, l := range stats.Lenses {
		if l.Name == name {
			return l
		}
	}
	t.Fatal("no lens " + name)
	return nil
}
