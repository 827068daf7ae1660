package stats_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/stats"
)

// transcript is a session of Claude Code with answers that record these usages, after an input of 10,000 tokens
// and an output of 1,000.
func transcript(model string, usages ...string) string {
	var b strings.Builder
	parent := "null"
	for i, usage := range usages {
		fmt.Fprintf(&b, `{"type":"user","uuid":"u%d","parentUuid":%s,"sessionId":"s","timestamp":"2026-09-02T10:%02d:00.000Z","message":{"role":"user","content":"go"}}`+"\n", i, parent, i)
		fmt.Fprintf(&b, `{"type":"assistant","uuid":"a%d","parentUuid":"u%d","sessionId":"s","timestamp":"2026-09-02T10:%02d:01.000Z","message":{"id":"m%d","role":"assistant","model":%q,"content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":10000,"output_tokens":1000%s}}}`+"\n", i, i, i, i, model, usage)
		parent = fmt.Sprintf(`"a%d"`, i)
	}
	return b.String()
}

// A rolloutLine is the type and the payload of a line of Codex.
type rolloutLine struct{ typ, payload string }

// rollout is a session of Codex.
func rollout(lines ...rolloutLine) string {
	var b strings.Builder
	lines = append([]rolloutLine{{"session_meta", `{"id":"s","timestamp":"2026-10-05T09:00:00.000Z","cwd":"/w","cli_version":"0.160.0","model_provider":"openai"}`}}, lines...)
	for i, l := range lines {
		fmt.Fprintf(&b, `{"timestamp":"2026-10-05T09:00:%02d.000Z","type":%q,"payload":%s}`+"\n", i, l.typ, l.payload)
	}
	return b.String()
}

