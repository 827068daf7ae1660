package compact

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"ctxtool/internal/test/corpus"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// counters are those that laws are held by.
var counters = []*tokens.Counter{&tokens.Pi, &tokens.GSH, &tokens.YBytes, &tokens.YScalars, &tokens.SWE}

// A run is a pass with options under which the laws have to hold.
type passRun struct {
	name string
	pass *Pass
	Options
}

// runs are all passes, with numbers small enough for small sessions.
func runs() []passRun {
	brief := func(Request) (string, error) { return "a summary", nil }
	return []passRun{
		{"truncate", &Truncate, Options{Max: 200, Unit: "bytes"}},
		{"truncate chars", &Truncate, Options{Max: 200, Unit: "chars"}},
		{"truncate tokens", &Truncate, Options{Max: 40, Unit: "tokens"}},
		{"prune", &Prune, Options{Protect: 500}},
		{"stale-results", &StaleResults, Options{Requests: 3}},
		{"superseded", &Superseded, Options{}},
		{"retry-prune", &RetryPrune, Options{}},
		{"retry-prune turn", &RetryPrune, Options{IntraTurn: true}},
		{"strip-thinking", &StripThinking, Options{}},
		{"drop-images", &DropImages, Options{}},
		{"drop-images keep", &DropImages, Options{Keep: 3}},
		{"merge-notes", &MergeNotes, Options{}},
		{"redact", &Redact, Options{}},
		{"progressive", &Progressive, Options{Summarize: brief}},
		{"compact gsh", &Compact, Options{Style: StyleGSH, Summarize: brief}},
		{"compact swe-cli", &Compact, Options{Style: styleSWECLI, Keep: 5, Summarize: brief}},
		{"compact y-agent", &Compact, Options{Style: styleYAgent, Keep: 3, Summarize: brief}},
		{"compact pi", &Compact, Options{Style: StylePi, Keep: 200, Summarize: brief}},
	}
}

// sessions are all that there are, and two that have what generated ones lack: reads
// and failures that are repeated, and more than pi keeps.
func sessions(t *testing.T) []corpus.Session {
	t.Helper()
	text := strings.Repeat("words and more ", 40)
	repeats := lines(user("q"), answer("", call("1", "read", `{"path":"a.go"}`)), result("1", text), answer("", call("2", "read", `{"path":"a.go"}`)), result("2", text),
		answer("", call("3", "bash", `{"command":"make"}`)), failed("3", text, true), answer("", call("4", "bash", `{"command":"make"}`)), failed("4", text, false), answer("done"))
	var long []testMessage
	for range 12 {
		long = append(long, user("go on"), answer(strings.Repeat(text, 20)))
	}
	return append(corpus.All(t), corpus.Session{Name: "made/repeats", Data: repeats}, corpus.Session{Name: "made/long", Data: lines(long...)})
}

// Sessions are opened once for all tests, nil where that cannot be, and stay open; a view
// of each is made once for each way to replay it. No pass changes the view that it is
// given, which TestLawsOfPasses holds.
var (
	openOnce = map[string]*sessionfmt.Session{}
	viewOnce = map[string]*View{}
)

// viewOf is the view of a session's context; nil where the session has none.
func viewOf(t *testing.T, c corpus.Session, opt replay.Options) *View {
	t.Helper()
	s, known := openOnce[c.Name]
	if !known {
		var err error
		if s, err = sessionfmt.OpenReader("s.jsonl", bytes.NewReader(c.Data), sessionfmt.Options{}); err != nil {
			s = nil
		}
		openOnce[c.Name] = s
	}
	if s == nil || s.Leaf() < 0 {
		return nil
	}
	way := fmt.Sprint(c.Name, " ", opt.Rules, " ", opt.Window)
	v, known := viewOnce[way]
	if !known {
		opt.Leaf = s.Leaf()
		if e, err := replay.New(s, opt).At(sessionfmt.After(s.Leaf())); err == nil {
			if v, err = NewView(e, &tokens.SWE); err != nil {
				t.Fatal(err)
			}
		}
		viewOnce[way] = v
	}
	return v
}

// views are the contexts that the laws are held over.
func views(t *testing.T, rules ...replay.Rules) (all []*View, names []string) {
	t.Helper()
	for _, s := range sessions(t) {
		for _, r := range rules {
			if v := viewOf(t, s, replay.Options{Rules: r}); v != nil && len(v.Messages) > 0 {
				all, names = append(all, v), append(names, s.Name)
			}
		}
	}
	return all, names
}

// unpaired are the calls without a result and the results without a call of a view.
func unpaired(t *testing.T, v *View) map[string]bool {
	t.Helper()
	open := map[string]int{}
	alone := map[string]bool{}
	for _, i := range v.live() {
		for _, b := range v.Messages[i].Blocks {
			switch b.Kind {
			case jsonl.CallBlock:
				open[b.ID] = i
				alone[fmt.Sprint("call ", i, b.ID)] = true
			case ResultBlock:
				if at, ok := open[b.ID]; ok {
					delete(alone, fmt.Sprint("call ", at, b.ID))
				} else {
					alone[fmt.Sprint("result ", i)] = true
				}
			}
		}
	}
	return alone
}

