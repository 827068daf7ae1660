package stats_test

import (
	"testing"

	"ctxtool/stats"
)

// writtenTwice is a session whose header and entries its file has twice: three messages,
// two of them answers, and a compaction.
func writtenTwice(t *testing.T) *stats.Report {
	t.Helper()
	once := string(text(answer("a", "", `"responseId":"r","usage":{"input":1,"cost":{"total":1}}`),
		entry("message", "u", "a", `"message":{"role":"user","content":"go on"}`), answer("b", "u", `"usage":{"input":2,"cost":{"total":2}}`),
		entry("compaction", "k", "b", `"summary":"s","firstKeptEntryId":"b","usage":{"input":4,"cost":{"total":4}}`)))
	return look(t, stats.Options{}, once+once, "cost", "session")
}

// TestTrapT20CopiesCountOnce: each call is one, though its entry is there twice.
func TestTrapT20CopiesCountOnce(t *testing.T) {
	if got := writtenTwice(t).Cost; got.Calls.Total != 3 || got.Tokens.Total != 7 || got.Cost.Total != 7 {
		t.Errorf("%+v", got)
	}
}

// TestTrapN3TotalsCountTwice: pi's totals are of all entries of the file, calls that are copies
// included.
func TestTrapN3TotalsCountTwice(t *testing.T) {
	got := writtenTwice(t)
	if c := got.Cost; c.Calls.Total+c.Copies != 6 {
		t.Errorf("%+v", c)
	}
	if p := got.Session; p.Messages != 6 || p.Turns != 2 || p.Requests != 4 || p.Compactions != 2 {
		t.Errorf("%+v", p)
	}
}

// TestTrapN26OlderCompactionPaid: a compaction counts whether or not it has effect.
func TestTrapN26OlderCompactionPaid(t *testing.T) {
	k := func(id, parent string) string {
		return entry("compaction", id, parent, `"summary":"s","firstKeptEntryId":"a","usage":{"input":1,"cost":{"total":0.5}}`)
	}
	got := costOf(t, answer("a", "", `"usage":{"cost":{"total":1}}`), k("k", "a"), k("l", "k"))
	if got.Cost.Total != 2 || got.Kinds.Summaries.Calls.Total != 2 || got.Kinds.Summaries.Cost.Total != 1 {
		t.Errorf("%+v", got)
	}
}

// TestTrapN27TotalIsNotTheSum: of the five costs the total counts.
func TestTrapN27TotalIsNotTheSum(t *testing.T) {
	got := costOf(t, answer("a", "", `"usage":{"cost":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"total":0.5,"totalFromProvider":true}}`),
		answer("b", "a", `"usage":{"cost":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"total":0.25,"totalFromProvider":false}}`))
	if want := (stats.CostDollars{Total: 0.75, Recorded: 0.75, Billed: 0.5, Estimated: 0.25}); got.Cost != want {
		t.Errorf("%+v, want %+v", got.Cost, want)
	}
}

// TestTrapN28TotalTokens: a recorded total of tokens is not asked.
func TestTrapN28TotalTokens(t *testing.T) {
	got := costOf(t, answer("a", "", `"usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"cacheWrite1h":4,"reasoning":2,"totalTokens":999,"cost":{"total":0}}`))
	if want := (stats.CostTokens{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Total: 10}); got.Tokens != want {
		t.Errorf("%+v, want %+v", got.Tokens, want)
	}
}

// TestTrapN29NestedCallsOnce: what a tool's own calls used is in its usage already.
func TestTrapN29NestedCallsOnce(t *testing.T) {
	result := entry("message", "r", "a", `"message":{"role":"toolResult","toolName":"task","toolCallId":"c","content":[],"usage":{"input":5,"cost":{"total":0.5}},"nestedCalls":{"complete":true,"calls":[{"id":"n","name":"read","usage":{"input":5,"cost":{"total":0.5}}}]}}`)
	got := costs(t, stats.Options{By: []string{"tool"}}, store(t, text(answer("a", "", `"usage":{"input":1,"cost":{"total":1}}`), result))...)
	if got.Cost.Total != 1.5 || got.Tokens.Input != 6 || got.Kinds.Tools.Cost.Total != 0.5 {
		t.Errorf("%+v", got.CostSum)
	}
	if len(got.Rows) != 2 || got.Rows[0].Tool != "" || got.Rows[1].Tool != "task" || got.Rows[1].Cost.Total != 0.5 {
		t.Errorf("%+v", got.Rows)
	}
}

// TestTrapN30PageShowsAnswers: pi's page shows the answers' sum alone.
func TestTrapN30PageShowsAnswers(t *testing.T) {
	got := costOf(t, answer("a", "", `"usage":{"input":1,"cost":{"total":1}}`),
		entry("branch_summary", "s", "a", `"fromId":"a","summary":"s","usage":{"input":2,"cost":{"total":2}}`),
		entry("usage", "w", "s", `"kind":"cache_warm","provider":"p","model":"m","usage":{"input":4,"cost":{"total":4}}`),
		entry("usage", "x", "w", `"kind":"title","provider":"p","model":"m","usage":{"input":8,"cost":{"total":8}}`),
		entry("custom_message", "y", "x", `"content":"c","usage":{"input":16,"cost":{"total":16}}`))
	k := got.Kinds
	if k.Answers.Cost.Total != 1 || k.Summaries.Cost.Total != 2 || k.Warming.Cost.Total != 4 || k.Other.Cost.Total != 8 || got.Cost.Total != 15 {
		t.Errorf("%+v", k)
	}
}

// TestTrapN31OmittedAndFailedCount: answers count that no request ever sees.
func TestTrapN31OmittedAndFailedCount(t *testing.T) {
	got := costOf(t, answer("a", "", `"usage":{"cost":{"total":1}}`), entry("context_edit", "e", "a", `"targetId":"a","replacement":null`),
		answer("b", "e", `"stopReason":"error","usage":{"cost":{"total":2}}`), answer("c", "", `"usage":{"cost":{"total":4}}`),
		answer("c", "", `"usage":{"cost":{"total":8}}`), answer("z", "nowhere", `"usage":{"cost":{"total":16}}`))
	if got.Cost.Total != 31 || got.Calls.Total != 5 {
		t.Errorf("%+v", got.CostSum)
	}
}
