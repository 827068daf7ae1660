package stats_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"ctxtool/internal/lens/cache"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// TestCacheLens: the part says what replay.Cache does, and several add up.
func TestCacheLens(t *testing.T) {
	o := stats.Options{Lenses: lenses(t, "cache"), Counter: &tokens.Pi}
	sum := &stats.Report{Schema: stats.Schema}
	var requests int
	var read, prompt int64
	var again float64
	for _, s := range corpus.Own(t) {
		name := filepath.Join(t.TempDir(), "s.jsonl")
		must.Do(os.WriteFile(name, s.Data, 0o600))
		r, err := o.Read(name)
		if err != nil {
			continue
		}
		o.Add(sum, r)
		session := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		want := must.Get(cache.Account(must.Get(ledger.Read(replay.New(session, replay.Options{}), ledger.Options{Leaf: session.Leaf(), Counter: &tokens.Pi})), cache.Options{Leaf: session.Leaf()}))
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
