package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay/tokens"
)

// conversation is a session of so many answered requests of the model p/m, whose
// recorded prompts are what chars4 counts, by a function.
func conversation(requests int, first string, recorded func(i, counted int) int) []byte {
	var entries []string
	if first != "" {
		entries = append(entries, message("s", first))
	}
	counted := 0
	if first != "" {
		counted = 100 // see knownPrompt
	}
	for i := range requests {
		text := strings.Repeat("word", 50+i*7%90)
		counted += tokens.Pi.Of(len(text))
		entries = append(entries,
			message(fmt.Sprintf("u%d", i), fmt.Sprintf(`"role":"user","content":%q`, text)),
			message(fmt.Sprintf("a%d", i), fmt.Sprintf(`"role":"assistant","provider":"p","model":"m","content":[{"type":"text","text":"12345678"}],"stopReason":"stop","usage":{"input":%d,"cacheRead":7,"cacheWrite":3}`, recorded(i, counted)-10)))
		counted += 2
	}
	return chain(entries...)
}

// knownPrompt is a system message of 100 tokens.
var knownPrompt = `"role":"system","content":"` + strings.Repeat("four", 100) + `"`

// calibratedOf is what the lenses see of sessions, calibrated.
func calibratedOf(t *testing.T, opt Options, sessions ...[]byte) (sum *Report, each []*Report) {
	t.Helper()
	opt.Lenses = []*Lens{&contextLens, &growthLens, &calibrationLens}
	for i, data := range sessions {
		r := look(t, data, opt)
		r.File = fmt.Sprintf("%d.jsonl", i)
		each = append(each, r)
	}
	Calibrate(each, true)
	sum = &Report{}
	for _, r := range each {
		opt.Add(sum, r)
	}
	opt.Finish(sum)
	return sum, each
}

func near(a, b, by float64) bool { return math.Abs(a-b) <= by }

// TestCalibrate: factor and hidden are those that the recorded prompts were made with,
// whatever a fifth of the requests say, and one factor holds for sessions with
// different prompts.
func TestCalibrate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	made := func(hidden int) func(i, counted int) int {
		return func(i, counted int) int {
			if i%5 == 3 {
				return 100 + r.IntN(100*counted)
			}
			return int(math.Round(1.3*float64(counted))) + hidden
		}
	}
	sum, each := calibratedOf(t, Options{}, conversation(60, "", made(4000)), conversation(40, "", made(900)))
	c := sum.Calibration.Models[0]
	if c.Factor == nil || !near(*c.Factor, 1.3, 0.01) || c.Requests != 100 || c.Sessions != 2 || c.Error.Median > 0.005 || c.Error.P90 < 0.1 {
		t.Fatalf("%s", asJSON(c))
	}
	for i, want := range []float64{4000, 900} {
		got := each[i].Context.Sessions[0]
		if rest := float64(got.Tokens - got.Counted); !near(rest, want, 0.02*want) {
			t.Errorf("session %d: %.0f not in the file, want about %.0f", i, rest, want)
		}
		if got.Calibrated == nil || got.Calibrated.Model != "p/m" || got.Calibrated.Requests != 100 {
			t.Errorf("session %d: %s", i, asJSON(got.Calibrated))
		}
	}
}

// TestCalibrateExact: figures are scaled by the factor and add up; recorded ones
// stay.
func TestCalibrateExact(t *testing.T) {
	data := conversation(30, "", func(_, counted int) int { return 2*counted + 500 })
	plain := look(t, data, Options{Lenses: []*Lens{&contextLens, &growthLens}})
	sum, each := calibratedOf(t, Options{}, data)
	p, q := plain.Context, each[0].Context
	if q.Sessions[0].Tokens != p.Sessions[0].Tokens || q.Sessions[0].Counted != 2*p.Sessions[0].Counted {
		t.Errorf("%d tokens are %d, %d counted %d", p.Sessions[0].Tokens, q.Sessions[0].Tokens, p.Sessions[0].Counted, q.Sessions[0].Counted)
	}
	total := 0
	for i, c := range q.Categories {
		total += c.Tokens
		if c.Category == inRest {
			continue
		}
		if c.Tokens != 2*p.Categories[i].Tokens || c.Bytes != p.Categories[i].Bytes {
			t.Errorf("%s: %d are %d", c.Category, p.Categories[i].Tokens, c.Tokens)
		}
	}
	if total != q.Sessions[0].Tokens {
		t.Errorf("categories are %d, all %d", total, q.Sessions[0].Tokens)
	}
	if p.Largest[0].Tokens*2 != q.Largest[0].Tokens || p.Largest[0].Entry != q.Largest[0].Entry {
		t.Errorf("largest: %s, %s", asJSON(p.Largest[0]), asJSON(q.Largest[0]))
	}
	g, h := plain.Growth.Sessions[0], each[0].Growth.Sessions[0]
	for i := range h.Requests {
		if h.Requests[i].Tokens != 2*g.Requests[i].Tokens || h.Requests[i].Size != g.Requests[i].Size {
			t.Errorf("request %d: %s, %s", i, asJSON(g.Requests[i]), asJSON(h.Requests[i]))
		}
	}
	if want := g.Now.Size; h.Now.Size != want || h.Peak != g.Peak || h.Calibrated == nil {
		t.Errorf("now %s, want %d; peak %d, was %d", asJSON(h.Now), want, h.Peak, g.Peak)
	}
	if !sum.Context.Estimates {
		t.Error("what is calibrated is no estimate")
	}
	opt := Options{Lenses: []*Lens{&contextLens, &growthLens, &calibrationLens}}
	for _, s := range opt.Sheets(sum) {
		if s.Title == "the largest" || s.Lens == "calibration" {
			continue
		}
		if !strings.Contains(strings.Join(s.Notes, "\n"), "Calibrated for p/m: counted × 2.000, half of 30 requests within 0.0%") {
			t.Errorf("%s does not say that it is calibrated: %q", s.Lens, s.Notes)
		}
		for _, c := range s.Columns {
			if c.Name == "tokens" {
				t.Errorf("%s has tokens", s.Lens)
			}
		}
	}
}