// TestLawsOfPasses holds laws 6, 7 and 8: pairs stay or go together, the numbers add up,
// and doing it again does nothing.
func TestLawsOfPasses(t *testing.T) {
	all, names := views(t, replay.ByPi, replay.ByEnvelope)
	touched := map[string]int{}
	for k, v := range all {
		was, alone := *v, unpaired(t, v)
		messages := append([]Message(nil), v.Messages...)
		for _, run := range runs() {
			where := names[k] + ": " + run.name
			run.Counter = counters[k%len(counters)]
			r := apply(t, run.pass, v, run.Options)
			touched[run.name] += len(r.Changes)
			if !reflect.DeepEqual(v.Messages, messages) || v.texts != was.texts {
				t.Fatalf("%s: the view that it was given has changed", where)
			}
			left := unpaired(t, r.View)
			for what := range left {
				if !alone[what] {
					t.Errorf("%s: law 6: %s is without its group", where, what)
				}
			}
			for what := range alone {
				if !left[what] && run.pass != &Compact && run.name != "retry-prune source" {
					t.Errorf("%s: law 6: %s, which was alone, is gone", where, what)
				}
			}
			adds(t, where, v, r, run.Counter)
			if again := apply(t, run.pass, r.View, run.Options); len(again.Changes) > 0 {
				t.Errorf("%s: law 8: a second run changes %d: %+v", where, len(again.Changes), again.Changes[0])
			}
		}
	}
	t.Logf("%d views; changes: %v", len(all), touched)
	for _, run := range runs() {
		if touched[run.name] < corpus.Least(t, 1, 0) && !strings.HasPrefix(run.name, "retry-prune") {
			t.Errorf("%s changes nothing anywhere", run.name)
		}
	}
}

// adds holds law 7.
func adds(t *testing.T, where string, v *View, r *Work, c *tokens.Counter) {
	t.Helper()
	sum := 0
	for _, c := range r.Changes {
		sum += c.Was - c.Now
	}
	if before, after := v.tokens(c), r.View.tokens(c); before != r.Report.TokensBefore || after != r.Report.TokensAfter || before-after != sum {
		t.Errorf("%s: law 7: from %d to %d tokens, reported %d to %d, its changes are %d", where, before, after, r.Report.TokensBefore, r.Report.TokensAfter, sum)
	}
	if r.Report.Skipped != (len(r.Changes) == 0) || r.Report.Skipped && r.Report.SkipReason == "" || len(r.Report.Touched) != len(r.Changes) {
		t.Errorf("%s: report %+v", where, r.Report)
	}
}

// contents checks that the content of each message is JSON with the content of the view,
// and of an unchanged message, that of the session.
func contents(t *testing.T, where string, before *View, r *Work) {
	t.Helper()
	for _, i := range r.View.live() {
		m := &r.View.Messages[i]
		if len(r.Changes) == 0 || !m.Edited && i%7 > 0 {
			continue
		}
		got, err := r.View.Content(i), r.View.texts.err
		if err != nil {
			t.Fatal(err)
		}
		if !m.Edited {
			if raw := before.texts.provider(m); !bytes.Equal(got, raw.Get("content")) {
				t.Errorf("%s: message %d is not as it was: %v", where, i, before.texts.err)
			}
			continue
		}
		if _, err := jsonl.ParseValue(got); err != nil {
			t.Fatalf("%s: message %d: %v", where, i, err)
		}
		p := part{tokenizer: r.View.tokenizer}
		var msg jsonl.Message
		msg.ReadContent(new(jsonl.Cursor).Reset(got), m.Kind)
		again := p.message(m.Place, &msg)
		for _, c := range counters {
			if !m.isAssistant() && !m.isResult() && !m.Heads && m.Kind != jsonl.User {
				continue
			}
			if a, b := again.Tokens(c), m.Tokens(c); a != b && !m.isResult() {
				t.Errorf("%s: message %d: its content has %d tokens by %s, the view %d: %.200s", where, i, a, c.Name, b, got)
			}
		}
	}
}

// TestLawsOfPolicies: the numbers of a plan add up, pairs stay or go together, and the
// plan of what a plan leaves is empty.
func TestLawsOfPolicies(t *testing.T) {
	fired := map[string]int{}
	for _, s := range sessions(t) {
		for _, window := range []int64{0, 1000} {
			v := viewOf(t, s, replay.Options{Window: window})
			if v == nil || len(v.Messages) == 0 {
				continue
			}
			for _, p := range Policies {
				planned(t, fmt.Sprintf("%s: %s of %d", s.Name, p.Name, window), p, v, fired)
			}
		}
	}
	t.Logf("changes: %v", fired)
	for _, p := range Policies {
		if fired[p.Name+" compact"] == 0 {
			t.Errorf("%s has never compacted", p.Name)
		}
	}
}

