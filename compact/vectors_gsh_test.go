package compact

import (
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
)

// TestPolicyTruncate holds vectors T1 to T8 of docs/policies.md 6.1, which are T5 aside
// gsh's.
func TestPolicyTruncate(t *testing.T) {
	x := func(n int) string { return strings.Repeat("A", n) }
	mark := func(n int) string { return fmt.Sprintf("\n\n... (%d bytes omitted) ...\n\n", n) }
	cut80000, _ := truncateMiddle(x(80000), 30000)
	for _, test := range []struct {
		trap, in string
		max      int
		want     string
	}{
		{"T1", x(30000), 30000, x(30000)},
		{"T2", x(30001), 30000, x(15000) + mark(1) + x(15000)},
		{"T2", x(30030), 30000, x(15000) + mark(30) + x(15000)},
		{"T3", x(80000), 30000, x(15000) + mark(50000) + x(15000)},
		{"T3", x(100000), 30000, x(15000) + mark(70000) + x(15000)},
		{"T4", cut80000, 30000, cut80000},
		{"T6", "ABCDEFGHIJ", 7, "ABC" + mark(4) + "HIJ"},
		{"T6", "ABCDEFGHIJ", 9, "ABCD" + mark(2) + "GHIJ"},
		{"T6", "ABCDEFGHIJ", 1, mark(10)},
		{"T6", "ABCDEFGHIJ", 10, "ABCDEFGHIJ"},
		{"T6", "ABCDEFGHIJ", 0, "ABCDEFGHIJ"},
		{"T7", strings.Repeat("日本語", 100), 50, strings.Repeat("日本語", 3)[:24] + mark(849) + strings.Repeat("日本語", 3)},
		{"T8", "éé", 2, mark(2) + "é"},
	} {
		r := apply(t, &Truncate, of(t, user("q"), answer("", call("c", "bash", `{}`)), result("c", test.in)), Options{Max: test.max, Unit: "bytes"})
		got := saidIn(t, r.View)[2]
		if got != test.want {
			t.Errorf("%s: %d bytes with a limit of %d: %d bytes, want %d", test.trap, len(test.in), test.max, len(got), len(test.want))
		}
	}
	if n := tokens.GSH.Of(len(cut80000)); n != 7508 {
		t.Errorf("T3: %d tokens", n)
	}
}

// outputs is a session with a tool call for each length of a result, in bytes.
func outputs(bytes ...int) (all []testMessage) {
	all = append(all, user("q"))
	for i, n := range bytes {
		id := fmt.Sprint("c", i)
		all = append(all, answer("", call(id, "bash", `{}`)), result(id, strings.Repeat("x", n)))
	}
	return all
}

// TestPolicyPrune holds vectors T9 to T10e of docs/policies.md 6.2.
func TestPolicyPrune(t *testing.T) {
	for _, test := range []struct {
		trap    string
		protect int
		sizes   []int
		want    map[int]int // of each result that is pruned, its tokens
	}{
		{"T9", 0, []int{2000}, nil},
		{"T9", 0, []int{2000, 2000}, map[int]int{0: 500}},
		{"T9", 0, []int{2000, 2000, 2}, map[int]int{0: 500}},
		{"T10", 400, []int{2000, 2000, 2000}, map[int]int{0: 500, 1: 500}},
		{"T10", 499, []int{2000, 2000, 2000}, map[int]int{0: 500, 1: 500}},
		{"T10", 500, []int{2000, 2000, 2000}, map[int]int{0: 500}},
		{"T10b", 0, []int{400, 403, 404, 408, 4000}, map[int]int{2: 101, 3: 102}},
		{"T10c", 40000, []int{2000, 12000, 40000, 8000, 200, 45000, 12000, 200, 35000, 6000, 150, 50000, 3000, 1500, 100}, map[int]int{0: 500, 1: 3000, 2: 10000}},
		{"T10d", 40000, []int{2000, 12000, 40000, 8000, 200, 45000, 12000, 200}, nil},
	} {
		r := apply(t, &Prune, of(t, outputs(test.sizes...)...), Options{Protect: test.protect})
		results := 0
		for i, text := range saidIn(t, r.View) {
			if i == 0 || i%2 == 1 {
				continue
			}
			k := i/2 - 1
			want := strings.Repeat("x", test.sizes[k])
			if n, pruned := test.want[k]; pruned {
				want = fmt.Sprintf("[output pruned, was ~%d tokens]", n)
			}
			if text != want {
				t.Errorf("%s: result %d is %.40q", test.trap, k, text)
			}
			results += len(text) / 4
		}
		if test.trap == "T10c" && (results != 40311 || r.Report.TokensSaved != 13476) {
			t.Errorf("T10c: %d tokens of results, %d saved", results, r.Report.TokensSaved)
		}
		for _, c := range r.Changes {
			if n := test.want[(c.Message-2)/2]; c.Was != n || c.Now != 8 && c.Now != 7 {
				t.Errorf("%s: %+v", test.trap, c)
			}
		}
	}
	two := of(t, user("q"), answer("", call("c", "bash", `{}`), call("d", "bash", `{}`)), result("c", strings.Repeat("x", 2000)), result("d", strings.Repeat("x", 2000)))
	if all := saidIn(t, apply(t, &Prune, two, Options{Protect: 400}).View); !strings.HasPrefix(all[2], "[output") || len(all[3]) != 2000 {
		t.Errorf("T10e: %.40q", all)
	}
}

