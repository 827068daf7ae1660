package stats

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctxtool/compact"
	"ctxtool/internal/corpus"
	"ctxtool/internal/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
)

// likeOf returns the context of a session as a system counts it.
func likeOf(t *testing.T, name string, data []byte, opt Options) *likeness {
	t.Helper()
	must.Do(opt.SetLike(name))
	return lookAt(t, data, opt).Like
}

// TestPolicyT11ThresholdOfDoubles: the product of doubles, rounded towards zero.
func TestPolicyT11ThresholdOfDoubles(t *testing.T) {
	if got := gshCompactsAbove(100, 0.57); got != 56 {
		t.Errorf("got %d, want 56", got)
	}
}

// TestPolicyT12Thresholds: at exactly the threshold gsh continues.
func TestPolicyT12Thresholds(t *testing.T) {
	for limit, want := range map[int64]int{200_000: 170_000, 128_000: 108_800, 4000: 3400, 4096: 3481, 100_000: 85_000} {
		if got := gshCompactsAbove(limit, GshThreshold); got != want {
			t.Errorf("of %d: %d, want %d", limit, got, want)
		}
	}
	for size, want := range map[int]bool{56: false, 60: true} { // each message takes 4 more
		data := chain(message("u", `"role":"user","content":"`+strings.Repeat("x", 4*(size-4))+`"`))
		g := likeOf(t, "gsh", data, Options{Replay: replay.Options{Window: 66}}).Gsh[0]
		if g.CompactsAbove != 56 || g.Estimate != size || g.Compacts != want {
			t.Errorf("%+v, want %d tokens, compacted: %v", g, size, want)
		}
	}
}

// TestPolicyT15SWEThreshold: at exactly 80% SWE-CLI compacts.
func TestPolicyT15SWEThreshold(t *testing.T) {
	for total, want := range map[int]bool{204_799: false, 204_800: true} {
		if got := sweUsage(total, 256_000).Needed; got != want {
			t.Errorf("%d: %v", total, got)
		}
	}
}

// TestPolicyT16SWEUsage: the percentage is not rounded, and what is left may be negative.
func TestPolicyT16SWEUsage(t *testing.T) {
	u := sweUsage(150_000, 256_000)
	if u.Percent != 58.59375 || u.Available != 106_000 || u.Needed {
		t.Errorf("%+v", u)
	}
	if got := fmt.Sprintf("%.1f", sweUsage(12_500, 256_000).Percent); got != "4.9" {
		t.Errorf("12500 are %s%%", got)
	}
	if got := sweUsage(300_000, 256_000).Available; got != -44_000 {
		t.Errorf("%d are left of too little", got)
	}
	if got, want := asJSON(u), `{"total_tokens":150000,"limit":256000,"usage_percent":58.59375,"available_tokens":106000,"needs_compaction":false,"message_count":0,"compaction_count":0,"breakdown":{"messages":0,"codebase_summary":0,"current_task":0}}`; got != want {
		t.Errorf("keys:\n got %s\nwant %s", got, want)
	}
}

