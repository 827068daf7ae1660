package simulate

import (
	"fmt"
	"strings"
	"testing"

	"ctxtool/compact"
)

// tried writes an answer with a call, and its result, which may have failed.
func (s *script) tried(tool, argument, result string, failed bool) {
	s.entry(fmt.Sprintf(`{"role":"assistant","provider":"anthropic","model":"claude-sonnet-4-5","content":[{"type":"thinking","thinking":"so so"},{"type":"toolCall","id":"c%d","name":%q,"arguments":{"path":%q}}],"stopReason":"toolUse"}`, s.n, tool, argument))
	s.entry(fmt.Sprintf(`{"role":"toolResult","toolCallId":"c%d","toolName":%q,"content":[{"type":"text","text":%q}],"isError":%v}`, s.n-1, tool, result, failed))
}

// billed writes an answer without calls whose provider recorded so many tokens in all.
func (s *script) billed(text string, tokens int) {
	s.entry(fmt.Sprintf(`{"role":"assistant","provider":"anthropic","model":"claude-sonnet-4-5","content":[{"type":"text","text":%q}],"stopReason":"stop","usage":{"input":%d,"output":10,"cacheRead":0,"cacheWrite":0,"totalTokens":%d}}`, text, tokens-10, tokens))
}

// said returns a text of so many tokens of a quarter of a byte each.
func said(tokens int) string { return strings.Repeat("x", 4*tokens) }

// results writes a prompt, and answers with results of these sizes in bytes, one a request.
func results(sizes ...int) func(*script) {
	return func(s *script) {
		s.user("q")
		for i, n := range sizes {
			s.answer("", "read", fmt.Sprint("f", i), strings.Repeat("x", n))
		}
		s.end("done")
	}
}

// gshWith returns gsh with another size of results, in bytes, 0 for any, and another window of
// results to keep.
func gshWith(most, protect int) *compact.Policy {
	p := compact.GSHPolicy.Copy()
	p.Layer(&compact.Truncate).Max, p.Layer(&compact.Prune).Protect = most, protect
	return p
}

// named returns a policy of package compact.
func named(name string) *compact.Policy {
	p, err := compact.FindPolicy(name)
	if err != nil {
		panic(err)
	}
	return p
}

// A vector is what a policy does to a session, request by request: the number of the request,
// the pass, the number of the message, or the numbers of those that a summary replaces, and their
// tokens before and after, by the policy's counter.
type vector struct {
	name    string
	policy  *compact.Policy
	window  int64
	session func(*script)
	want    string
}

// gshVectors hold docs/policies.md 6.1 and 6.2. A result comes with each request, so the passes
// over the whole history come to the same as those over each part of it.
var gshVectors = []vector{
	{"T1", gshWith(30000, 40000), 0, results(30000), ""},
	{"T3", gshWith(30000, 40000), 0, results(80000, 10), "1 truncate 2 20000>7508"},
	{"T9 one", gshWith(0, 0), 0, results(2000), ""},
	{"T9 two", gshWith(0, 0), 0, results(2000, 2000), "2 prune 2 500>8"},
	{"T9 small", gshWith(0, 0), 0, results(2000, 2000, 2), "2 prune 2 500>8"},
	{"T10 400", gshWith(0, 400), 0, results(2000, 2000, 2000), "2 prune 2 500>8, 3 prune 4 500>8"},
	{"T10 499", gshWith(0, 499), 0, results(2000, 2000, 2000), "2 prune 2 500>8, 3 prune 4 500>8"},
	{"T10 500", gshWith(0, 500), 0, results(2000, 2000, 2000), "3 prune 2 500>8"},
	{"T10b", gshWith(0, 0), 0, results(400, 403, 404, 408, 4000), "4 prune 6 101>8, 5 prune 8 102>8"},
	{"T10c", gshWith(0, 40000), 0, results(2000, 12000, 40000, 8000, 200, 45000, 12000, 200, 35000, 6000, 150, 50000, 3000, 1500, 100),
		"12 prune 4 3000>8, 12 prune 2 500>8, 14 prune 6 10000>8"},
	{"T10d", gshWith(0, 40000), 0, results(2000, 12000, 40000, 8000, 200, 45000, 12000, 200), ""},
	{"T11", gshShare(0.57), 100, func(s *script) { s.user(said(52)); s.end("done") }, ""},
	{"T11 over", gshShare(0.57), 100, func(s *script) { s.user(said(53)); s.end("done") }, "0 compact [0] 57>2517"},
	{"T14", named("gsh"), 200000, func(s *script) { s.user(said(175000 - 4)); s.end("done") }, "0 compact [0] 175000>2517"},
}

