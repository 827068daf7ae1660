package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"ctxtool/internal/lens/cache"
	page "ctxtool/internal/out/report"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
)

// A figure is what a command prints of a session.
type figure struct {
	command string
	value   float64
}

// figures are what commands print of one session, by what is asked.
type figures struct {
	by map[string][]figure
}

func (f *figures) add(what, command string, value float64) {
	f.by[what] = append(f.by[what], figure{command, value})
}

// differ are the questions that have several answers.
func (f *figures) differ() (all []string) {
	for what, answers := range f.by {
		for _, a := range answers[1:] {
			if math.Abs(a.value-answers[0].value) > 1e-9*max(1, math.Abs(a.value)) {
				all = append(all, fmt.Sprintf("%s: %v", what, answers))
				break
			}
		}
	}
	return all
}

// TestOneNumber: tokens, windows, cost, requests, compactions, messages and calls of a session of
// any agent are the same in whatever command prints them.
func TestOneNumber(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	compared := 0
	others := slices.DeleteFunc(corpus.Foreign(t), func(s corpus.Session) bool { return !corpus.Whole() && len(s.Data) > 100<<10 })
	for k, c := range append(corpus.Sample(t), others...) {
		name := filepath.Join(dir, fmt.Sprint(k)+".jsonl")
		must.Do(os.WriteFile(name, c.Data, 0o600))
		s, err := sessionfmt.Open(name, sessionfmt.Options{})
		if err != nil {
			continue
		}
		f := &figures{by: map[string][]figure{}}
		f.ofCommands(t, c.Name, name, s)
		f.ofSimulation(t, name)
		f.ofStatus(t, c.Name, name)
		f.ofPlan(t, name)
		f.ofGate(t, name)
		f.ofPages(t, c.Name, name, s)
		s.Close()
		for _, d := range f.differ() {
			t.Errorf("%s: %s", c.Name, d)
		}
		compared += len(f.by)
	}
	if compared < 500 {
		t.Errorf("only %d figures were compared", compared)
	}
}

// answerOf reads the JSON object of a command's answer that begins with a key, and reports whether
// there is one.
func answerOf(t *testing.T, key string, into any, args ...string) bool {
	t.Helper()
	r := ranIn("", args...)
	if r.status != exitOK {
		return false
	}
	text := "\n" + r.stdout.String()
	at := strings.Index(text, "\n{\""+key+"\"")
	if at < 0 {
		return false
	}
	if err := json.NewDecoder(strings.NewReader(text[at:])).Decode(into); err != nil {
		t.Logf("%v: %v", args, err) // Go's own limit of depth
		return false
	}
	return true
}

// compactionFigures are the compactions of a path and the facts that their summaries lack.
type compactionFigures struct {
	Count, Before, After int
	Survival             map[string]struct{ Of, Found int }
}

// ofCompactions compares what the lens sums with what the command lists.
func (f *figures) ofCompactions(name string, sum *compactionFigures) {
	before, after, lost, all := 0, 0, map[string]int{}, 0
	for line := range strings.Lines(ranIn("", "lost", name, "-f", "jsonl").stdout.String()) {
		var one struct {
			Before, After int
			Lost          []struct{ Kind string }
		}
		if json.Unmarshal([]byte(line), &one) != nil {
			continue
		}
		all, before, after = all+1, before+one.Before, after+one.After
		for _, l := range one.Lost {
			lost[l.Kind]++
		}
	}
	f.add("compactions of the path", "compactions", float64(all))
	f.add("compactions, before", "stats", float64(sum.Before))
	f.add("compactions, before", "compactions", float64(before))
	f.add("compactions, after", "stats", float64(sum.After))
	f.add("compactions, after", "compactions", float64(after))
	for kind, part := range map[string]string{"constraint": "constraints", "failure": "errors", "path": "paths", "command": "commands"} {
		f.add("lost: "+kind, "stats", float64(sum.Survival[part].Of-sum.Survival[part].Found))
		f.add("lost: "+kind, "compactions", float64(lost[kind]))
	}
}