// TestLikeSWECounts: GPT-4's vocabulary counts, names of calls too; a counter that is
// asked for wins.
func TestLikeSWECounts(t *testing.T) {
	data := chain(
		message("u", `"role":"user","content":"tokenization 你好"`),
		message("a", `"role":"assistant","content":[{"type":"text","text":"It's fine."},{"type":"toolCall","id":"c","name":"bash","arguments":{"command":"ls","n":null}}]`),
		message("r", `"role":"toolResult","toolCallId":"c","toolName":"bash","content":[{"type":"text","text":"a.go\nb.go"}]`))
	vocabulary := func(texts ...string) (n int) {
		for _, text := range texts {
			n += tokens.CL100K.Count([]byte(text))
		}
		return n
	}
	exact := vocabulary("tokenization 你好", "It's fine.", "bash{'command': 'ls', 'n': None}", "a.go\nb.go")
	for _, test := range []struct {
		opt       Options
		estimator string
		total     int
	}{
		{Options{}, "swe-cl100k", exact},
		{Options{Counter: &tokens.Pi}, "swe-cl100k", exact},
		{Options{Counter: &tokens.GSH, Asked: true}, "bytes4", 4 + 19/4 + 4 + 10/4 + 1 + 25/4 + 4 + 9/4},
		{Options{Counter: &tokens.Pi, Asked: true}, "chars4", 4 + 10 + 3},
	} {
		s := likeOf(t, "swe-cli", data, test.opt).SWE[0]
		if s.Estimator != test.estimator || s.Usage.Total != test.total {
			t.Errorf("%s: %d, want %s: %d", s.Estimator, s.Usage.Total, test.estimator, test.total)
		}
		if _, estimate := s.sheets()[0].Rows[0][1].(About); estimate != (test.estimator != "swe-cl100k") {
			t.Errorf("%s is marked as an estimate: %v", s.Estimator, estimate)
		}
	}
}

// TestPolicyT21Guard: the verdict by whole percents.
func TestPolicyT21Guard(t *testing.T) {
	for _, test := range []struct {
		used int
		want compact.Verdict
	}{
		{78_399, compact.Verdict{Verdict: "ok", Percent: 69, Over: 0}},
		{78_400, compact.Verdict{Verdict: "warning", Percent: 70, Over: 0}},
		{95_199, compact.Verdict{Verdict: "warning", Percent: 84, Over: 0}},
		{95_200, compact.Verdict{Verdict: "overflow", Percent: 85, Over: 0}},
		{106_399, compact.Verdict{Verdict: "overflow", Percent: 94, Over: 11_199}},
		{106_400, compact.Verdict{Verdict: "critical", Percent: 95, Over: 0}},
		{112_000, compact.Verdict{Verdict: "critical", Percent: 100, Over: 0}},
		{112_001, compact.Verdict{Verdict: "critical", Percent: 100, Over: 1}},
	} {
		if got := compact.Judge(test.used, 112_000); got != test.want {
			t.Errorf("%d: %+v, want %+v", test.used, got, test.want)
		}
	}
	if got := compact.Judge(1, 0); got.Percent != 100 || got.Verdict != "critical" {
		t.Errorf("without a budget: %+v", got)
	}
	for used, want := range map[int]string{78_399: "", 78_400: "compress_experience", 95_200: "WARNING:", 106_400: "CRITICAL:"} {
		line := compact.Judge(used, 112_000).Status(used, 112_000)
		line, advice, _ := strings.Cut(line, "\n")
		if !strings.Contains(advice, want) || want == "" && advice != "" {
			t.Errorf("%d: %q", used, advice)
		}
		if want := fmt.Sprintf("[Context Status: working_tokens=%d, threshold=112000, utilization=%d%%]", used, used*100/112_000); line != want {
			t.Errorf("got %s, want %s", line, want)
		}
	}
}