// gshShare returns gsh that compacts above a share of the window.
func gshShare(share float64) *compact.Policy {
	p := compact.GSHPolicy.Copy()
	p.Layer(&compact.Compact).When = &compact.Trigger{Share: share, Whole: true}
	return p
}

// otherVectors hold the thresholds, cuts and stages of pi, SWE-CLI and y-agent.
var otherVectors = []vector{
	// pi compacts above the window less 16,384 tokens, by the last usage, where a turn ends and
	// between requests, and keeps about the last 20,000 tokens.
	{"pi at the limit", named("pi"), 100000, func(s *script) { s.user(said(500)); s.billed("ok", 100000-16384); s.user("more"); s.end("done") }, ""},
	{"pi above it", named("pi"), 100000, func(s *script) {
		s.user(said(30000))
		s.billed(said(20000), 100000-16384+1)
		s.user("more")
		s.end("done")
	}, "1 compact [0] 30000>2541"},
	{"pi in a turn", named("pi"), 30000, func(s *script) {
		s.user("q")
		s.answer("", "read", "a", said(9000))
		s.answer("", "read", "b", said(21000))
		s.end("done")
	}, "2 compact [0 1 2] 9005>2549"},

	// SWE-CLI compacts from 80 % of 256,000 tokens on, at them too, and keeps 20 messages.
	{"T15 below", named("swe-cli"), 256000, lines(25, 204799), ""},
	{"T15 at", named("swe-cli"), 256000, lines(25, 204800), "0 compact [0 1 2 3 4] 5>5048"},
	{"T31", named("swe-cli"), 256000, lines(20, 204800), ""},

	// y-agent: superseded reads where a turn ends, retries and thinking within it, and its guard
	// from 85 % of 112,000 tokens on.
	{"T20d", named("y-agent"), 112000, func(s *script) {
		s.user("u")
		s.tried("edit", "f", "boom", true)
		s.tried("read", "f", "ok", false)
		s.tried("edit", "f", "ok", false)
		s.end("a")
	}, "2 strip-thinking 1 2>0, 3 retry-prune 1 4>0, 3 retry-prune 2 1>0, 3 strip-thinking 3 2>0"},
	{"T20e", named("y-agent"), 112000, func(s *script) {
		s.user("u")
		s.tried("bash", "npm test", "boom", true)
		s.tried("bash", "git status", "ok", false)
		s.end("a")
	}, "2 strip-thinking 1 1>0"},
	{"T20f", named("y-agent"), 112000, func(s *script) {
		s.user("u")
		s.tried("bash", "npm test", "boom", true)
		s.tried("bash", "npm test", "boom", true)
		s.tried("bash", "npm test", "boom", true)
		s.end("a")
	}, "2 retry-prune 1 7>0, 2 retry-prune 2 1>0, 3 retry-prune 3 7>0, 3 retry-prune 4 1>0"},
	{"T24", named("y-agent"), 112000, func(s *script) {
		s.user("u")
		s.answer("", "read", "f", said(75))
		s.answer("", "read", "f", said(75))
		s.end("a")
		s.user("again")
		s.end("b")
	}, "3 superseded 2 75>11"},
	{"T21 below", named("y-agent"), 112000, func(s *script) { s.user(said(95198)); s.end("a"); s.user("v"); s.end("b") }, ""},
	{"T21 at", named("y-agent"), 112000, func(s *script) { s.user(said(95199)); s.end("a"); s.user("v"); s.end("b") }, "1 compact [0 1] 95200>2500"},
}

// lines writes n prompts with so many tokens in all, as cl100k counts them, and an answer.
func lines(n, tokens int) func(*script) {
	return func(s *script) {
		for range n - 1 {
			s.user("a")
		}
		s.user(strings.Repeat("a ", tokens-n) + "a")
		s.end("done")
	}
}

// TestVectors: each policy acts at the request, and on the messages, that its documentation says.
func TestVectors(t *testing.T) {
	for _, v := range append(gshVectors, otherVectors...) {
		t.Run(v.policy.Name+" "+v.name, func(t *testing.T) {
			s := newScript()
			v.session(s)
			o := Options{Contenders: []Contender{{Name: v.policy.Name, Policy: v.policy}}, Rows: true, Changes: true}
			o.Replay.Window = v.window
			o.Summaries.Answer = func(compact.Request) (string, error) { return strings.Repeat("s", 10000), nil }
			report, err := o.Session(opened(t, "vector", s.b.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for k, r := range report.Runs[0].Rows {
				for _, c := range r.Changes {
					of := any(c.Message)
					if len(c.Gone) > 0 {
						of = c.Gone
					}
					got = append(got, fmt.Sprintf("%d %s %v %d>%d", k, c.Pass, of, c.Was, c.Now))
				}
			}
			if strings.Join(got, ", ") != v.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), v.want)
			}
		})
	}
}