// ofCommands asks the commands.
func (f *figures) ofCommands(t *testing.T, session, name string, s *sessionfmt.Session) {
	var ls struct {
		Entries, Context int
		Window           float64
		Cost, Recorded   float64
	}
	if !answerOf(t, "schema", &ls, "ls", name, "--json") {
		t.Errorf("%s is not listed", session)
		return
	}
	f.add("entries", "ls", float64(ls.Entries))
	f.add("cost", "ls", ls.Cost)
	f.add("cost, recorded", "ls", ls.Recorded)
	f.add("window", "ls", ls.Window)
	f.add("context in use", "ls", float64(ls.Context))

	var stats struct {
		Stopped string
		Lenses  struct {
			Session struct {
				Turns, Requests, Compactions int
				ToolCalls                    struct{ Calls int }
			}
			Compactions compactionFigures
			Growth      struct{ Sessions []growthFigures }
			Cost        struct {
				Cost struct{ Total, Recorded float64 }
			}
			Context struct {
				Sessions []struct {
					Tokens, Counted, Messages, Request int
					Window                             float64
					ContextUsage                       struct{ Tokens int }
				}
			}
			Cache struct {
				Requests, Prompt, Estimated, Read int
				HitRate                           float64
				Rebilled, Broken, Unserved        cache.Rebilled
			}
		}
	}
	if !answerOf(t, "schema", &stats, "stats", name, "-f", "jsonl", "--lens", "session,context,cost,cache,growth,compactions") || stats.Stopped != "" {
		return
	}
	l := &stats.Lenses
	f.add("cost", "stats", l.Cost.Cost.Total)
	f.add("cost, recorded", "stats", l.Cost.Cost.Recorded)
	f.add("window", "stats", l.Context.Sessions[0].Window)
	f.add("compactions of the path", "stats", float64(l.Compactions.Count))
	if path, _ := s.Path(s.Leaf()); s.Coverage.Entries == len(path) {
		f.add("compactions of the path", "stats --lens session", float64(l.Session.Compactions))
	}
	f.ofCompactions(name, &l.Compactions)
	f.ofGrowth(&l.Growth.Sessions[0])
	f.add("prompts", "stats", float64(l.Session.Turns))
	f.add("requests", "stats", float64(l.Session.Requests))
	f.add("calls", "stats", float64(l.Session.ToolCalls.Calls))
	f.add("entries", "session", float64(s.Coverage.Entries))
	context := l.Context.Sessions[0]
	f.add("context, counted", "stats", float64(context.Counted))
	f.add("context, messages", "stats", float64(context.Messages))
	f.add("context in use", "stats", float64(context.Tokens))
	f.add("context in use", "stats contextUsage", float64(context.ContextUsage.Tokens))

	var cache struct {
		Total struct {
			Requests, Prompt, Estimated int
			Recorded                    struct{ Read int }
			HitRate                     struct{ Achieved float64 }
			Rebilled, Broken, Unserved  cache.Rebilled
		}
	}
	if answerOf(t, "total", &cache, "cache", name, "-f", "jsonl") {
		if cache.Total.HitRate.Achieved > 0 {
			f.add("cache: hit rate of the path", "cache", cache.Total.HitRate.Achieved)
			f.add("cache: hit rate of the path", "stats", l.Cache.HitRate)
		}
		c, total := l.Cache, cache.Total
		for what, pair := range map[string][2]float64{
			"cache: requests": {float64(c.Requests), float64(total.Requests)}, "cache: prompts": {float64(c.Prompt), float64(total.Prompt)},
			"cache: estimated": {float64(c.Estimated), float64(total.Estimated)}, "cache: read": {float64(c.Read), float64(total.Recorded.Read)},
			"billed again": {c.Rebilled.Cost, total.Rebilled.Cost}, "billed again, tokens": {float64(c.Rebilled.Tokens), float64(total.Rebilled.Tokens)},
			"billed again by breaks": {c.Broken.Cost, total.Broken.Cost}, "not served": {c.Unserved.Cost, total.Unserved.Cost},
		} {
			f.add(what, "stats", pair[0])
			f.add(what, "cache", pair[1])
		}
	}

	var replayed struct {
		Messages struct{ Cached, Uncached []json.RawMessage }
		Meta     struct {
			RequestIndex int
			Tokens       weigh.Counts
			ContextUsage weigh.Size
		}
	}
	if answerOf(t, "schema", &replayed, "replay", name, "-f", "json") {
		m := replayed.Meta
		f.add("context, counted", "replay", float64(m.Tokens.Total))
		f.add("requests of the path", "replay", float64(m.RequestIndex))
		f.add("requests of the path", "stats", float64(context.Request))
		f.add("context, messages", "replay", float64(len(replayed.Messages.Cached)+len(replayed.Messages.Uncached)))
		f.add("context in use", "replay", float64(m.ContextUsage.Tokens))
	}
	f.ofLog(name)
}