// TestPolicyThresholds: T11, T12 and T15: the product of window and share is a double,
// and cut.
func TestPolicyThresholds(t *testing.T) {
	for _, test := range []struct {
		window int64
		share  float64
		want   float64
	}{{100, 0.57, 56}, {200000, 0.85, 170000}, {128000, 0.85, 108800}, {4000, 0.85, 3400}, {4096, 0.85, 3481}, {100000, 0.85, 85000}} {
		when := Trigger{Share: test.share, Whole: true}
		if got, _ := when.limit(test.window); got != test.want {
			t.Errorf("%d at %g: %g, want %g", test.window, test.share, got, test.want)
		}
		if at := int64(test.want); when.fires(at, test.window) || !when.fires(at+1, test.window) {
			t.Errorf("%d at %g does not fire above %g", test.window, test.share, test.want)
		}
	}
	for used, want := range map[int64]bool{204799: false, 204800: true} {
		if got := swecliPolicy.Layers[0].When.fires(used, 256000); got != want {
			t.Errorf("T15: %d: %v", used, got)
		}
	}
}

// TestPolicyGSHCompaction: T14.
func TestPolicyGSHCompaction(t *testing.T) {
	v := of(t, user(strings.Repeat("x", 4*(175000-4-4-100))), answer(strings.Repeat("y", 400)))
	if n := v.tokens(&tokens.GSH); n != 175000 {
		t.Fatalf("the session has %d tokens", n)
	}
	p := GSHPolicy
	p.Window = 200000
	plan := must.Get(p.Plan(v, func(Request) (string, error) { return strings.Repeat("s", 10000), nil }))
	n := plan.Layers[2].Report
	if n == nil || n.TokensBefore != 175000 || n.MessagesBefore != 2 || n.MessagesAfter != 1 {
		t.Errorf("report %+v", n)
	}
	if got := plan.Notice; got != "[context compacted: 175000 -> 2517 tokens]" {
		t.Errorf("notice %q", got)
	}
	if plan.After != 2517 || shape(plan.View) != "S" {
		t.Errorf("%d tokens, %s", plan.After, shape(plan.View))
	}
	under := of(t, user(strings.Repeat("x", 4*(170000-4))))
	if plan, err := p.Plan(under, nil); err != nil || plan.Layers[2].Fired {
		t.Errorf("170000 of 200000 tokens are compacted: %v", err)
	}
}

// TestPolicySWE: T16 and T31.
func TestPolicySWE(t *testing.T) {
	summary := func(Request) (string, error) { return "summary", nil }
	many := func(n int) (all []testMessage) {
		for i := range n {
			all = append(all, user(fmt.Sprint("message ", i)))
		}
		return all
	}
	r := apply(t, &Compact, of(t, many(25)...), Options{Counter: &tokens.SWE, Style: styleSWECLI, Keep: 20, Summarize: summary})
	if got := shape(r.View); got != "S"+strings.Repeat("u", 20) || r.Changes[0].Range.Messages != 5 {
		t.Errorf("T31: %s, %+v", got, r.Changes)
	}
	if r := apply(t, &Compact, of(t, many(20)...), Options{Counter: &tokens.SWE, Style: styleSWECLI, Keep: 20, Summarize: summary}); !r.Report.Skipped || len(r.Changes) > 0 {
		t.Errorf("T31: 20 messages are compacted: %+v", r.Report)
	}
	parted := of(t, user("1"), user("2"), user("3"), answer("", call("c", "bash", `{}`)), result("c", "x"), answer("y"), user("z"))
	for keep, want := range map[int]string{3: "SAtau", 2: "Sau", 4: "SAtau"} {
		r := apply(t, &Compact, parted, Options{Counter: &tokens.SWE, Style: styleSWECLI, Keep: keep, Summarize: summary})
		if got := shape(r.View); got != want {
			t.Errorf("T31: keeping %d: %s, want %s", keep, got, want)
		}
	}
}

// TestPolicyWindow: a window that is given comes first, then the models table's, then
// the policy's own.
func TestPolicyWindow(t *testing.T) {
	known := answer("y")
	known["provider"], known["model"] = "anthropic", "claude-sonnet-4-5"
	for _, test := range []struct {
		answer testMessage
		given  int64
		window int64
		from   string
	}{{answer("y"), 0, 100000, "policy"}, {answer("y"), 5000, 5000, "given"}, {known, 0, 200000, ""}} {
		v := viewed(t, lines(user("x"), test.answer), replay.Options{Window: test.given})
		plan, err := GSHPolicy.Plan(v, nil)
		if err != nil || plan.Window != test.window || test.from != "" && plan.WindowFrom != test.from || plan.WindowFrom == "unknown" {
			t.Errorf("%+v: %d from %s, %v", test, plan.Window, plan.WindowFrom, err)
		}
	}
}