// TestCalibrateKnownPrompt: nothing is hidden where the file has the prompt.
func TestCalibrateKnownPrompt(t *testing.T) {
	sum, _ := calibratedOf(t, Options{}, conversation(10, knownPrompt, func(_, counted int) int { return 3 * counted / 2 }))
	c := sum.Calibration.Models[0]
	if c.Factor == nil || !near(*c.Factor, 1.5, 0.01) || sum.Context.Sessions[0].Tokens-sum.Context.Sessions[0].Counted > 2 {
		t.Errorf("%s, %s", asJSON(c), asJSON(sum.Context.Sessions[0]))
	}
}

// TestCalibrateNothing: without enough to go by figures stay as they are, and it is
// said why.
func TestCalibrateNothing(t *testing.T) {
	grows := func(_, counted int) int { return 2*counted + 500 }
	public := func(data []byte) []byte {
		return []byte(strings.ReplaceAll(string(data), `"model":"m"`, `"model":"gpt-4o"`))
	}
	for _, test := range []struct {
		name, reason string
		data         []byte
	}{
		{"too few", "9 of 10 required", conversation(leastRequests-1, "", grows)},
		{"two in each", "0 of 10 required", conversation(2, "", grows)},
		{"shrinking", "do not grow", conversation(20, "", func(i, counted int) int { return 100_000 - 5*counted })},
		{"public", "--counter o200k", public(conversation(20, "", grows))},
	} {
		opt := Options{Lenses: []*Lens{&contextLens}}
		want := look(t, test.data, opt).Context
		sum, _ := calibratedOf(t, Options{}, test.data)
		c := sum.Calibration.Models[0]
		if c.Factor != nil || c.Error != nil || !strings.Contains(c.Reason, test.reason) {
			t.Errorf("%s: %s", test.name, asJSON(c))
		}
		got := sum.Context.Sessions[0]
		if got.Calibrated != nil || got.Tokens != want.Sessions[0].Tokens || got.Counted != want.Sessions[0].Counted {
			t.Errorf("%s: %s, want %s", test.name, asJSON(got), asJSON(want.Sessions[0]))
		}
	}
	none, _ := calibratedOf(t, Options{}, chain())
	if len(none.Calibration.Models) != 0 {
		t.Errorf("an empty session: %s", asJSON(none.Calibration))
	}
	if ten, _ := calibratedOf(t, Options{}, conversation(leastRequests, "", grows)); ten.Calibration.Models[0].Factor == nil {
		t.Errorf("of %d requests there is no factor", leastRequests)
	}
}

// TestCalibrateNeverBelowNothing: a constant below 0 is none, and the factor that of the
// whole prompts.
func TestCalibrateNeverBelowNothing(t *testing.T) {
	sum, _ := calibratedOf(t, Options{}, conversation(40, "", func(_, counted int) int { return max(20, 2*counted-counted/4-60) }))
	if c := sum.Calibration.Models[0]; c.Factor == nil || *c.Factor >= 1.75 {
		t.Errorf("%s", asJSON(c))
	}
}

// TestCalibrateCorpus: in real sessions half of the requests of each model come out
// within 5% of what was recorded, by an estimate and by a tokenizer.
func TestCalibrateCorpus(t *testing.T) {
	sessions := corpus.Shared(t)
	if len(sessions) == 0 {
		t.SkipNow()
	}
	cl100k := must.Get(tokens.Find("cl100k"))
	for _, counter := range []*tokens.Counter{&tokens.Pi, cl100k} {
		opt := Options{Lenses: []*Lens{&calibrationLens}, Counter: counter}
		var all []*Report
		for _, s := range sessions {
			name := filepath.Join(t.TempDir(), "s.jsonl")
			must.Do(os.WriteFile(name, s.Data, 0o600))
			if r, err := opt.Read(name); err == nil {
				all = append(all, r)
			}
		}
		Calibrate(all, false)
		sum, fitted := &Report{}, 0
		for _, r := range all {
			opt.Add(sum, r)
		}
		for _, c := range sum.Calibration.Models {
			if c.Factor == nil {
				continue
			}
			fitted++
			t.Logf("%s: %s/%s × %.3f, median %.4f, 90%% %.4f, %d requests of %d sessions", counter.Name, c.Provider, c.Model, *c.Factor, c.Error.Median, c.Error.P90, c.Requests, c.Sessions)
			if c.Error.Median > 0.05 {
				t.Errorf("%s/%s: half are off by more than %.3f", c.Provider, c.Model, c.Error.Median)
			}
		}
		if fitted < 3 {
			t.Errorf("%d models have a factor", fitted)
		}
	}
}