// growthFigures are what the lens growth says of a session.
type growthFigures struct {
	Compactions int
	Requests    []struct{ Recorded, Window float64 }
	Now         struct{ Size, Window float64 }
}

// ofGrowth takes the requests of the path.
func (f *figures) ofGrowth(g *growthFigures) {
	f.add("compactions of the path", "growth", float64(g.Compactions))
	f.add("context in use", "growth", g.Now.Size)
	f.add("window", "growth", g.Now.Window)
	peak, over := 0.0, 0.0
	for _, r := range g.Requests {
		if peak = max(peak, r.Recorded); r.Window > 0 && r.Recorded > r.Window {
			over++
		}
		if r.Recorded > 0 && r.Window > 0 {
			f.add("recorded prompts over the window", "growth", over)
		}
	}
	if peak > 0 {
		f.add("the largest recorded prompt", "growth", peak)
	}
	if n := len(g.Requests); n > 0 {
		f.add("answers of the path", "growth", float64(n))
		if window := g.Requests[n-1].Window; window > 0 {
			f.add("window of the last request", "growth", window)
		}
	}
}

// ofSimulation takes the recorded policy, and the windows of all.
func (f *figures) ofSimulation(t *testing.T, name string) {
	var simulated struct {
		Policies []struct {
			Window, Peak        float64
			Requests, Overflows int
			Policy              string
			Estimated           bool
			Billed              struct{ Prompt, HitRate float64 }
		}
	}
	if !answerOf(t, "schema", &simulated, "simulate", name, "--json", "--policies", "recorded,pi,gsh,swe-cli") {
		return
	}
	for _, p := range simulated.Policies {
		f.add("window of the last request", "simulate "+p.Policy, p.Window)
	}
	recorded := simulated.Policies[0]
	if b := recorded.Billed; b.Prompt > 0 {
		f.add("cache: hit rate of the path", "simulate, as billed", b.HitRate)
	}
	f.add("answers of the path", "simulate", float64(recorded.Requests))
	if f.by["the largest recorded prompt"] != nil {
		f.add("the largest recorded prompt", "simulate", recorded.Peak)
		f.add("recorded prompts over the window", "simulate", float64(recorded.Overflows))
	}
}

// ofPlan takes the context of a plan, and that of the text of a replay.
func (f *figures) ofPlan(t *testing.T, name string) {
	var plan struct{ Context struct{ Tokens float64 } }
	if answerOf(t, "schema", &plan, "prune", name, "-f", "json") {
		f.add("context in use", "prune", plan.Context.Tokens)
	}
	if m := replayedSize.FindStringSubmatch(ranIn("", "replay", name).stdout.String()); m != nil {
		n, _ := strconv.ParseFloat(m[1], 64)
		f.add("context in use", "replay, text", n)
	}
}

var replayedSize = regexp.MustCompile(`(?m)^Context: ~?(\d+) tokens`)

// ofGate takes what gates judge.
func (f *figures) ofGate(t *testing.T, name string) {
	var judged struct {
		Gate struct {
			Verdicts []struct {
				Figure string
				Value  *float64
			}
		}
	}
	figures := map[string]string{"context.tokens": "context in use", "cost.total": "cost", "cost.recorded": "cost, recorded"}
	args := []string{"stats", name, "-f", "json", "--unpriced", "ignore"}
	for figure := range figures {
		args = append(args, "--require", figure+"<=1e12")
	}
	if !answerOf(t, "schema", &judged, args...) {
		return
	}
	for _, v := range judged.Gate.Verdicts {
		if v.Value != nil {
			f.add(figures[v.Figure], "gate "+v.Figure, *v.Value)
		}
	}
}

