package replay

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"ctxtool/internal/corpus"
	"ctxtool/internal/gen"
	"ctxtool/internal/tokens"
	"ctxtool/sessionfmt"
)

// A simulated provider keeps the pieces of every request, for as long as its model's
// cache lives, and compares them one by one.
type simulated struct {
	kept map[string][]simulatedUse
}

type simulatedUse struct {
	pieces []string
	at     int64
}

// ask is how many pieces at the start of a request are kept, and keeps it.
func (p *simulated) ask(model string, at, life int64, pieces []string) (best int) {
	for _, k := range p.kept[model] {
		if k.at+life < at {
			continue
		}
		n := 0
		for n < min(len(k.pieces), len(pieces)) && k.pieces[n] == pieces[n] {
			n++
		}
		best = max(best, n)
	}
	p.kept[model] = append(p.kept[model], simulatedUse{pieces, at})
	return best
}

// asked are the pieces of the request that an answer got, and the tokens of each:
// what is hidden, the prompt, the thinking level, and the messages.
func asked(t *testing.T, r *Replay, rec int, hidden int) (pieces []string, sizes []int) {
	t.Helper()
	e, err := r.At(rec, true)
	if err == nil && r.Rules == ByEnvelope {
		e, err = e.WithEphemeral()
	}
	if err != nil {
		t.Fatal(err)
	}
	prompt, err := e.Prompt()
	if err != nil {
		t.Fatal(err)
	}
	text := prompt.Compiled
	for _, tool := range prompt.Tools {
		text += "\x00" + string(tool.Raw)
	}
	n := countPrompt(&tokens.Pi, prompt.Parts, prompt.Tools)
	pieces = []string{"hidden", text, string(prompt.Options.Reasoning)}
	sizes = []int{hidden, n.System + n.Tools, 0}
	for _, list := range []func(func(Message, error) bool){e.CachedMessages(), e.UncachedMessages()} {
		for m, err := range list {
			if err != nil {
				t.Fatal(err)
			}
			var f [5]value
			m.Raw.Fields(f[:], "role", "content", "toolCallId", "toolName", "isError")
			said := ""
			for _, part := range f {
				said += string(part.AppendCompact(nil)) + "\x00"
			}
			var at sessionfmt.Cursor
			at.Reset(m.Raw)
			pieces = append(pieces, said)
			sizes = append(sizes, tokens.Pi.Units(messageUnits(&at, sessionfmt.RoleKind(f[0]))))
		}
	}
	return pieces, sizes
}

func sum0(list []int) (n int64) {
	for _, k := range list {
		n += int64(k)
	}
	return n
}