func planned(t *testing.T, where string, p *Policy, v *View, fired map[string]int) {
	t.Helper()
	summarize, err := OpenSummarizer("extract", SummaryOptions{Tokens: 300})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan(v, summarize)
	if err != nil {
		t.Fatal(where, err)
	}
	sum := 0
	for _, c := range plan.Changes {
		sum += c.Was - c.Now
		fired[p.Name+" "+c.Pass]++
	}
	if plan.Before-plan.After != sum || plan.After != plan.View.tokens(p.Counter) || plan.Before != plan.From.tokens(p.Counter) {
		t.Errorf("%s: law 7: from %d to %d, its changes are %d", where, plan.Before, plan.After, sum)
	}
	alone := unpaired(t, v)
	for what := range unpaired(t, plan.View) {
		if !alone[what] {
			t.Errorf("%s: law 6: %s is without its group", where, what)
		}
	}
	again, err := p.Plan(plan.View, summarize)
	if err != nil || len(again.Changes) > 0 {
		t.Errorf("%s: law 8: %v, %+v", where, err, again.Changes)
	}
}

// TestPropertyP1: pruning after each result that comes is pruning once at the end.
func TestPropertyP1(t *testing.T) {
	all, names := views(t, replay.ByPi)
	pruned := 0
	for k, v := range all {
		if len(v.Messages) > 600 {
			continue
		}
		o := Options{Protect: 300}
		live := v.fork()
		for n := range live.Messages {
			if live.Messages[n].isResult() {
				copy(live.Messages, apply(t, &Prune, until(live, n+1), o).View.Messages)
			}
		}
		once := apply(t, &Prune, v, o)
		pruned += len(once.Changes)
		if got, want := saidIn(t, live), saidIn(t, once.View); !reflect.DeepEqual(got, want) {
			t.Errorf("P1: %s: pruned step by step is not pruned once", names[k])
		}
	}
	if pruned < 10 {
		t.Errorf("only %d results pruned", pruned)
	}
}

// TestPropertyP2: what a pass does not change is byte for byte as in the session, and what
// it changes is JSON with the content of the view. Pairs are law 6.
func TestPropertyP2(t *testing.T) {
	all, names := views(t, replay.Auto)
	for k, v := range all {
		for _, run := range runs() {
			contents(t, names[k]+": "+run.name, v, apply(t, run.pass, v, run.Options))
		}
	}
}

// TestPropertyP6: a report's tokens are those of what it says was touched, and that is in
// order.
func TestPropertyP6(t *testing.T) {
	all, names := views(t, replay.Auto)
	for k, v := range all {
		for _, run := range runs() {
			r, sum := apply(t, run.pass, v, run.Options).Report, 0
			for i, touch := range r.Touched {
				sum += touch.Was - touch.Now
				if i > 0 && touch.Ref < r.Touched[i-1].Ref {
					t.Errorf("%s: %s: touched out of order", names[k], run.name)
				}
			}
			if r.TokensBefore-r.TokensAfter != sum || r.TokensSaved != max(0, sum) || r.System == "" {
				t.Errorf("P6: %s: %s: %d to %d tokens, touched %d", names[k], run.name, r.TokensBefore, r.TokensAfter, sum)
			}
		}
	}
}

// TestPropertyP3: cut anywhere, a text stays UTF-8, and not much longer than the limit.
func TestPropertyP3(t *testing.T) {
	for _, text := range []string{strings.Repeat("é", 60), strings.Repeat("日本語", 40), strings.Repeat("a😀é", 30)} {
		for limit := 1; limit < len(text)+2; limit++ {
			got, cut := truncateMiddle(text, limit)
			if !utf8.ValidString(got) || cut && len(got) > limit+28+3+3 {
				t.Errorf("P3: %d bytes cut at %d: %d bytes", len(text), limit, len(got))
			}
			if again, cut := truncateMiddle(got, limit); cut || again != got {
				t.Errorf("P3: cut at %d twice is not cut once", limit)
			}
			if head, _ := truncateHead(text, limit); !utf8.ValidString(head) {
				t.Errorf("P3: the head of %d is no UTF-8", limit)
			}
		}
	}
}

// TestPropertyP5: what it takes out is never a user's message, a system
// message, or the last group, and there are never more tokens.
func TestPropertyP5(t *testing.T) {
	all, names := views(t, replay.ByPi)
	for k, v := range all {
		groups, _ := v.groups()
		r := apply(t, &RetryPrune, v, Options{})
		if r.Report.TokensAfter > r.Report.TokensBefore {
			t.Errorf("P5: %s: more tokens", names[k])
		}
		for _, c := range r.Changes {
			if m := &v.Messages[c.Message]; c.Action != Omit || m.isUser() || !m.Sent {
				t.Errorf("P5: %s: %+v", names[k], c)
			}
		}
		if n := len(groups); n > 0 && !r.View.Live(groups[n-1].call) {
			t.Errorf("P5: %s: the last group is gone", names[k])
		}
	}
}

// until is the view of the first n messages, as they were when there were no more.
func until(v *View, n int) *View {
	w := *v
	w.Messages = v.Messages[:n:n]
	return &w
}
