package simulate

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"ctxtool/replay/models"
)

// five writes a session of five requests whose provider counts as pi estimates: a prompt of 1,000
// tokens and an answer of 100 each. Between the third answer and the fourth request ten minutes
// pass.
func five() []byte {
	var b strings.Builder
	b.WriteString(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n")
	parent, n := "null", 0
	entry := func(minute int, message string) {
		fmt.Fprintf(&b, `{"type":"message","id":"e%d","parentId":%s,"timestamp":"2026-01-01T00:%02d:%02d.000Z","message":%s}`+"\n", n, parent, minute, n, message)
		parent = fmt.Sprintf(`"e%d"`, n)
		n++
	}
	for k := range 5 {
		minute := 10 * (k / 3)
		prompt := 1000 + 1100*k
		entry(minute, fmt.Sprintf(`{"role":"user","content":%q}`, said(1000)))
		entry(minute, fmt.Sprintf(`{"role":"assistant","provider":"anthropic","model":"claude-sonnet-4-5","content":[{"type":"text","text":%q}],"stopReason":"stop","usage":{"input":%d,"output":100,"cacheRead":0,"cacheWrite":0,"totalTokens":%d}}`, said(100), prompt, prompt+100))
	}
	return []byte(b.String())
}

// TestCosts: tokens and dollars of five requests, computed by hand.
//
// Prompts are 1000, 2100, 3200, 4300 and 5400 tokens. The cache serves each what the one before
// had, except the fourth, after a pause longer than its five minutes. So none reads 0, 1000, 2100,
// 0 and 4300 tokens, and writes 1000, 1100, 1100, 4300 and 1100.
//
// gsh, with a window of 3600, compacts above 3060. By its own count, with 4 tokens a message, the
// third request has 3*1004 + 2*104 = 3220. The summary replaces 3200 tokens; a tenth is 320, and
// its header makes it a message of (53 + 4*320) / 4 = 333.25, so 334. Prompts are then 1000, 2100,
// 334, 1434 and 2534: it reads 0, 1000, 0, 0 and 1434, and writes the rest.
//
// A summary of half is 1600 tokens, so the fifth request has (53+6400)/4 + 4 + 2*104 + 2*1004 =
// 3833, and is compacted too: the earlier summary of 1614 and 2200 tokens become 1907. Prompts are
// 1000, 2100, 1614, 2714 and (53 + 4*1907) / 4 = 1921.
//
// The other model writes nothing to its cache for a price, and its lifetime is not known.
func TestCosts(t *testing.T) {
	gpt := models.Ref{Provider: "openai", ID: "gpt-4o"}
	for _, test := range []struct {
		name        string
		policy      string
		model       models.Ref
		ratio       float64
		read, write int64
		cost        Cost // dollars per million tokens
	}{
		{"none", None, models.Ref{}, 0.1, 7400, 8600, Cost{CacheRead: 7400 * 0.3, CacheWrite: 8600 * 3.75, Output: 500 * 15}},
		{"recorded", Recorded, models.Ref{}, 0.1, 7400, 8600, Cost{CacheRead: 7400 * 0.3, CacheWrite: 8600 * 3.75, Output: 500 * 15}},
		{"gsh", "gsh", models.Ref{}, 0.1, 2434, 4968, Cost{CacheRead: 2434 * 0.3, CacheWrite: 4968 * 3.75, Output: 500 * 15, Summaries: 3200*3 + 320*15}},
		{"half", "gsh", models.Ref{}, 0.5, 1000, 8349, Cost{CacheRead: 1000 * 0.3, CacheWrite: 8349 * 3.75, Output: 500 * 15, Summaries: (3200+3814)*3 + (1600+1907)*15}},
		{"none of another model", None, gpt, 0.1, 10600, 5400, Cost{Input: 5400 * 2.5, CacheRead: 10600 * 1.25, Output: 500 * 10}},
		{"gsh of another model", "gsh", gpt, 0.1, 2768, 4634, Cost{Input: 4634 * 2.5, CacheRead: 2768 * 1.25, Output: 500 * 10, Summaries: 3200*2.5 + 320*10}},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := Options{Contenders: contenders(t, test.policy), Rows: true, Summaries: Summaries{Ratio: test.ratio}}
			o.Replay.Window, o.Replay.Model = 3600, test.model
			report, err := o.Session(opened(t, "five", five()))
			if err != nil {
				t.Fatal(err)
			}
			run := report.Runs[0]
			want := test.cost
			want.Total = want.Input + want.CacheRead + want.CacheWrite + want.Output + want.Summaries
			got := []float64{run.Cost.Input, run.Cost.CacheRead, run.Cost.CacheWrite, run.Cost.Output, run.Cost.Summaries, run.Cost.Total}
			for i, dollars := range []float64{want.Input, want.CacheRead, want.CacheWrite, want.Output, want.Summaries, want.Total} {
				if math.Abs(got[i]-dollars/1e6) > 1e-9 {
					t.Errorf("%+v, want %+v", run.Cost, want)
					break
				}
			}
			if run.Read != test.read || run.Write != test.write || run.Output != 500 {
				t.Errorf("reads %d, writes %d, want %d, %d", run.Read, run.Write, test.read, test.write)
				for _, r := range run.Rows {
					t.Logf("%d: %d read, %d written, %s", r.Request, r.Read, r.Write, r.Cause)
				}
			}
		})
	}
}

// TestGoals: the cheapest, the smallest, and the one that loses least; a request over the window
// outweighs all of them.
func TestGoals(t *testing.T) {
	o := Options{Contenders: contenders(t, Recorded, None, "gsh"), Summaries: Summaries{Ratio: 0.1}}
	for _, test := range []struct {
		window int64
		goal   Goal
		want   string
	}{{0, LeastCost, Recorded}, {0, LeastPeak, Recorded}, {3600, LeastRegrets, "gsh"}, {3600, LeastCost, "gsh"}} {
		o.Replay.Window = test.window
		report, err := o.Session(opened(t, "five", five()))
		if err != nil {
			t.Fatal(err)
		}
		if report.Decide(test.goal); report.Best != test.want {
			t.Errorf("window %d, %s: %s is best, want %s", test.window, test.goal, report.Best, test.want)
		}
	}
	run := func(overflows int, cost float64, peak int64, regrets int) *Run {
		return &Run{Policy: fmt.Sprint(overflows, cost, peak, regrets), Overflows: overflows, Cost: Cost{Total: cost}, Peak: peak, Regrets: regrets}
	}
	cheap, small, faithful, over := run(0, 1, 9, 9), run(0, 9, 1, 9), run(0, 9, 9, 1), run(1, 0, 0, 0)
	for goal, want := range map[Goal]*Run{LeastCost: cheap, LeastPeak: small, LeastRegrets: faithful} {
		r := &Report{Runs: []*Run{over, cheap, small, faithful}}
		if r.Decide(goal); r.Best != want.Policy {
			t.Errorf("%s: %s is best, want %s", goal, r.Best, want.Policy)
		}
	}
}
