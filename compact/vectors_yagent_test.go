package compact

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/read/activity"
	"ctxtool/replay/tokens"
)

// The vectors of y-agent, docs/policies.md 6.1, 6.3.

// TestPolicyTruncateHead holds T5 and T28.
func TestPolicyTruncateHead(t *testing.T) {
	mark := func(total, shown int) string {
		return fmt.Sprintf("\n[... truncated: %d chars total, showing first %d]", total, shown)
	}
	first := strings.Repeat("x", 10000) + mark(15000, 10000)
	if len(first) != 10056 {
		t.Fatalf("%d characters", len(first))
	}
	for _, test := range []struct {
		trap, in string
		want     string
	}{
		{"T5", strings.Repeat("x", 15000), first},
		{"T5", first, first},
		{"T28", strings.Repeat("é", 10000), strings.Repeat("é", 10000)},
		{"T28", strings.Repeat("é", 10001), strings.Repeat("é", 10000) + mark(10001, 10000)},
	} {
		r := apply(t, &Truncate, of(t, user("q"), answer("", call("c", "bash", `{}`)), result("c", test.in)), Options{Max: 10000, Unit: "chars"})
		if got := saidIn(t, r.View)[2]; got != test.want {
			t.Errorf("%s: %d bytes become %d, want %d", test.trap, len(test.in), len(got), len(test.want))
		}
	}
}

// TestPolicyTruncateToBudget holds T27.
func TestPolicyTruncateToBudget(t *testing.T) {
	for _, test := range []struct {
		in     string
		budget int
		want   string
	}{
		{strings.Repeat("a", 40), 10, strings.Repeat("a", 40)},
		{strings.Repeat("a", 41), 10, strings.Repeat("a", 28) + "\n[truncated]"},
		{strings.Repeat("a", 200), 2, ""},
		{strings.Repeat("a", 200), 3, "\n[truncated]"},
		{strings.Repeat("a", 8), 2, strings.Repeat("a", 8)},
		{strings.Repeat("你好", 100), 10, strings.Repeat("你好", 14) + "\n[truncated]"},
	} {
		if got, cut := truncateToBudget(test.in, test.budget); got != test.want || cut != (got != test.in) {
			t.Errorf("T27: %.10s under %d: %q, %v", test.in, test.budget, got, cut)
		}
	}
}

// TestPropertyP4: what is cut to a budget fits it.
func TestPropertyP4(t *testing.T) {
	for n := range 120 {
		for budget := range 20 {
			text, _ := truncateToBudget(strings.Repeat("é", n), budget)
			if got := tokens.YScalars.Of(len([]rune(text))); got > budget {
				t.Errorf("P4: %d characters under %d are %d tokens", n, budget, got)
			}
		}
	}
}

// TestPolicyClassify holds T18: whether a result reads like a failure.
func TestPolicyClassify(t *testing.T) {
	for text, want := range map[string]string{
		`{"error": null, "ok": true}`: "error", `Permission denied`: "", `{"is_error": true}`: "", `TypeError: x`: "error", `  FAILED`: "",
		`File not found`: "", `{"errors": []}`: "", `panic: runtime error: index`: "error", `ERROR: boom`: "", `exit status 1`: "",
		`1 passed, 0 error: none`: "error",
	} {
		if got := isErrorText(text, nil); got != (want == "error") {
			t.Errorf("%s: reads like an error: %v", text, got)
		}
	}
	if !isErrorText("exit status 1", []string{"exit status"}) {
		t.Error("a pattern of one's own does not count")
	}
	for _, flag := range []bool{true, false} { // what a result says of itself counts for more
		v := of(t, user("q"), answer("", call("c", "x", `{}`)), failed("c", map[bool]string{true: "fine", false: "error: boom"}[flag], flag))
		w := &Work{View: v, from: v}
		if got := w.failed(2); got != flag {
			t.Errorf("is_error %v: failed is %v", flag, got)
		}
	}
}

