package simulate

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"ctxtool/compact"
	"ctxtool/internal/test/gen"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
)

// contenders returns policies by name.
func contenders(t *testing.T, names ...string) (all []Contender) {
	t.Helper()
	for _, name := range names {
		one := Contender{Name: name}
		if name != Recorded && name != None {
			var err error
			if one.Policy, err = compact.FindPolicy(name); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, one)
	}
	return all
}

// opened returns a session of lines, which Close closes.
func opened(t *testing.T, name string, data []byte) *sessionfmt.Session {
	t.Helper()
	s, err := sessionfmt.OpenReader(name, bytes.NewReader(data), sessionfmt.Options{})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// A script writes a session whose answers call tools with results of given sizes.
type script struct {
	b bytes.Buffer
	n int
}

func newScript() *script {
	s := &script{}
	s.b.WriteString(`{"type":"session","version":3,"id":"00000000-0000-4000-8000-000000000000","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n")
	return s
}

// entry writes a message entry.
func (s *script) entry(message string) {
	parent := "null"
	if s.n > 0 {
		parent = fmt.Sprintf(`"%08d"`, s.n-1)
	}
	fmt.Fprintf(&s.b, `{"type":"message","id":"%08d","parentId":%s,"timestamp":"2026-01-01T00:%02d:%02d.000Z","message":%s}`+"\n", s.n, parent, s.n/60, s.n%60, message)
	s.n++
}

func (s *script) user(text string) { s.entry(fmt.Sprintf(`{"role":"user","content":%q}`, text)) }

// answer writes an answer with a call, and its result.
func (s *script) answer(text, tool, argument, result string) {
	s.entry(fmt.Sprintf(`{"role":"assistant","provider":"anthropic","model":"claude-sonnet-4-5","content":[{"type":"text","text":%q},{"type":"toolCall","id":"c%d","name":%q,"arguments":{"path":%q}}],"stopReason":"toolUse"}`, text, s.n, tool, argument))
	s.entry(fmt.Sprintf(`{"role":"toolResult","toolCallId":"c%d","toolName":%q,"content":[{"type":"text","text":%q}],"isError":false}`, s.n-1, tool, result))
}

// end writes an answer without calls.
func (s *script) end(text string) {
	s.entry(fmt.Sprintf(`{"role":"assistant","provider":"anthropic","model":"claude-sonnet-4-5","content":[{"type":"text","text":%q}],"stopReason":"stop"}`, text))
}

// eight are the tools of the table in gsh's documentation, with the bytes of their results.
var eight = []struct {
	tool, path string
	bytes      int
}{
	{"read", "package.json", 2000}, {"read", "src/index.ts", 12000}, {"bash", "npm test", 40000}, {"read", "src/utils.ts", 8000},
	{"edit", "src/utils.ts", 200}, {"bash", "npm test", 45000}, {"read", "src/index.ts", 12000}, {"edit", "src/index.ts", 200},
}

// TestTable: the decisions of gsh before the ninth iteration are those of the table in its
// documentation, and once the newer results have more than 40,000 tokens, the oldest go.
func TestTable(t *testing.T) {
	s := newScript()
	s.user("q")
	for _, e := range eight {
		s.answer("", e.tool, e.path, strings.Repeat("x", e.bytes))
	}
	for i := range 2 {
		s.answer("", "read", fmt.Sprintf("big%d", i), strings.Repeat("x", 28000))
	}
	s.end("done")
	gsh := compact.GSHPolicy.Copy()
	gsh.Layer(&compact.Truncate).Max = 0 // the table is of results that are not cut
	decide := func(request int) *Decision {
		o := Options{Contenders: []Contender{{Name: "gsh", Policy: gsh}}, Explain: request, Explained: true}
		report, err := o.Session(opened(t, "table", s.b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		return report.Runs[0].Decision
	}
	d := decide(8)
	running := []int{50, 3050, 14300, 14350, 16350, 26350, 29350, 29850}
	if len(d.Items) != len(running) {
		t.Fatalf("%d results", len(d.Items))
	}
	for i, it := range d.Items {
		if it.Running != running[i] || it.Action != "keep" {
			t.Errorf("result %d: %+v, want a running total of %d", i, it, running[i])
		}
	}
	d = decide(10) // 14,000 more: the window ends within the first npm test
	for i, it := range d.Items {
		pruned := i >= 8 // both reads of the first two iterations
		if (it.Action == "replace") != pruned {
			t.Errorf("%s, running total %d: %s", it.What, it.Running, it.Action)
		}
	}
	if last := d.Items[len(d.Items)-1]; last.What != "read package.json" || last.Now != 8 {
		t.Errorf("%+v", last)
	}
}

// TestTimeline: in the 16 iterations of gsh's documentation, nothing happens in the first five; a
// file of 80 KB is cut to 30,000 bytes; then results are pruned, until what the agent says exceeds
// 170,000 tokens: the sixteenth request is one message with the summary, and the cycle begins again.
func TestTimeline(t *testing.T) {
	s := newScript()
	s.user("q")
	for i := range 5 {
		s.answer("", "read", fmt.Sprint("small", i), said(4000))
	}
	s.answer("", "read", "huge", strings.Repeat("x", 80000))
	for i := range 4 {
		s.answer("", "bash", fmt.Sprint("run", i), said(7250))
	}
	for i := range 5 {
		s.answer(said(26000), "bash", fmt.Sprint("again", i), said(7250))
	}
	s.answer("", "bash", "true", "ok")
	s.end("done")
	o := Options{Contenders: contenders(t, "gsh"), Rows: true, Changes: true, Summaries: Summaries{Ratio: 2500. / 175000}}
	report, err := o.Session(opened(t, "timeline", s.b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	rows := report.Runs[0].Rows
	for _, phase := range []struct {
		from, to int // requests
		passes   string
		least    int // tokens of messages
		most     int
	}{
		{0, 5, "", 0, 20100},
		{6, 6, "truncate", 20000, 35000},
		{7, 8, "", 34000, 45000},
		{9, 10, "prune", 40000, 60000},
		{11, 14, "prune", 60000, 170000},
		{15, 15, "prune compact", 2000, 3000},
		{16, 16, "", 2000, 3000},
	} {
		for k := phase.from; k <= phase.to; k++ {
			passes := ""
			for _, c := range rows[k].Changes {
				if !strings.Contains(passes, c.Pass) {
					passes = strings.TrimSpace(passes + " " + c.Pass)
				}
				if c.Pass == "truncate" && (c.Was != 20000 || c.Now != 7508) || c.Pass == "compact" && (c.Was <= 170000 || rows[k].Messages != 1) {
					t.Errorf("request %d: %+v", k, c)
				}
			}
			if n := int(rows[k].Tokens.Total); passes != phase.passes || n < phase.least || n > phase.most {
				t.Errorf("request %d: %q, %d tokens", k, passes, n)
			}
		}
	}
}

// TestThreshold: gsh compacts above 85 % of the window, not at it (docs/policies.md 6).
func TestThreshold(t *testing.T) {
	for _, extra := range []int{0, 4} {
		s := newScript()
		s.user(strings.Repeat("x", 4*(170000-4)+extra))
		s.end("done")
		o := Options{Contenders: contenders(t, "gsh")}
		report, err := o.Session(opened(t, "threshold", s.b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if got := report.Runs[0].Compactions; got != extra/4 {
			t.Errorf("%d tokens over: %d compactions", extra/4, got)
		}
	}
}

// TestModel: another model has its own window, prices and cache, and the recorded sizes.
func TestModel(t *testing.T) {
	s := opened(t, "s", gen.Session(gen.Shape{Seed: 1, Entries: 120, Tools: 0.8, Text: 2000}))
	o := Options{Contenders: contenders(t, Recorded, "gsh")}
	was, err := o.Session(s)
	if err != nil {
		t.Fatal(err)
	}
	o.Replay.Model, o.Replay.Window = models.Ref{Provider: "openai", ID: "gpt-4o"}, 20000
	is, err := o.Session(s)
	if err != nil {
		t.Fatal(err)
	}
	if is.Runs[0].Prompt != was.Runs[0].Prompt || is.Runs[0].Cost.Total == was.Runs[0].Cost.Total || is.Runs[1].Compactions <= was.Runs[1].Compactions || is.Runs[0].Window != 20000 {
		t.Errorf("%+v\n%+v\n%+v", was.Runs[0], is.Runs[0], is.Runs[1])
	}
}

// TestSweep: a sweep names what it varies, and refuses what no policy has.
func TestSweep(t *testing.T) {
	all, err := Sweep(contenders(t, Recorded, "gsh", "pi"), "protect=1000,2000")
	if err != nil || len(all) != 4 || all[1].Name != "gsh protect=1000" || all[1].Policy.Layer(&compact.Prune).Protect != 1000 || compact.GSHPolicy.Layer(&compact.Prune).Protect != 40000 {
		t.Errorf("%v %v", all, err)
	}
	for spec, want := range map[string]string{
		"size=1": "no policy has the option size", "protect": "must be KEY=A,B,C", "share=2": "share=2: must be a number to run above SHARE", "requests=3": "no policy has the option requests", "keep=x": "keep=x: must be a number",
	} {
		if _, err := Sweep(contenders(t, "gsh", "pi"), spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}
