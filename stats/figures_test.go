package stats_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/corpus"
	"ctxtool/replay"
	"ctxtool/replay/cache"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// TestFigures: every figure is named after its lens, once.
func TestFigures(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range stats.FigureNames() {
		f, err := stats.FindFigure(name)
		if err != nil || f.About == "" || f.Unit == stats.Text || seen[name] {
			t.Errorf("%s: %v, %+v", name, err, f)
		}
		seen[name] = true
		lens, _, _ := strings.Cut(name, ".")
		if needs := (&stats.Gate{Budgets: []stats.Budget{{Figure: f}}}).Lenses(); len(needs) != 1 || needs[0].Name != lens {
			t.Errorf("%s is read off %v", name, needs)
		}
	}
	if n := strings.Count(stats.FigureHelp(), "\n"); n != len(seen) {
		t.Errorf("%d lines of help for %d figures", n, len(seen))
	}
}

// TestAgainstItself: what is saved of any sessions, in either form, is read back, and
// every figure is as it was. Each has a value in some session.
func TestAgainstItself(t *testing.T) {
	o := stats.Options{Lenses: stats.Lenses, Counter: &tokens.Pi, By: []string{"model", "day"}, Places: true}
	o.Check = func(string) (*stats.CheckPart, error) { return &stats.CheckPart{Errors: 1}, nil }
	var lines bytes.Buffer
	var reports []*stats.Report
	sum := &stats.Report{Schema: stats.Schema}
	for _, s := range corpus.All(t) {
		if len(s.Data) > 4<<20 {
			continue
		}
		name := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(name, s.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := o.Read(name)
		if err != nil {
			r = &stats.Report{Schema: stats.SessionSchema, Error: err.Error()}
		}
		r.File = s.Name
		o.Add(sum, r)
		o.Finish(r)
		reports = append(reports, r)
		lines.Write(encoded(t, r))
	}
	o.Finish(sum)
	object := encoded(t, sum)
	lines.Write(object)

	seen := map[string]int{}
	for form, data := range map[string][]byte{"json": object, "jsonl": lines.Bytes()} {
		saved, err := stats.LoadSaved(form, data)
		if err != nil {
			t.Fatal(err)
		}
		g := &stats.Gate{Saved: saved, WarnBroken: true}
		if err := g.Start(o.Lenses); err != nil {
			t.Fatal(err)
		}
		for _, r := range reports {
			g.Add(r)
		}
		told, err := g.Judge(sum)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range told.Verdicts {
			if v.Figure == stats.Unreadable {
				continue
			}
			if v.State != stats.LimitKept || *v.Saved != *v.Value {
				t.Errorf("%s: %s of %s %s: %s", form, v.Figure, v.File, v.Group, v.State)
			}
			if form == "jsonl" {
				seen[v.Figure]++
			}
		}
	}
	for _, name := range stats.FigureNames() {
		if seen[name] == 0 {
			t.Errorf("no session has a %s", name)
		}
	}
	t.Logf("%d sessions, %v", len(reports), seen)
}

func encoded(t *testing.T, r *stats.Report) []byte {
	t.Helper()
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return append(line, '\n')
}

// TestCacheLens: the part says what replay.Cache does, and several add up.
func TestCacheLens(t *testing.T) {
	o := stats.Options{Lenses: lensesNamed("cache"), Counter: &tokens.Pi}
	sum := &stats.Report{Schema: stats.Schema}
	var requests int
	var read, prompt int64
	var again float64
	for _, s := range corpus.Own(t) {
		name := filepath.Join(t.TempDir(), "s.jsonl")
		if err := os.WriteFile(name, s.Data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := o.Read(name)
		if err != nil {
			continue
		}
		o.Add(sum, r)
		session, err := sessionfmt.Open(name, sessionfmt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := cache.Account(replay.New(session, replay.Options{Leaf: session.Leaf()}), cache.Options{Leaf: session.Leaf(), Counter: &tokens.Pi})
		if err != nil {
			t.Fatal(err)
		}
		session.Close()
		requests += want.Total.Requests
		read += want.Total.Recorded.CacheRead
		prompt += want.Total.Recorded.Prompt()
		again += want.Total.Rebilled.Cost
		if rate := r.Cache.HitRate; rate != nil && *rate != *want.Total.HitRate.Achieved {
			t.Errorf("%s: hit rate %g, want %g", s.Name, *rate, *want.Total.HitRate.Achieved)
		}
	}
	p := sum.Cache
	if p.Requests != requests || p.Read != read || p.Prompt != prompt || math.Abs(p.Rebilled.Cost-again) > 1e-9 {
		t.Errorf("%+v; want %d requests, %d of %d tokens, %g dollars", p, requests, read, prompt, again)
	}
	if requests == 0 {
		t.Error("no session has a request")
	}
}