func openCacheTest(t testing.TB, data []byte) *sessionfmt.Session {
	t.Helper()
	s, err := sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCachePredicts: of a provider that keeps every beginning of every request, the
// account says what it reads and writes to the token: over branches, compactions,
// edits and patches, two models, and pauses.
func TestCachePredicts(t *testing.T) {
	requests, breaks := 0, map[CacheCause]int{}
	for _, name := range []string{"linear", "branched", "compacted", "everything", "v2"} {
		for seed := range uint64(4) {
			p, err := gen.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			shape := p.Shape
			shape.Seed, shape.Entries, shape.Text, shape.MaxText = seed, 160, 60, 2000
			t.Run(fmt.Sprintf("%s-%d", name, seed), func(t *testing.T) {
				data, want := simulate(t, gen.Session(shape), seed)
				s := openCacheTest(t, data)
				r := New(s, Options{Leaf: s.Leaf()})
				report, err := r.Cache(CacheOptions{Leaf: s.Leaf(), All: true, Collapse: true, Counter: &tokens.Pi})
				if err != nil || report.Stopped != nil {
					t.Fatal(err, report.Stopped)
				}
				if len(report.Rows) != len(want) {
					t.Fatalf("%d rows of %d requests", len(report.Rows), len(want))
				}
				for _, row := range report.Rows {
					requests++
					w := want[row.Record]
					if row.Expected == nil || *row.Expected != w {
						t.Errorf("entry %s: expected %v, the provider read and wrote %v; break %+v", s.ID(row.Record), row.Expected, w, row.Break)
					}
					if row.Rebilled != nil {
						t.Errorf("entry %s: billed again: %v", s.ID(row.Record), *row.Rebilled)
					}
					if row.Break != nil {
						breaks[row.Break.Cause]++
					}
				}
				if total := report.Total; total.Possible != total.Achieved || total.Answered != len(want) {
					t.Errorf("possible %v, achieved %v, %d answered", total.Possible, total.Achieved, total.Answered)
				}
			})
		}
	}
	t.Logf("%d requests, breaks %v", requests, breaks)
	for _, cause := range []CacheCause{CauseModel, CauseSystem, CauseTools, CauseThinking, CauseCompaction, CauseEdit, CauseTransform, CauseBranch, CauseEphemeral, CausePause} {
		if breaks[cause] == 0 {
			t.Errorf("no request was broken by %s", cause)
		}
	}
	if breaks[CauseUnknown] > 0 {
		t.Errorf("%d breaks without a cause", breaks[CauseUnknown])
	}
}

// simulate gives the answers of a session the usage, times and models of a simulated
// provider, and says what it read and wrote.
func simulate(t *testing.T, data []byte, seed uint64) ([]byte, map[int]CacheExpected) {
	t.Helper()
	s := openCacheTest(t, data)
	r := New(s, Options{Leaf: s.Leaf()})
	lines := strings.SplitAfter(string(data), "\n")
	rnd := rand.New(rand.NewPCG(seed, 1))
	usage := regexp.MustCompile(`"usage":\{.*?\}\}`)
	stamp := regexp.MustCompile(`"timestamp":\d+\}\}\n$`)
	provider := simulated{kept: map[string][]simulatedUse{}}
	want := map[int]CacheExpected{}
	clock, hidden := int64(1767225600000), 5000
	first, model := true, "claude-sonnet-4-5"
	for rec := range s.Len() {
		if s.Kind(rec) != sessionfmt.Assistant {
			continue
		}
		clock += rnd.Int64N(60_000)
		if rnd.IntN(12) == 0 {
			clock += 290_000 + rnd.Int64N(20_000)
		}
		if rnd.IntN(15) == 0 {
			model = map[string]string{"claude-sonnet-4-5": "claude-opus-4-5", "claude-opus-4-5": "claude-sonnet-4-5"}[model]
		}
		if first {
			e, _ := r.At(rec, true)
			if p, err := e.Prompt(); err != nil || p.Known {
				hidden = 0
			}
			first = false
		}
		pieces, sizes := asked(t, r, rec, hidden)
		n := provider.ask(model, clock, 300_000, pieces)
		read, whole := sum0(sizes[:n]), sum0(sizes)
		want[rec] = CacheExpected{read, whole - read}
		line := &lines[s.Line(rec)-1]
		*line = usage.ReplaceAllString(*line, fmt.Sprintf(`"usage":{"input":0,"output":5,"cacheRead":%d,"cacheWrite":%d,"cost":{"total":0.01}}`, read, whole-read))
		*line = stamp.ReplaceAllString(*line, fmt.Sprintf("\"timestamp\":%d}}\n", clock))
		*line = strings.Replace(*line, `"model":"claude-sonnet-4-5"`, `"model":"`+model+`"`, 1)
	}
	return []byte(strings.Join(lines, "")), want
}

// TestCacheRecorded: the recorded totals and the achieved hit rate are the sums of
// the raw usage in the file.
func TestCacheRecorded(t *testing.T) {
	answers := 0
	for _, c := range corpus.All(t) {
		s, err := sessionfmt.OpenReader(c.Name, bytes.NewReader(c.Data), sessionfmt.Options{})
		if err != nil {
			continue
		}
		var want CacheUsage
		lines := s.NewReader()
		for rec := range s.Len() {
			line, err := lines.Line(rec)
			if err != nil {
				t.Fatal(err)
			}
			if m := line.Get("message"); line.Get("type").Is("message") && m.Get("role").Is("assistant") {
				u := m.Get("usage")
				want.Input += u.Get("input").Int()
				want.CacheRead += u.Get("cacheRead").Int()
				want.CacheWrite += u.Get("cacheWrite").Int()
				want.CacheWrite1h += u.Get("cacheWrite1h").Int()
				answers++
			}
		}
		r := New(s, Options{Leaf: s.Leaf()})
		report, err := r.Cache(CacheOptions{Leaf: s.Leaf(), All: true, Counter: &tokens.Pi})
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if report.Total.Recorded != want {
			t.Errorf("%s: recorded %+v, the file says %+v", c.Name, report.Total.Recorded, want)
		}
		if whole := want.Input + want.CacheRead + want.CacheWrite; whole > 0 {
			if rate := float64(want.CacheRead) / float64(whole); math.Abs(rate-report.Total.Achieved) > 1e-12 {
				t.Errorf("%s: achieved %v, the file says %v", c.Name, report.Total.Achieved, rate)
			}
		}
		for _, row := range report.Rows {
			if e := row.Expected; e != nil && (e.Read < 0 || e.Write < 0 || e.Read+e.Write != row.Prompt) {
				t.Errorf("%s: entry %s: expected %v of %d", c.Name, s.ID(row.Record), *e, row.Prompt)
			}
		}
	}
	if answers < 500 {
		t.Errorf("only %d answers", answers)
	}
}