func turnOf(more string) rolloutLine {
	return rolloutLine{"turn_context", `{"model":"gpt-5.4"` + more + `}`}
}
func threadOf(more string) rolloutLine {
	return rolloutLine{"event_msg", `{"type":"thread_settings_applied","thread_settings":{"model":"gpt-5.4"` + more + `}}`}
}
func asks(text string) rolloutLine {
	return rolloutLine{"response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}`}
}
func says(text string) rolloutLine {
	return rolloutLine{"response_item", `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}`}
}

const usedTokens = `{"input_tokens":100000,"cached_input_tokens":0,"output_tokens":1000,"total_tokens":101000}`

func recorded(id, more string) rolloutLine {
	return rolloutLine{"token_usage_record", `{"response_id":"` + id + `","usage":` + usedTokens + more + `}`}
}
func countedLast(more string) rolloutLine {
	return rolloutLine{"event_msg", `{"type":"token_count","info":{"last_token_usage":` + usedTokens + more + `}}`}
}

// TestTermsOfCalls: what a call costs follows from the terms that its agent records, wherever it records
// them, and what has no price is in no sum, by name.
func TestTermsOfCalls(t *testing.T) {
	const plain, fast = 0.265, 0.53 // of Codex
	priority, flex, standard := `,"service_tier":"priority"`, `,"service_tier":"flex"`, `,"service_tier":"default"`
	for _, c := range []struct {
		name, session string
		calls         stats.CostCalls
		dollars       float64
		unpriced      string
	}{
		{"plain", transcript("claude-opus-4-6", `,"speed":"standard","service_tier":"standard","inference_geo":"not_available"`, `,"inference_geo":"global"`, `,"speed":null,"server_tool_use":null`),
			stats.CostCalls{Total: 3, Computed: 3}, 0.225, ""},
		{"fast", transcript("claude-opus-4-6", `,"speed":"fast"`), stats.CostCalls{Total: 1, Computed: 1}, 0.45, ""},
		{"geo", transcript("claude-opus-4-6", `,"inference_geo":"us"`), stats.CostCalls{Total: 1, Computed: 1}, 0.0825, ""},
		{"searches", transcript("claude-opus-4-6", `,"server_tool_use":{"web_search_requests":20,"web_fetch_requests":3}`), stats.CostCalls{Total: 1, Computed: 1}, 0.275, ""},
		{"batch", transcript("claude-opus-4-6[1m]", `,"service_tier":"batch"`), stats.CostCalls{Total: 1, Computed: 1}, 0.0375, ""},
		{"no price", transcript("claude-opus-4-6", "", `,"service_tier":"priority"`, `,"service_tier":"priority"`, `,"speed":"warp"`), stats.CostCalls{Total: 4, Computed: 1, Unpriced: 3}, 0.075,
			"2 calls of anthropic/claude-opus-4-6 with service tier priority, 22000 tokens: no known price; 1 call of anthropic/claude-opus-4-6 with speed warp, 11000 tokens: no known price"},
		{"no model", transcript("claude-zero-9", `,"speed":"fast"`), stats.CostCalls{Total: 1, Unpriced: 1}, 0, "1 call of anthropic/claude-zero-9, 11000 tokens: no known price"},
		{"odd", transcript("claude-opus-4-6", `,"speed":{"x":1},"service_tier":7,"inference_geo":[],"server_tool_use":{"web_search_requests":-3}`, `,"server_tool_use":{"web_search_requests":"9"}`),
			stats.CostCalls{Total: 2, Computed: 2}, 0.15, ""},

		{"tier on the record", rollout(turnOf(""), asks("q"), says("a"), recorded("r1", priority)), stats.CostCalls{Total: 1, Computed: 1}, fast, ""},
		{"tier of the thread", rollout(threadOf(priority), turnOf(""), asks("q"), says("a"), recorded("r1", ""), asks("q"), says("b"), recorded("r2", "")), stats.CostCalls{Total: 2, Computed: 2}, 2 * fast, ""},
		{"tier of the turn", rollout(turnOf(priority), asks("q"), says("a"), recorded("r1", "")), stats.CostCalls{Total: 1, Computed: 1}, fast, ""},
		{"the record before the settings", rollout(threadOf(priority), turnOf(""), asks("q"), says("a"), recorded("r1", standard)), stats.CostCalls{Total: 1, Computed: 1}, plain, ""},
		{"the newest setting", rollout(threadOf(priority), turnOf(flex), asks("q"), says("a"), recorded("r1", ""), threadOf(`,"service_tier":null`), asks("q"), says("b"), recorded("r2", ""), turnOf(priority), asks("q"), says("c"), recorded("r3", "")),
			stats.CostCalls{Total: 3, Computed: 3}, plain/2 + plain + fast, ""},
		{"as settings call it", rollout(threadOf(`,"service_tier":"fast"`), turnOf(""), asks("q"), says("a"), recorded("r1", "")), stats.CostCalls{Total: 1, Computed: 1}, fast, ""},
		{"an unknown tier", rollout(threadOf(`,"service_tier":"scale"`), turnOf(""), asks("q"), says("a"), recorded("r1", "")), stats.CostCalls{Total: 1, Unpriced: 1}, 0,
			"1 call of openai/gpt-5.4 with service tier scale, 101000 tokens: no known price"},
		{"no totals", rollout(turnOf(""), asks("q"), says("a"), countedLast(""), asks("r"), countedLast(""), says("b"), countedLast(""), countedLast("")), stats.CostCalls{Total: 2, Computed: 2}, 2 * plain, ""},
		{"no totals, an answer without items", rollout(turnOf(""), asks("q"), countedLast(""), asks("r"), says("b"), countedLast("")), stats.CostCalls{Total: 2, Computed: 2}, 2 * plain, ""},
	} {
		name := filepath.Join(t.TempDir(), "s.jsonl")
		must.Do(os.WriteFile(name, []byte(c.session), 0o600))
		o := stats.Options{Lenses: lenses(t, "cost")}
		got := must.Get(o.Read(name)).Cost
		var unpriced []string
		for _, calls := range got.Unpriced {
			unpriced = append(unpriced, calls.String())
		}
		if got.Calls != c.calls || math.Abs(got.Cost.Total-c.dollars) > 1e-9 || strings.Join(unpriced, "; ") != c.unpriced {
			t.Errorf("%s: %+v, %v, %q; want %+v, %v", c.name, got.Calls, got.Cost.Total, unpriced, c.calls, c.dollars)
		}
		if sum := must.Get(o.Summarize(name)); math.Abs(sum.Cost-c.dollars) > 1e-9 || sum.Unpriced != c.calls.Unpriced {
			t.Errorf("%s: ls says %v, %d unpriced", c.name, sum.Cost, sum.Unpriced)
		}
	}
}

// TestReportedPrices has the figures of public reports on prices.
func TestReportedPrices(t *testing.T) {
	dir := testenv.NeedShared(t, "vectors/reports")[0]
	for name, want := range map[string]float64{
		"r27-codex-tier-record": 0.53, "r27-codex-tier-settings": 0.53, "r27-codex-tier-default": 0.265,
		"r28-codex-long-context": 2.145, "r28-codex-short-context": 0.58,
		"r30-claude-fast": 0.45, "r30-claude-geo": 0.0825, "r30-claude-standard": 0.075, "r30-claude-websearch": 0.275,
		"r46-model-names":    20.3, // of Sonnet 4.5 the name with a region costs $3.30, as Amazon sells it
		"r48-codex-no-total": 0.00795,
	} {
		got := must.Get((&stats.Options{Lenses: lenses(t, "cost")}).Read(filepath.Join(dir, name+".jsonl"))).Cost
		if math.Abs(got.Cost.Total-want) > 1e-9 || got.Calls.Unpriced != 0 {
			t.Errorf("%s: %v and %+v, want %v", name, got.Cost.Total, got.Calls, want)
		}
	}
}

// TestUnsentAnswer: where the user aborts calls, pi ends the turn with an empty answer for which it sends no request.
func TestUnsentAnswer(t *testing.T) {
	const zero = `"usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`
	said := func(id, parent, more string) string {
		return `{"type":"message","id":"` + id + `","parentId":"` + parent + `","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","provider":"p","model":"m",` + more + `}}`
	}
	calls := said("a", "u", `"content":[{"type":"toolCall","id":"c","name":"bash","arguments":{}},{"type":"toolCall","id":"d","name":"bash","arguments":{}}],"stopReason":"toolUse","responseId":"r","usage":{"input":5,"cost":{"total":1}}`)
	result := func(id, parent, call, text string, failed bool) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%q,"timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"toolResult","toolCallId":%q,"toolName":"bash","content":[{"type":"text","text":%q}],"isError":%v}}`, id, parent, call, text, failed)
	}
	const empty = `"content":[],"stopReason":"aborted",` + zero
	user := `{"type":"message","id":"u","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"go"}}`
	stopped := []string{header, user, calls, result("b", "a", "c", "x\n\nCommand aborted", true), result("d", "b", "d", "Operation aborted", true)}
	for name, c := range map[string]struct {
		lines []string
		want  int64
	}{
		"after an aborted batch": {append(slices.Clone(stopped), said("e", "d", empty)), 1},
		"with a response":        {append(slices.Clone(stopped), said("e", "d", empty+`,"responseId":"r2"`)), 2},
		"with a text":            {append(slices.Clone(stopped), said("e", "d", strings.Replace(empty, "[]", `[{"type":"text","text":"I"}]`, 1))), 2},
		"with tokens":            {append(slices.Clone(stopped), said("e", "d", strings.Replace(empty, `"input":0`, `"input":9`, 1))), 2},
		"after a prompt":         {[]string{header, user, said("e", "u", empty)}, 1},
		"after a result":         {[]string{header, user, calls, result("b", "a", "c", "Command aborted", false), said("e", "b", empty)}, 2},
		"first":                  {[]string{said("e", "u", empty)}, 1},
		"long before it":         {[]string{header, user, calls, result("b", "a", "c", strings.Repeat("x", 70<<10)+"\nCommand aborted", true), said("e", "b", empty)}, 2},
	} {
		file := filepath.Join(t.TempDir(), "s.jsonl")
		must.Do(os.WriteFile(file, []byte(strings.Join(c.lines, "\n")+"\n"), 0o600))
		r := must.Get((&stats.Options{Lenses: lenses(t, "cost", "session")}).Read(file))
		if r.Cost.Calls.Total != c.want || int64(r.Session.Requests) != c.want {
			t.Errorf("%s: %d calls, %d requests, want %d", name, r.Cost.Calls.Total, r.Session.Requests, c.want)
		}
	}
}