// TestPolicySimilarity holds T19.
func TestPolicySimilarity(t *testing.T) {
	for _, test := range []struct {
		a, b    string
		want    float64
		repeats bool
	}{
		{"calling tool A", "calling tool B", 0.9286, true}, {"try 1", "try 2", 0.8, false}, {"0123456789", "012345678X", 0.9, false},
		{"你好你好", "你好你好", 0.3333, false}, {strings.Repeat("é", 10), strings.Repeat("é", 10), 0.5, false}, {"", "", 1, true}, {"", "x", 0, false},
	} {
		if got := similarity(test.a, test.b, 0); got < test.want-0.00005 || got > test.want+0.00005 || repeats(test.a, test.b) != test.repeats {
			t.Errorf("%s, %s: %.4f, %v", test.a, test.b, got, repeats(test.a, test.b))
		}
	}
}

// TestPolicyRetryKeeps holds T17 and T20b: a call whose results did not all fail stays, and so does
// an answer that repeats an earlier one.
func TestPolicyRetryKeeps(t *testing.T) {
	t17 := of(t, user("q"), answer("", call("c1", "a", `{}`), call("c2", "b", `{}`)), result("c1", "fine"), result("c2", "error: boom"), answer("done"))
	t20b := of(t, answer("Done."), user("again"), answer("Done."))
	for want, v := range map[string]*View{"uAtta": t17, "aua": t20b} {
		if got := shape(apply(t, &RetryPrune, v, Options{}).View); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestPolicyRetrySeed holds T20c to T20f.
func TestPolicyRetrySeed(t *testing.T) {
	try := func(id, name, args, says string, bad bool) []testMessage {
		return []testMessage{answer("", call(id, name, args)), failed(id, says, bad)}
	}
	all := func(parts ...[]testMessage) (all []testMessage) {
		all = append(all, user("q"))
		for _, p := range parts {
			all = append(all, p...)
		}
		return all
	}
	read, edit := `{"path":"a.go"}`, `{"path":"f","edits":[]}`
	for _, test := range []struct {
		trap string
		in   []testMessage
		want string
		gone []int
	}{
		{"T20c", all(try("1", "read", read, "error", true), []testMessage{answer("another try")}, try("2", "read", read, "ok", false)), "uAt", []int{1, 2, 3}},
		{"T20d", all(try("1", "edit", edit, "error", true), try("2", "read", `{"path":"f"}`, "ok", false), try("3", "edit", `{"path":"f","edits":[1]}`, "ok", false), []testMessage{answer("x")}), "uAtAta", []int{1, 2}},
		{"T20e", all(try("1", "bash", `{"command":"npm test"}`, "bad", true), try("2", "bash", `{"command":"git status"}`, "ok", false)), "uAtAt", nil},
		{"T20f", all(try("1", "bash", `{"command":"x"}`, "bad", true), try("2", "bash", `{"command":"x"}`, "bad", true), try("3", "bash", `{"command":"x"}`, "bad", true)), "uAt", []int{1, 2, 3, 4}},
		// Both failures of a call that then works go, and those of another turn stay.
		{"both", all(try("1", "bash", `{"command":"x"}`, "bad", true), try("2", "bash", `{"command":"x"}`, "bad", true), try("3", "Bash", `{"command": "x"}`, "ok", false)), "uAt", []int{1, 2, 3, 4}},
		{"turn", append(all(try("1", "read", read, "error", true)), append([]testMessage{user("again")}, try("2", "read", read, "ok", false)...)...), "uAtuAt", nil},
		{"open", append(all(), answer("", call("1", "read", read), call("2", "read", read)), failed("1", "error", true), answer("", call("3", "read", read)), failed("3", "ok", false)), "uAtAt", nil},
	} {
		v := of(t, test.in...)
		r := apply(t, &RetryPrune, v, Options{})
		if got := shape(r.View); got != test.want {
			t.Errorf("%s: %s, want %s", test.trap, got, test.want)
		}
		for _, i := range test.gone {
			if r.View.Live(i) {
				t.Errorf("%s: message %d is left", test.trap, i)
			}
		}
	}
	var long []testMessage
	for k := range 5 {
		long = append(long, try(fmt.Sprint(k), "bash", `{"command":"x"}`, strings.Repeat("bad ", 1000), true)...)
	}
	v := of(t, append(all(try("0", "bash", `{"command":"x"}`, "bad", true), try("a", "bash", `{"command":"x"}`, "ok", false)), append([]testMessage{user("q")}, long...)...)...)
	if got, want := shape(apply(t, &RetryPrune, v, Options{IntraTurn: true}).View), "uAtAtuAt"; got != want {
		t.Errorf("inside a turn: %s, want %s", got, want)
	}
}

// TestPolicySequences holds T22: which pieces of work are finished.
func TestPolicySequences(t *testing.T) {
	for in, want := range map[string][]int{
		"uatata": {1, 2, 3, 4}, "uatat": nil, "uata": nil, "uattta": {1, 2, 3, 4}, "uatatu": {1, 2, 3, 4}, "ttaata": nil,
		"uAtAta": {1, 2, 3, 4},
	} {
		var all []testMessage
		for i, c := range in {
			switch c {
			case 'u':
				all = append(all, user("q"))
			case 'a':
				all = append(all, answer("note"))
			case 'A':
				all = append(all, answer("note", call(fmt.Sprint(i+1), "x", `{}`)))
			case 't':
				all = append(all, result(fmt.Sprint(i), "said"))
			}
		}
		v := of(t, all...)
		var got []int
		p := (&Work{View: v}).pieces()
		for p.next(v) {
		}
		found := p.found
		for _, r := range found {
			got = append(got, r.Messages...)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("T22: %s: %v, want %v", in, got, want)
		}
		if len(found) == 0 {
			continue
		}
		after := map[byte][]int{'a': {5}}[in[5]]
		if !slices.Equal(found[0].Before, []int{0}) || !slices.Equal(found[0].After, after) {
			t.Errorf("%s: between %d and %d", in, found[0].Before, found[0].After)
		}
		r := apply(t, &Progressive, v, Options{Summarize: func(Request) (string, error) { return "short", nil }})
		if got := shape(r.View); got != "ua"+in[5:] || saidIn(t, r.View)[1] != "[Pruning Summary] short" {
			t.Errorf("%s: %s, %q", in, got, saidIn(t, r.View))
		}
	}
}

// TestPolicySuperseded holds T23, T24 and T24b.
func TestPolicySuperseded(t *testing.T) {
	for path, want := range map[string]string{"src/a.rs:50-100": "src/a.rs", "src/a.rs:50:100": "src/a.rs:50", "src/a.rs:": "src/a.rs", `C:\x.rs`: `C:\x.rs`, "host:8080": "host"} {
		if got, _ := activity.File(path); got != want {
			t.Errorf("T23: %s: %s, want %s", path, got, want)
		}
	}
	x := func(n int) string { return strings.Repeat("x", n) }
	reads := func(older, newer, first, second string, bad bool) *View {
		return of(t, user("q"), answer("", call("1", "read", older)), failed("1", first, false), answer("", call("2", "read", newer)), failed("2", second, bad))
	}
	a := `{"path":"a"}`
	for _, test := range []struct {
		trap string
		in   *View
		was  int // tokens of the older read that is blanked, 0 for none
	}{
		{"T24", reads(a, a, x(300), x(300), false), 75},
		{"T24", reads(a, a, x(196), x(196), false), 0},
		{"another file", reads(a, `{"path":"b"}`, x(300), x(300), false), 0},
		{"the newer one failed", reads(a, a, x(300), x(300), true), 0},
		{"another part", reads(`{"path":"a","offset":1}`, `{"path":"a","offset":50}`, x(300), x(300), false), 0},
		{"a part, then all", reads(`{"path":"a","offset":1}`, a, x(300), x(300), false), 75},
		{"all, then a part", reads(a, `{"path":"a","offset":1}`, x(300), x(300), false), 0},
	} {
		r := apply(t, &Superseded, test.in, Options{})
		if test.was == 0 {
			if len(r.Changes) > 0 {
				t.Errorf("%s: %+v", test.trap, r.Changes)
			}
			continue
		}
		if len(r.Changes) != 1 || r.Changes[0].Was != test.was || r.Changes[0].Now != 11 || r.Changes[0].Message != 2 || r.Report.TokensSaved != test.was-11 {
			t.Errorf("%s: %+v", test.trap, r.Changes)
		}
	}
	for n, blanked := range map[int]bool{183: true, 184: false} {
		v := of(t, user("q"), answer("", call("1", "grep", `{}`)), result("1", "no matches found\n"+x(n)))
		r := apply(t, &Superseded, v, Options{})
		if (len(r.Changes) == 1 && r.Changes[0].Was == 50 && r.Changes[0].Now == 7) != blanked {
			t.Errorf("T24b: %d more: %+v", n, r.Changes)
		}
	}
	for n, want := range map[int]int{busySuffix: 1, busySuffix + 1: 0} {
		all := []testMessage{answer("", call("1", "read", a)), result("1", x(300)), answer("", call("2", "read", a)), result("2", x(4))}
		v := of(t, all...)
		rest := v.Messages[2].Tokens(&tokens.YScalars) + v.Messages[3].Tokens(&tokens.YScalars)
		v = of(t, append(all, user(x(4*(n-rest))))...)
		if got := len(apply(t, &Superseded, v, Options{Busy: true}).Changes); got != want {
			t.Errorf("%d tokens after it: %d changes, want %d", n, got, want)
		}
	}
	busy := of(t, user("q"), answer("", call("1", "read", a)), result("1", x(300)), answer(x(32001), call("2", "read", a)), result("2", x(4)))
	for is, want := range map[bool]int{true: 0, false: 1} {
		if got := len(apply(t, &Superseded, busy, Options{Busy: is}).Changes); got != want {
			t.Errorf("busy %v: %d changes", is, got)
		}
	}
}

// TestPolicySafeRange holds T25 and T25b.
func TestPolicySafeRange(t *testing.T) {
	end := func(retain int, all ...testMessage) int {
		w := &Work{View: of(t, all...)}
		end := w.safeEnd(w.live(), retain)
		return max(0, end)
	}
	pair := []testMessage{answer("", call("c", "x", `{}`)), result("c", "y")}
	for retain, want := range []int{5, 4, 3, 1, 1, 0} {
		if got := end(retain, append(append([]testMessage{user("1")}, pair...), answer("2"), user("3"))...); got != want {
			t.Errorf("T25: retaining %d: %d, want %d", retain, got, want)
		}
	}
	system := testMessage{"role": "system", "content": "s"}
	if got := end(1, append([]testMessage{system}, pair...)...); got != 0 {
		t.Errorf("T25b: %d", got)
	}
	if got := end(1, append([]testMessage{summarised("s")}, pair...)...); got != 1 {
		t.Errorf("T25b: a summary before it: %d", got)
	}
}

// TestPolicyYCompaction holds T26.
func TestPolicyYCompaction(t *testing.T) {
	var all []testMessage
	for i := range 20 {
		all = append(all, user(fmt.Sprintf("message %d with some content", i)))
	}
	o := Options{Counter: &tokens.YBytes, Style: styleYAgent, Keep: 10, Summarize: fallback}
	r := apply(t, &Compact, of(t, all...), o)
	if len(r.Changes) != 1 || r.Changes[0].Text != "[Compacted 10 messages using Summarize strategy]" || r.Changes[0].Now != 12 || r.Changes[0].Was != 70 || r.Report.TokensSaved != 58 {
		t.Errorf("T26: %+v", r.Changes)
	}
	if r := apply(t, &Compact, of(t, all[:10]...), o); !r.Report.Skipped {
		t.Errorf("T26: 10 messages are compacted: %+v", r.Changes)
	}
}

// TestPolicyStripThinking holds T30 and T30b, and what becomes of blocks.
func TestPolicyStripThinking(t *testing.T) {
	for text, want := range map[string]string{
		"A <think>t</think>\n\nB": "A B", "Some text <think>never": "Some text", "<think>x<think>y</think>z</think>w": "z</think>w",
		"<THINK>a</THINK>b": "<THINK>a</THINK>b", "<!-- iter -->one": "<!-- iter -->one", "<think>only</think>": "", " <think>a</think> x <!-- iter -->": "x",
	} {
		r := apply(t, &StripThinking, of(t, user(text), answer(text), user("q"), answer(text)), Options{})
		if got := saidIn(t, r.View); got[1] != want || got[0] != text || got[3] != text || len(got) != 4 {
			t.Errorf("T30: %q becomes %q, want %q", text, got, want)
		}
	}
	blocks := answer("x", call("c", "t", `{}`))
	blocks["content"] = append([]any{thinking("long")}, blocks["content"].([]any)...)
	alone := answer("")
	alone["content"] = []any{thinking("long")}
	for _, test := range []struct {
		in   []testMessage
		want string
	}{
		{[]testMessage{user("q"), blocks, result("c", "r"), answer("y")}, `[{"type":"text","text":"x"},{"arguments":{},"id":"c","name":"t","type":"toolCall"}]`},
		{[]testMessage{user("q"), alone, answer("y")}, `[{"type":"text","text":""}]`},
		{[]testMessage{user("q"), blocks, answer("y")}, ""},
		{[]testMessage{user("q"), alone}, ""},
	} {
		r := apply(t, &StripThinking, of(t, test.in...), Options{})
		if test.want == "" {
			if len(r.Changes) > 0 {
				t.Errorf("changed: %+v", r.Changes)
			}
			continue
		}
		got, err := r.View.Content(1), r.View.texts.err
		if err != nil || strings.ReplaceAll(string(got), `"text":"x","type":"text"`, `"type":"text","text":"x"`) != test.want {
			t.Errorf("%s, want %s, %v", got, test.want, err)
		}
	}
}

// TestPolicyMergeNotes holds T30c.
func TestPolicyMergeNotes(t *testing.T) {
	with := func(second string) *View {
		return of(t, testMessage{"role": "system", "content": "s"}, user("q"), answer("n1", call("1", "t", `{}`)), result("1", "r"),
			answer(second, call("2", "t", `{}`)), result("2", "r"), answer("n3", call("3", "t", `{}`)), result("3", "r"))
	}
	if r := apply(t, &MergeNotes, with(""), Options{}); len(r.Changes) > 0 {
		t.Errorf("T30c: %+v", r.Changes)
	}
	r := apply(t, &MergeNotes, with("n2"), Options{})
	if got := shape(r.View); got != "uAt" || r.Report.MessagesBefore-r.Report.MessagesAfter != 4 || saidIn(t, r.View)[1] != "n1\n\nn2\n\nn3" {
		t.Errorf("T30c: %s, %q", got, saidIn(t, r.View))
	}
}

// TestPolicyGrowth holds T30e.
func TestPolicyGrowth(t *testing.T) {
	for _, test := range []struct {
		now, last int
		want      bool
	}{{1999, 0, false}, {2000, 0, true}, {5000, 3001, false}, {3000, 3500, false}} {
		if got := (&Trigger{Tokens: growth, At: true}).fires(int64(test.now-test.last), 0); got != test.want {
			t.Errorf("T30e: %+v: %v", test, got)
		}
	}
}

// TestPolicyT21Guard: the verdict by whole percents.
func TestPolicyT21Guard(t *testing.T) {
	for _, test := range []struct {
		used int
		want Guarding
	}{
		{78_399, Guarding{Verdict: "ok", Percent: 69, Over: 0}},
		{78_400, Guarding{Verdict: "warning", Percent: 70, Over: 0}},
		{95_199, Guarding{Verdict: "warning", Percent: 84, Over: 0}},
		{95_200, Guarding{Verdict: "overflow", Percent: 85, Over: 0}},
		{106_399, Guarding{Verdict: "overflow", Percent: 94, Over: 11_199}},
		{106_400, Guarding{Verdict: "critical", Percent: 95, Over: 0}},
		{112_000, Guarding{Verdict: "critical", Percent: 100, Over: 0}},
		{112_001, Guarding{Verdict: "critical", Percent: 100, Over: 1}},
	} {
		got := *guard(test.used, 112_000)
		if got.Status = ""; got != test.want {
			t.Errorf("%d: %+v, want %+v", test.used, got, test.want)
		}
	}
	if got := guard(1, 0); got.Percent != 100 || got.Verdict != "critical" {
		t.Errorf("without a budget: %+v", got)
	}
	for used, want := range map[int]string{78_399: "", 78_400: "compress_experience", 95_200: "WARNING:", 106_400: "CRITICAL:"} {
		line, advice, _ := strings.Cut(guard(used, 112_000).Status, "\n")
		if !strings.Contains(advice, want) || want == "" && advice != "" {
			t.Errorf("%d: %q", used, advice)
		}
		if want := fmt.Sprintf("[Context Status: working_tokens=%d, threshold=112000, utilization=%d%%]", used, used*100/112_000); line != want {
			t.Errorf("got %s, want %s", line, want)
		}
	}
}
