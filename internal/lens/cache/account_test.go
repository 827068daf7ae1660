package cache

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
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

// askedInPlace is asked for a provider that takes system messages between others: those
// before all messages are the prompt.
func askedInPlace(t *testing.T, r *replay.Replay, rec int, hidden int) (pieces []string, sizes []int) {
	t.Helper()
	e := must.Get(r.At(sessionfmt.Before(rec)))
	collapsed, sized := asked(t, r, rec, hidden)
	pieces, sizes = slices.Clone(collapsed[:piecesBefore]), slices.Clone(sized[:piecesBefore])
	others := collapsed[piecesBefore:]
	var systems []jsonl.Value
	for m, err := range e.ProviderMessages() {
		switch {
		case err != nil:
			t.Fatal(err)
		case m.Kind != jsonl.System:
			pieces, sizes, others = append(pieces, others[0]), append(sizes, sized[len(sized)-len(others)]), others[1:]
		case len(pieces) == piecesBefore:
			systems = append(systems, bytes.Clone(m.Raw))
		default:
			units := m.Raw.Get("content").Units()
			for _, text := range m.Raw.Get("sections").Members {
				units += text.Units()
			}
			if added := m.Raw.Get("toolsAdded"); added.Exists() {
				units += jsonl.Units(added.AppendMinified(nil))
			}
			pieces, sizes = append(pieces, string(m.Raw)), append(sizes, tokens.Pi.Of(units))
		}
	}
	front := promptOf(t, systems)
	text := front.Compiled
	for _, tool := range front.Tools {
		text += "\x00" + string(tool.Raw)
	}
	n := front.Counts(&tokens.Pi)
	pieces[1], sizes[1] = text, n.System+n.Tools
	return pieces, sizes
}

// promptOf is what system messages make of an empty prompt.
func promptOf(t *testing.T, systems []jsonl.Value) *prompt.Prompt {
	t.Helper()
	file := []byte(`{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}` + "\n")
	parent := "null"
	for i, m := range systems {
		file = fmt.Appendf(file, `{"type":"message","id":"e%d","parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z","message":%s}`+"\n", i, parent, m)
		parent = fmt.Sprintf(`"e%d"`, i)
	}
	s := must.Get(sessionfmt.OpenReader("s", bytes.NewReader(file), sessionfmt.Options{}))
	e := must.Get(replay.New(s, replay.Options{Rules: replay.ByPi}).At(sessionfmt.After(s.Leaf())))
	return must.Get(e.Prompt())
}

// asked are the pieces of the request that an answer got, and the tokens of each:
// what is hidden, the prompt, the thinking level, and the messages.
func asked(t *testing.T, r *replay.Replay, rec int, hidden int) (pieces []string, sizes []int) {
	t.Helper()
	e, err := r.At(sessionfmt.Before(rec))
	if err == nil && r.Rules == replay.ByEnvelope {
		e, err = e.WithEphemeral()
	}
	if err != nil {
		t.Fatal(err)
	}
	prompt := must.Get(e.Prompt())
	text := prompt.Compiled
	for _, tool := range prompt.Tools {
		text += "\x00" + string(tool.Raw)
	}
	n := prompt.Counts(&tokens.Pi)
	pieces = []string{"hidden", text, string(prompt.Options.Reasoning)}
	sizes = []int{hidden, n.System + n.Tools, 0}
	for _, list := range []func(func(replay.Message, error) bool){e.CachedMessages(), e.UncachedMessages()} {
		for m, err := range list {
			if err != nil {
				t.Fatal(err)
			}
			var f [5]jsonl.Value
			m.Raw.Fields(f[:], "role", "content", "toolCallId", "toolName", "isError")
			said := ""
			for _, part := range f {
				said += string(part.AppendMinified(nil)) + "\x00"
			}
			pieces = append(pieces, said)
		}
	}
	for n, err := range replay.Each(e, func(l *replay.Reader, p replay.Piece) (int, error) {
		n, _, err := l.Tokens(&tokens.Pi, p)
		return n, err
	}) {
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, n)
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
	return must.Get(sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{}))
}