// ofStatus takes the status, and the page of all branches.
func (f *figures) ofStatus(t *testing.T, session, name string) {
	var status struct {
		Context, Window, Cost, Recorded float64
		Model                           string
	}
	if answerOf(t, "schema", &status, "status", name, "--json", "--cost") {
		f.add("context in use", "status", status.Context)
		f.add("window", "status", status.Window)
		f.add("cost", "status", status.Cost)
		f.add("cost, recorded", "status", status.Recorded)
	}
	head := string(pageHead.Find(ranIn("", "render", name, "--all", "--target", "file").stdout.Bytes()))
	if m := sessionLine.FindStringSubmatch(head); m != nil {
		n, _ := strconv.Atoi(m[2])
		f.add("requests", "render --all", float64(n))
	}
	if m := pageCost.FindStringSubmatch(head); m != nil {
		shown, _ := strconv.ParseFloat(m[1], 64)
		if want := f.by["cost"][0].value; math.Abs(shown-want) > 0.0051 {
			t.Errorf("%s: render --all says $%v, ls $%v", session, shown, want)
		}
	}
	for _, text := range []string{head, status.Model, ranIn("", "ls", name).stdout.String(), ranIn("", "stats", name, "--lens", "session,cost").stdout.String()} {
		if strings.Contains(text, "<synthetic>") {
			t.Errorf("%s: a synthetic model is one of its models: %s", session, text)
		}
	}
}

// The head of a Markdown page, and the cost in it.
var (
	pageHead = regexp.MustCompile(`(?s)^.*?\n\n.*?\n\n`)
	pageCost = regexp.MustCompile(`\*\*Used\*\*: .*; ~?\$([0-9.]+)`)
)

// ofLog takes the context that the last entry of a log leaves.
func (f *figures) ofLog(name string) {
	r := ranIn("", "log", name, "-f", "jsonl")
	lines := strings.Split(strings.TrimSpace(r.stdout.String()), "\n")
	var last struct{ Context *int }
	if r.status == exitOK && json.Unmarshal([]byte(lines[len(lines)-1]), &last) == nil && last.Context != nil {
		f.add("context in use", "log", float64(*last.Context))
	}
}

// ofPages asks the HTML page and the Markdown page.
func (f *figures) ofPages(t *testing.T, session, name string, s *sessionfmt.Session) {
	p := page.New(replay.New(s, replay.Options{}), s.Leaf())
	for _, stretch := range p.Begin(1 << 20) {
		if _, err := p.Rows(nil, stretch, nil); err != nil {
			t.Fatalf("%s: %v", session, err)
		}
	}
	if err := p.Wait(); err != nil {
		t.Fatalf("%s: %v", session, err)
	}
	p.Finish()
	f.add("cost", "page", p.Head.Cost)
	if len(p.Head.Stopped) > 0 {
		return
	}
	f.add("context in use", "page", float64(p.Head.Usage.Tokens))
	if n := len(p.Steps.Entry); n > 0 && p.Steps.Entry[n-1] < 0 {
		f.add("context, counted", "page", float64(p.Steps.System[n-1]+p.Steps.Tools[n-1]+p.Steps.Messages[n-1]))
	}
	path, _ := s.Path(s.Leaf())
	r := ranIn("", "render", name)
	if m := sessionLine.FindStringSubmatch(r.stdout.String()); m != nil && s.Coverage.Entries == len(path) { // else it is about the path alone
		for k, what := range []string{"prompts", "requests", "calls"} {
			n, _ := strconv.Atoi(m[k+1])
			f.add(what, "render", float64(n))
		}
	}
}

// sessionLine is what a Markdown page says of a session.
var sessionLine = regexp.MustCompile(`; (\d+) turns?, (\d+) requests?, (\d+) calls?;`)