// TestPolicyT30dStatus: the printed percentage is rounded to even, the one that warns is not.
func TestPolicyT30dStatus(t *testing.T) {
	got := yStatusLine(905, 1000, nil)
	if want := "[Context Status] 905/1000 tokens used (90%) WARNING: context nearly full, consider compaction"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := yStatusLine(900, 1000, nil); strings.Contains(got, "WARNING") {
		t.Errorf("at 90%%: %s", got)
	}
	if got, want := yStatusLine(1, 0, nil), "[Context Status] 1/0 tokens used (0%)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	some := slices.Clone(yCategories)
	some[ySystem].Tokens, some[yKnowledge].Tokens, some[yHistory].Tokens = 1, 2, 3
	if got, want := yStatusLine(6, 1000, some), "[Context Status] 6/1000 tokens used (1%) | System=1, History=3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestLikeYAgent: what goes into which category, by bytes.
func TestLikeYAgent(t *testing.T) {
	data := chain(
		message("s", `"role":"system","content":"","sections":{"preamble":"1234","project_context":"12345678","cwd":"1234","skills":"123456789012"},"toolsAdded":[{"name":"bash","description":"1234","parameters":{}}]`),
		message("u", `"role":"user","content":"<skill name=\"a\">1234</skill>1234"`), // 28 bytes, and 4
		message("v", `"role":"user","content":[{"type":"text","text":"ä"},{"type":"image","data":"AAAA"}]`))
	y := likeOf(t, "y-agent", data, Options{}).YAgent[0]
	got := map[string]int{}
	for _, c := range y.Categories {
		got[c.Name] = c.Tokens
	}
	want := map[string]int{"SystemPrompt": 1, "Bootstrap": 3, "Memory": 0, "Knowledge": 0, "Skills": 3 + 7, "Tools": 3, "History": 1 + 1, "Status": 20}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if y.Used != 39 || y.Images != 1 || y.Guard.Verdict != "ok" || len(y.Recovery) != 0 {
		t.Errorf("%+v", y)
	}
}

// TestYAgentRecovery: history is compacted first, then bootstrap and tools go, until
// there is no overflow.
func TestYAgentRecovery(t *testing.T) {
	for _, test := range []struct {
		name                              string
		history, recent, bootstrap, tools int
		rest                              int
		want                              string
	}{
		{"none is needed", 50_000, 10, 1, 1, 0, ""},
		{"history", 100_000, 5000, 1000, 1000, 0, "compact History 95000 7000 ok"},
		{"bootstrap too", 20_000, 20_000, 30_000, 1000, 50_000, "compact History 0 101000 overflow, drop Bootstrap 30000 71000 ok"},
		{"nothing helps", 1000, 1000, 10, 10, 120_000, "compact History 0 121020 critical, drop Bootstrap 10 121010 critical, drop Tools 10 121000 critical"},
	} {
		c := slices.Clone(yCategories)
		c[yHistory].Tokens, c[yBootstrap].Tokens, c[yTools].Tokens = test.history, test.bootstrap, test.tools
		var got []string
		for _, s := range yRecovery(test.history+test.bootstrap+test.tools+test.rest, 112_000, c, test.recent) {
			got = append(got, fmt.Sprintf("%s %d %d %s", s.Step, s.Drops, s.Left, s.Guard.Verdict))
		}
		if got := strings.Join(got, ", "); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
	y := yAgent{Used: 70_000, Budget: 112_000, Categories: slices.Clone(yCategories)}
	y.Categories[yTools].Tokens, y.Categories[yMemory].Tokens = 16_001, 50_000
	y.judge(0)
	if !y.Categories[yTools].Over || y.Categories[yMemory].Over || y.Categories[ySystem].Over {
		t.Errorf("%+v", y.Categories)
	}
}

// TestLikeGshThreshold: at 0 any message is too much.
func TestLikeGshThreshold(t *testing.T) {
	zero := 0.0
	for want, data := range map[bool][]byte{false: chain(), true: chain(message("u", `"role":"user","content":""`))} {
		if g := likeOf(t, "gsh", data, Options{CompactThreshold: &zero}).Gsh[0]; g.Compacts != want || g.CompactsAbove != 0 {
			t.Errorf("%d messages: %+v", g.Messages, g)
		}
	}
}

// TestLikeSWETargets: the outcomes of requests, compactions and prompts.
func TestLikeSWETargets(t *testing.T) {
	answer := func(id, stop string, input int) string {
		return message(id, fmt.Sprintf(`"role":"assistant","stopReason":%q,"content":[{"type":"text","text":"12345678"}],"usage":{"input":%d,"cacheRead":1}`, stop, input))
	}
	user := func(id string) string { return message(id, `"role":"user","content":"12345678"`) }
	data := chain(
		user("u1"), answer("a1", "stop", 78),
		user("u2"), answer("a2", "toolUse", 79), user("u3"), answer("a3", "stop", 10), // steered
		user("u4"), answer("a4", "error", 0),
		user("u5"), answer("a5", "error", 900), answer("a6", "stop", 99), // tried again
		`k "type":"compaction","summary":"1","firstKeptEntryId":"k","tokensBefore":1`,
		user("u6"))
	s := likeOf(t, "swe-cli", data, Options{Replay: replay.Options{Window: 100}, Counter: &tokens.Pi, Asked: true}).SWE[0]
	for _, test := range []struct {
		name     string
		got      sweTarget
		part, of int
		met      bool
	}{
		{"efficiency", s.Targets.Efficiency, 4, 6, false}, // a2 has 80 tokens, a6 100
		{"autonomy", s.Targets.Autonomy, 2, 4, false},
		{"waste", s.Targets.Waste.sweTarget, 0, s.Usage.Total, true},
	} {
		if test.got.Part != test.part || test.got.Of != test.of || *test.got.Met != test.met || *test.got.Value != float64(test.part)/float64(test.of) {
			t.Errorf("%s: %s", test.name, asJSON(test.got))
		}
	}
	if c := s.Targets.Compaction; c.Of != 22 || c.Part != 22-27 || *c.Met { // eleven messages, and one summary
		t.Errorf("compaction: %s", asJSON(c))
	}
	if s.Usage.Compactions != 1 || s.Usage.Messages != 2 || s.Usage.Limit != 100 {
		t.Errorf("%+v", s.Usage)
	}
	none := likeOf(t, "swe-cli", chain(), Options{}).SWE[0]
	if none.Usage.Limit != sweLimit || none.Targets.Autonomy.Value != nil || none.Targets.Waste.Met != nil {
		t.Errorf("an empty session: %s", asJSON(none))
	}
}

// TestLikeSWEWaste: each result counts once, with the first reason that applies.
func TestLikeSWEWaste(t *testing.T) {
	data := chain(slices.Concat(
		reads("1", "bash", "x", "123456789012", true),      // made again: retried, 3 tokens
		reads("2", "bash", "x", "12345678", false),         // said again: duplicate, 2
		reads("3", "bash", "x", "12345678", false),         // the newest
		reads("4", "bash", "y", "1234", true),              // never made again: an error, 1
		reads("5", "read", "a", "1234567890123456", false), // read again: superseded, 4
		reads("6", "read", "a", "1234", false),
		reads("8", "read", "b:1-2", "1234", false), // other lines than those read later
		reads("9", "read", "b:3-4", "1234", false),
		reads("7", "read", "a", "12345678", true), // an error: supersedes nothing, 2
	)...)
	w := likeOf(t, "swe-cli", data, Options{Counter: &tokens.Pi, Asked: true}).SWE[0].Targets.Waste
	if w.Retried != 3 || w.Duplicate != 2 || w.Errors != 3 || w.Superseded != 4 || w.Part != 12 || *w.Met {
		t.Errorf("%s", asJSON(w))
	}
}

// TestLikesOfAll: every system counts every session, and its tables are complete.
func TestLikesOfAll(t *testing.T) {
	for _, like := range likes {
		var sum Report
		opt := Options{Lenses: []*Lens{&contextLens}, Like: like, Replay: replay.Options{Lenient: true}}
		for _, s := range corpus.Own(t) {
			if leafOf(t, s) == nil {
				continue
			}
			r := look(t, s.Data, opt)
			r.File = s.Name
			opt.Add(&sum, r)
		}
		k := sum.Context.Like
		if n := len(k.YAgent) + len(k.SWE) + len(k.Gsh); n != len(sum.Context.Sessions) {
			t.Errorf("%s: %d of %d sessions", like.Name, n, len(sum.Context.Sessions))
		}
		for _, s := range opt.Sheets(&sum) {
			for _, row := range s.Rows {
				if len(row) != len(s.Columns) {
					t.Fatalf("%s: a row of %d cells, %d columns", s.Title, len(row), len(s.Columns))
				}
			}
		}
	}
	if err := new(Options).SetLike("tmux"); err == nil || !strings.Contains(err.Error(), "gsh") {
		t.Errorf("unknown system: %v", err)
	}
}