// TestCachePredicts: of a provider that keeps every beginning of every request, the
// account says what it reads and writes to the token: over branches, compactions,
// edits and patches, two models, and pauses.
func TestCachePredicts(t *testing.T) {
	requests, breaks := 0, map[Cause]int{}
	for _, name := range []string{"linear", "branched", "compacted", "everything", "v2", "compacted in place", "branched in place"} {
		name, inPlace := strings.CutSuffix(name, " in place")
		seeds := uint64(2)
		switch {
		case corpus.Whole():
			seeds = 10
		case name == "everything":
			seeds = 4
		}
		for seed := range seeds {
			p := must.Get(gen.Find(name))
			shape := p.Shape
			shape.Seed, shape.Entries, shape.Text, shape.MaxText = seed, 160, 60, 2000
			if inPlace {
				shape.Systems = 0.3
			}
			t.Run(fmt.Sprintf("%s-%v-%d", name, inPlace, seed), func(t *testing.T) {
				data, want := simulate(t, gen.Session(shape), seed, inPlace)
				s := openCacheTest(t, data)
				r := replay.New(s, replay.Options{})
				report, err := accountOf(r, Options{Leaf: s.Leaf(), All: true, InPlace: placed(inPlace)})
				if err != nil || report.Stopped != nil {
					t.Fatal(err, report.Stopped)
				}
				if report.Total.Requests != len(want) {
					t.Fatalf("%d rows of %d requests", report.Total.Requests, len(want))
				}
				for row := range report.Rows {
					requests++
					w := want[row.Record]
					if row.Expected == nil || *row.Expected != w {
						t.Errorf("entry %s: expected %v, the provider read and wrote %v; break %+v", s.ID(row.Record), row.Expected, w, row.Break)
					}
					if row.Unserved.Tokens > 0 {
						t.Errorf("entry %s: billed again: %v", s.ID(row.Record), row.Unserved)
					}
					if row.Break != nil {
						breaks[row.Break.Cause]++
					}
				}
				if total := report.Total; total.HitRate.Possible != *total.HitRate.Achieved || total.Answered != len(want) {
					t.Errorf("possible %v, achieved %v, %d answered", total.HitRate.Possible, *total.HitRate.Achieved, total.Answered)
				}
			})
		}
	}
	t.Logf("%d requests, breaks %v", requests, breaks)
	for _, cause := range []Cause{CauseModel, CauseSystem, CauseTools, CauseThinking, CauseCompaction, CauseEdit, CauseTransform, CauseBranch, CauseEphemeral, CausePause} {
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
func simulate(t *testing.T, data []byte, seed uint64, inPlace bool) ([]byte, map[int]Expected) {
	t.Helper()
	s := openCacheTest(t, data)
	r := replay.New(s, replay.Options{})
	lines := strings.SplitAfter(string(data), "\n")
	rnd := rand.New(rand.NewPCG(seed, 1))
	usage := regexp.MustCompile(`"usage":\{.*?\}\}`)
	stamp := regexp.MustCompile(`"timestamp":\d+\}\}\n$`)
	written := regexp.MustCompile(`"timestamp":"[^"]*"`)
	provider := simulated{kept: map[string][]simulatedUse{}}
	want := map[int]Expected{}
	clock, hidden := int64(1767225600000), 5000
	first, model := true, "claude-sonnet-4-5"
	for rec := range s.Len() {
		if s.Kind(rec) != jsonl.Assistant {
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
			e, _ := r.At(sessionfmt.Before(rec))
			if p, err := e.Prompt(); err != nil || p.Known {
				hidden = 0
			}
			first = false
		}
		ask := asked
		if inPlace {
			ask = askedInPlace
		}
		pieces, sizes := ask(t, r, rec, hidden)
		n := provider.ask(model, clock, 300_000, pieces)
		read, whole := sum0(sizes[:n]), sum0(sizes)
		want[rec] = Expected{read, whole - read}
		line := &lines[s.Line(rec)-1]
		*line = usage.ReplaceAllString(*line, fmt.Sprintf(`"usage":{"input":0,"output":5,"cacheRead":%d,"cacheWrite":%d,"cost":{"total":0.01}}`, read, whole-read))
		*line = stamp.ReplaceAllString(*line, fmt.Sprintf("\"timestamp\":%d}}\n", clock))
		if at := written.FindStringIndex(*line); at != nil { // the entry's own, the first one
			*line = (*line)[:at[0]] + time.UnixMilli(clock).UTC().Format(`"timestamp":"2006-01-02T15:04:05.000Z"`) + (*line)[at[1]:]
		}
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
		var want Usage
		lines := s.NewReader()
		for rec := range s.Len() {
			line := must.Get(lines.Line(rec))
			if m := line.Get("message"); line.Get("type").Is("message") && m.Get("role").Is("assistant") {
				u := m.Get("usage")
				if n := u.Get("input").Int(); n <= jsonl.MostUsage {
					want.Input += n
				}
				want.CacheRead += u.Get("cacheRead").Int()
				want.CacheWrite += u.Get("cacheWrite").Int()
				want.CacheWrite1h += u.Get("cacheWrite1h").Int()
				answers++
			}
		}
		r := replay.New(s, replay.Options{})
		report, err := accountOf(r, Options{Leaf: s.Leaf(), All: true})
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		if report.Total.Recorded != want {
			t.Errorf("%s: recorded %+v, the file says %+v", c.Name, report.Total.Recorded, want)
		}
		if whole := want.Input + want.CacheRead + want.CacheWrite; whole > 0 {
			if rate := float64(want.CacheRead) / float64(whole); math.Abs(rate-*report.Total.HitRate.Achieved) > 1e-12 {
				t.Errorf("%s: achieved %v, the file says %v", c.Name, *report.Total.HitRate.Achieved, rate)
			}
		}
		for row := range report.Rows {
			if e := row.Expected; e != nil && (e.Read < 0 || e.Write < 0 || e.Read+e.Write != row.Prompt) {
				t.Errorf("%s: entry %s: expected %v of %d", c.Name, s.ID(row.Record), *e, row.Prompt)
			}
		}
	}
	if answers < 500 {
		t.Errorf("only %d answers", answers)
	}
}

// TestCacheAsPi: where a session only grows, within the cache's lifetime, what was
// billed again is what pi says (docs/session-format.md 10).
func TestCacheAsPi(t *testing.T) {
	marked := 0
	for seed := range uint64(8) {
		data := gen.Session(gen.Shape{Seed: seed, Entries: 120, Tools: 0.6, Text: 60})
		rnd := rand.New(rand.NewPCG(seed, 2))
		usage := regexp.MustCompile(`"usage":\{.*?\}\}`)
		lines := strings.SplitAfter(string(data), "\n")
		s := openCacheTest(t, data)
		want := map[int]Rebilled{}
		var last int64
		active := false
		for rec := range s.Len() {
			if s.Kind(rec) != jsonl.Assistant {
				continue
			}
			prompt := last + 3000*rnd.Int64N(3) - 500
			read := rnd.Int64N(last+1) / 1000 * 1000
			if rnd.IntN(3) == 0 || last == 0 {
				read = 0
			}
			prompt = max(prompt, read+10)
			write := int64(0)
			if read > 0 || rnd.IntN(2) == 0 {
				write = prompt - read
			}
			input := prompt - read - write
			cost := [3]float64{float64(input) * 3e-6, float64(read) * 3e-7, float64(write) * 3.75e-6}
			active = active || read+write > 0
			if missed := min(last, prompt) - read; active && missed > 1024 {
				paid := (cost[0] + cost[2]) / float64(input+write)
				want[rec] = Rebilled{Tokens: missed, Cost: float64(missed) * (paid - 3e-7)}
			}
			last = prompt
			line := &lines[s.Line(rec)-1]
			*line = usage.ReplaceAllString(*line, fmt.Sprintf(`"usage":{"input":%d,"output":5,"cacheRead":%d,"cacheWrite":%d,"cost":{"input":%g,"cacheRead":%g,"cacheWrite":%g,"total":0.01}}`,
				input, read, write, cost[0], cost[1], cost[2]))
		}
		s = openCacheTest(t, []byte(strings.Join(lines, "")))
		report := must.Get(accountOf(replay.New(s, replay.Options{}), Options{Leaf: s.Leaf()}))
		for row := range report.Rows {
			got := Rebilled{}
			if row.Unserved.Tokens > 0 {
				got = row.Unserved
				marked++
			}
			w := want[row.Record]
			if got.Tokens != w.Tokens || math.Abs(got.Cost-w.Cost) > 1e-12 {
				t.Errorf("seed %d, entry %s: %v, pi says %v", seed, s.ID(row.Record), got, w)
			}
		}
	}
	if marked < 50 {
		t.Errorf("only %d rows were marked", marked)
	}
}

// placed is what stands in place in all requests: system messages with tools, or nothing.
func placed(all bool) *models.InPlace {
	if all {
		return &models.InPlace{System: true, Tools: models.Changed}
	}
	return &models.InPlace{}
}

// TestCacheInPlace: a later system message is one of the messages, and breaks nothing, or breaks the cache at the
// start if all of them are sent as one.
func TestCacheInPlace(t *testing.T) {
	name := corpus.Root(t) + "/testdata/sessions/good/cache.jsonl"
	s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
	defer s.Close()
	for _, inPlace := range []bool{true, false} {
		report := must.Get(accountOf(replay.New(s, replay.Options{}), Options{Leaf: s.Leaf(), InPlace: placed(inPlace)}))
		row := slices.Collect(report.Rows)[8]
		switch b := row.Break; {
		case inPlace && (b != nil || row.Shared.Messages != 15):
			t.Errorf("in place: %d messages shared, break %+v", row.Shared.Messages, b)
		case !inPlace && (b == nil || b.Cause != CauseSystem || b.At != 0 || s.Kind(b.Record) != jsonl.System):
			t.Errorf("at the front: %d messages shared, break %+v", row.Shared.Messages, b)
		}
	}
}

// TestCacheUses: of uses of a chain, the deepest that is kept is found, whatever the
// order in which they came.
func TestCacheUses(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		var uses, all []use
		for k := range 1 + rnd.IntN(8) {
			u := use{depth: rnd.Int32N(6), request: int32(k), until: rnd.Int64N(6)}
			uses, all = addUse(uses, u), append(all, u)
		}
		for at := range int64(7) {
			want := int32(-1)
			for _, u := range all {
				if u.until >= at {
					want = max(want, u.depth)
				}
			}
			got := int32(-1)
			for _, u := range uses {
				if u.until >= at {
					got = u.depth
					break
				}
			}
			if got != want {
				t.Fatalf("of %v at %d: %d, kept are %v", all, at, got, uses)
			}
		}
	}
}

// TestCacheWildUsage: an impossible usage is not accounted for, and
// all numbers can be written as JSON.
func TestCacheWildUsage(t *testing.T) {
	line := func(id, parent, role, more string) string {
		return fmt.Sprintf(`{"type":"message","id":%q,"parentId":%s,"timestamp":"2026-01-01T00:00:00.000Z","message":{"role":%q,"content":"hi","provider":"p","model":"m"%s}}`+"\n", id, parent, role, more)
	}
	data := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/"}` + "\n" +
		line("a0", "null", "user", "") +
		line("b0", `"a0"`, "assistant", `,"usage":{"input":9e18,"cacheRead":9e18,"cacheWrite":-5}`) +
		line("c0", `"b0"`, "user", "") +
		line("d0", `"c0"`, "assistant", `,"usage":{"input":9000,"cacheRead":1,"cost":{"input":1e308,"cacheWrite":1.7e308}}`) +
		line("e0", `"d0"`, "user", "") +
		line("f0", `"e0"`, "assistant", `,"usage":{"input":9000,"cacheRead":-7,"cost":{"input":1e308,"cacheWrite":1.7e308}}`)
	s := must.Get(sessionfmt.OpenReader("s", strings.NewReader(data), sessionfmt.Options{}))
	report := must.Get(accountOf(replay.New(s, replay.Options{}), Options{Leaf: s.Leaf()}))
	if n := report.Total.Recorded; n != (Usage{Input: 18000, CacheRead: 1}) {
		t.Errorf("recorded are %+v", n)
	}
	if cost := report.Total.Rebilled.Cost; report.Total.Rebilled.Tokens == 0 || math.IsInf(cost, 0) || math.IsNaN(cost) {
		t.Errorf("billed again are %+v", report.Total.Rebilled)
	}
}

// TestIdle: a compaction that an agent makes by itself long after a request, before anything else is
// asked, is a cause of its own; one that was asked for, that comes soon or after a prompt is none.
func TestIdle(t *testing.T) {
	line := func(at, parent, id, of string) string {
		return fmt.Sprintf(`{"parentUuid":%s,"sessionId":"s1","version":"2.1.290","uuid":%q,"timestamp":"2026-01-01T%s.000Z",%s}`, parent, id, at, of)
	}
	said := func(text string) string { return `"type":"user","message":{"role":"user","content":"` + text + `"}` }
	answer := func(id string) string {
		return fmt.Sprintf(`"type":"assistant","message":{"id":%q,"role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn","usage":{"input_tokens":9000}}`, id)
	}
	boundary := func(trigger string) string {
		return `"type":"system","subtype":"compact_boundary","compactMetadata":{"trigger":"` + trigger + `"}`
	}
	for _, test := range []struct {
		about, at, trigger string
		prompt             bool // before the compaction
		want               Cause
	}{
		{"in a pause", "10:54:00", "auto", false, CauseIdle},
		{"asked for", "10:54:00", "manual", false, CausePause},
		{"soon", "10:04:00", "auto", false, CausePause},
		{"after a prompt", "10:54:00", "auto", true, CausePause},
	} {
		lines := []string{line("10:00:00", "null", "u1", said("Do it, please, at length.")), line("10:00:10", `"u1"`, "a1", answer("m1"))}
		if test.prompt {
			lines = append(lines, line("10:53:59", `"a1"`, "u2", said("And now?")))
		}
		lines = append(lines, line(test.at, "null", "c1", boundary(test.trigger)),
			line(test.at, `"c1"`, "s1", `"isCompactSummary":true,`+said("They did it.")), line("10:56:00", `"s1"`, "u3", said("On.")),
			line("10:56:10", `"u3"`, "a2", answer("m2")))
		r := cacheOf(t, "s1.jsonl", []byte(strings.Join(lines, "\n")+"\n"))
		rows := slices.Collect(r.Rows)
		if b := rows[len(rows)-1].Break; b == nil || b.Cause != test.want || (b.Entry == "c1") != (test.want == CauseIdle) {
			t.Errorf("%s: %+v, want %s", test.about, b, test.want)
		}
	}
}