// TestContradicted: what records contradict is said, in whatever command shows it: a context that
// is much larger than the recorded request, and a window that a recorded prompt exceeds. Requests
// without a recorded size are neither peaks nor overflows.
func TestContradicted(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, messages ...string) {
		text := `{"type":"session","version":3,"id":"p","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"
		parent := "null"
		for k, m := range messages {
			text += fmt.Sprintf(`{"type":"message","id":"e%d","parentId":%s,"timestamp":"2026-01-01T00:00:0%d.000Z","message":%s}`+"\n", k, parent, k, m)
			parent = fmt.Sprintf(`"e%d"`, k)
		}
		must.Do(os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(text), 0o600))
	}
	user := func(words int) string {
		return fmt.Sprintf(`{"role":"user","content":%q,"timestamp":1}`, strings.Repeat("word ", words))
	}
	answer := func(model, stop string, input int) string {
		return fmt.Sprintf(`{"role":"assistant","content":[{"type":"text","text":"ok"}],"provider":"anthropic","model":%q,"stopReason":%q,"usage":{"input":%d,"output":10,"cost":{"total":0.1}},"timestamp":1}`, model, stop, input)
	}
	const opus = "claude-opus-4-5"
	write("removed", user(36000), answer(opus, "stop", 45000), user(36000), answer(opus, "stop", 46000), user(100))
	write("noise", user(7000), answer(opus, "stop", 1000), user(8))                                  // 8,750 tokens counted
	write("little", user(36000), answer(opus, "stop", 36000), user(8))                               // 45,000 counted, a quarter more
	write("exceeded", user(8), answer(opus, "stop", 300000), user(8), answer(opus, "stop", 1000))    // of 200,000
	write("unanswered", user(8), answer(opus, "stop", 1000), user(800000), answer(opus, "error", 0)) // of 200,000
	write("unknown", user(8), answer("nobody", "stop", 1000), user(8), answer("nobody", "stop", 250000))
	for _, test := range []struct{ command, want string }{
		{"replay removed.jsonl", "· ~46.1k/200k tokens (23%)"},
		{"replay removed.jsonl", "- removed outside of the file: ~-44k"},
		{"replay removed.jsonl@request:1", "· ~90k/200k tokens (45%)"},
		{"replay noise.jsonl", "· ~1k/200k tokens (1%)"},
		{"replay little.jsonl", "· ~36k/200k tokens (18%)"},
		{"stats --lens context removed.jsonl", "removed outside of the file  ~-43992  -22.0%"},
		{"stats --lens context removed.jsonl", "total                         ~46135   23.1%"},
		{"ls --json removed.jsonl", `"context":46135,`},
		{"status removed.jsonl", " · ~23% of 200k · "},
		{"check removed.jsonl", "maybe-cleared  the provider counted 46000 tokens for this request, and the file has messages of about 90001 for it"},
		{"check noise.jsonl little.jsonl", "2 files checked: 2 sound"},
		{"ls --json exceeded.jsonl", `"window":300010,`},
		{"status exceeded.jsonl", "% of 300k"},
		{"stats --lens context exceeded.jsonl", "window of 300010 tokens (the largest recorded prompt, over that of the models table)"},
		{"replay exceeded.jsonl", "/300k tokens"},
		{"stats --lens context exceeded.jsonl --window 100000", "window of 100000 tokens (option)"},
		{"simulate exceeded.jsonl -f csv", "\n,gsh,2,300010,300000,"},
		{"simulate exceeded.jsonl", "2 requests of the path, window 300k (the largest recorded prompt, over that of the models table)"},
		{"simulate unanswered.jsonl -f csv", "\n,recorded,2,200000,1000,1000,0,"},
		{"simulate unanswered.jsonl -f csv", "\n,none,2,200000,1000,1000,0,"},
		{"simulate unknown.jsonl", "2 requests of the path, window 250k (assumed: the model is unknown)"},
		{"simulate unknown.jsonl -f csv", "\n,recorded,2,250000,250000,125500,0,"},
		{"simulate unknown.jsonl -f csv", "\n,swe-cli,2,250000,"},
	} {
		r := ranIn(dir, strings.Fields(test.command)...)
		if !strings.Contains(r.stdout.String(), test.want) {
			t.Errorf("%s: status %d, no %q in\n%s%s", test.command, r.status, test.want, r.stdout.String(), r.stderr.String())
		}
	}
}

// TestStatusCost: the status of a short session has its cost, that of a long one if asked.
func TestStatusCost(t *testing.T) {
	dir := t.TempDir()
	head := `{"type":"session","version":3,"id":"p","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"
	answer := `{"type":"message","id":"a1000000","parentId":null,"timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"%s"}],"provider":"p","model":"m","stopReason":"stop","usage":{"input":1,"output":1,"cost":{"total":0.02}},"timestamp":2}}` + "\n"
	for name, size := range map[string]int{"short": 10, "long": mostSummed} {
		must.Do(os.WriteFile(filepath.Join(dir, name), fmt.Appendf([]byte(head), answer, strings.Repeat("x", size)), 0o666))
	}
	for _, tt := range []struct {
		args string
		want bool
	}{{"status short", true}, {"status long", false}, {"status --cost long", true}} {
		r := ranIn(dir, strings.Fields(tt.args)...)
		if got := strings.Contains(r.stdout.String(), "$0.02"); r.status != 0 || got != tt.want {
			t.Errorf("%s: status %d, %q", tt.args, r.status, r.stdout.String())
		}
	}
}
