package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ctxtool/internal/corpus"
	"ctxtool/internal/must"
	page "ctxtool/internal/report"
	"ctxtool/replay"
	"ctxtool/replay/cache"
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

// TestOneNumber: tokens, cost, requests, messages and calls of a session are the same in
// whatever command prints them.
func TestOneNumber(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	compared := 0
	for k, c := range corpus.Sample(t) {
		name := filepath.Join(dir, fmt.Sprint(k)+".jsonl")
		must.Do(os.WriteFile(name, c.Data, 0o600))
		s, err := sessionfmt.Open(name, sessionfmt.Options{})
		if err != nil {
			continue
		}
		f := &figures{by: map[string][]figure{}}
		f.ofCommands(t, c.Name, name, s)
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

// ofCommands asks the commands.
func (f *figures) ofCommands(t *testing.T, session, name string, s *sessionfmt.Session) {
	var ls struct {
		Entries, Context int
		Cost             float64
	}
	if !answerOf(t, "schema", &ls, "ls", name, "--json") {
		t.Errorf("%s is not listed", session)
		return
	}
	f.add("entries", "ls", float64(ls.Entries))
	f.add("cost", "ls", ls.Cost)
	f.add("context in use", "ls", float64(ls.Context))

	var stats struct {
		Stopped string
		Lenses  struct {
			Session struct {
				Turns, Requests int
				ToolCalls       struct{ Calls int }
			}
			Cost    struct{ Cost struct{ Total float64 } }
			Context struct {
				Sessions []struct {
					Tokens, Messages, Request int
					ContextUsage              struct{ Tokens *int }
				}
			}
			Cache struct {
				Requests, Prompt, Estimated, Read int
				Rebilled, Broken, Unserved        cache.Rebilled
			}
		}
	}
	if !answerOf(t, "schema", &stats, "stats", name, "-f", "jsonl", "--lens", "session,context,cost,cache") || stats.Stopped != "" {
		return
	}
	l := &stats.Lenses
	f.add("cost", "stats", l.Cost.Cost.Total)
	f.add("prompts", "stats", float64(l.Session.Turns))
	f.add("requests", "stats", float64(l.Session.Requests))
	f.add("calls", "stats", float64(l.Session.ToolCalls.Calls))
	f.add("entries", "session", float64(s.Coverage.Entries))
	context := l.Context.Sessions[0]
	f.add("context, counted", "stats", float64(context.Tokens))
	f.add("context, messages", "stats", float64(context.Messages))
	if in := context.ContextUsage.Tokens; in != nil {
		f.add("context in use", "stats", float64(*in))
	} else {
		f.add("context in use", "stats", float64(context.Tokens))
	}

	var cache struct {
		Total struct {
			Requests, Prompt, Estimated int
			Recorded                    struct{ Read int }
			Rebilled, Broken, Unserved  cache.Rebilled
		}
	}
	if answerOf(t, "total", &cache, "cache", name, "-f", "jsonl") {
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
			ContextUsage weigh.Shown
		}
	}
	if answerOf(t, "schema", &replayed, "replay", name, "-f", "json") {
		m := replayed.Meta
		f.add("context, counted", "replay", float64(m.Tokens.Total))
		f.add("requests of the path", "replay", float64(m.RequestIndex))
		f.add("requests of the path", "stats", float64(context.Request))
		f.add("context, messages", "replay", float64(len(replayed.Messages.Cached)+len(replayed.Messages.Uncached)))
		if m.ContextUsage.Tokens != nil {
			f.add("context in use", "replay", float64(*m.ContextUsage.Tokens))
		}
	}
	f.ofLog(name)
}

// ofLog takes the context that the last entry of a log leaves.
func (f *figures) ofLog(name string) {
	r := ranIn("", "log", name, "-f", "jsonl")
	lines := strings.Split(strings.TrimSpace(r.stdout.String()), "\n")
	var last struct{ Context *int }
	if r.status == exitOK && json.Unmarshal([]byte(lines[len(lines)-1]), &last) == nil && last.Context != nil {
		f.add("context, counted", "log", float64(*last.Context))
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
	cost := 0.0
	for _, c := range p.Index.Cost {
		cost += c
	}
	f.add("cost", "page", cost)
	if len(p.Head.Stopped) > 0 {
		return
	}
	if u := p.Head.Usage; u != nil {
		f.add("context in use", "page", float64(*u.Tokens))
	}
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
