package simulate

import (
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/lens/cache"
	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// TestRecordedIsCache: the recorded policy has the figures of the account of its cache, to the
// token and the cent, in sessions of pi and of all other agents.
func TestRecordedIsCache(t *testing.T) {
	n := 0
	all := corpus.Sample(t)
	for _, c := range corpus.Shared(t) {
		if len(c.Data) > 1<<20 && !corpus.Whole() {
			t.Logf("%s is left out; CTXTOOL_WHOLE=1 has it", c.Name)
		} else if !slices.ContainsFunc(all, func(s corpus.Session) bool { return s.Name == c.Name }) {
			all = append(all, c)
		}
	}
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) {
			recordedIsCache(t, opened(t, c.Name, c.Data))
			n++
		})
	}
	own := filepath.Join(corpus.Root(t), "testdata/dialects")
	for _, dir := range append(testenv.Shared(t, "corpus/codex", "corpus/claude-code", "vectors/codex"), own) {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.Contains(d.Name(), ".json") {
				return err
			}
			t.Run(filepath.Base(dir)+"/"+d.Name(), func(t *testing.T) {
				s, err := sessionfmt.Open(name, sessionfmt.Options{})
				if err != nil {
					t.Skip(err)
				}
				defer s.Close()
				recordedIsCache(t, s)
				n++
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n < 20 {
		t.Errorf("only %d sessions were compared", n)
	}
}

func recordedIsCache(t *testing.T, s *sessionfmt.Session) {
	t.Helper()
	o := Options{Contenders: contenders(t, Recorded, None), Rows: true}
	report, err := o.Session(s)
	var account *cache.Report
	l, accountErr := ledger.Read(replay.New(s, replay.Options{}), ledger.Options{Leaf: s.Leaf(), Counter: &tokens.Pi})
	if accountErr == nil {
		account, accountErr = cache.Account(l, cache.Options{Leaf: s.Leaf()})
	}
	switch {
	case accountErr == nil && account.Total.Requests == 0 && errors.Is(err, ErrNoRequests):
		t.Skip(err)
	case accountErr != nil || account.Stopped != nil:
		if err == nil {
			t.Errorf("no error, but cache has %v %v", accountErr, account.Stopped)
		}
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
	recordedIsReplayed(t, s, o)
	run, total := report.Runs[0], account.Total
	if run.Requests != total.Requests || run.Prompt != total.Prompt || run.Read != total.Expected.Read || run.Write != total.Expected.Write ||
		run.Rebilled.Tokens != total.Rebilled.Tokens || math.Abs(run.Rebilled.Cost-total.Rebilled.Cost) > 1e-9 || run.HitRate != total.HitRate.Possible {
		t.Errorf("%+v is not %+v", run, total)
	}
	var cost models.Dollars
	rows := slices.Collect(account.Rows)
	for k := range rows {
		got, want := run.Rows[k], rows[k]
		if got.Prompt != want.Prompt || got.Read != want.Expected.Read || got.Write != want.Expected.Write || got.Rebilled != want.Rebilled || got.Entry != want.Entry {
			t.Errorf("request %d: %+v is not %+v", k, got, want)
		}
		if c, _ := want.Cost(); total.Answered == 0 || want.Recorded != nil && want.Recorded.Prompt() > 0 {
			cost.Total += c.Total
		}
	}
	if math.Abs(run.Cost.Total-cost.Total) > 1e-9 {
		t.Errorf("costs %g, the rows of the cache %g", run.Cost.Total, cost.Total)
	}
	if len(acts(s, s.Leaf())) == 0 {
		none := report.Runs[1]
		if none.Prompt != run.Prompt || none.Read != run.Read || none.Cost != run.Cost {
			t.Errorf("without acts, none has %+v, not %+v", none, run)
		}
	}
}

// recordedIsReplayed checks that each request has the tokens of the context that a replay to it
// gives, patches of prompt and tools included.
func recordedIsReplayed(t *testing.T, s *sessionfmt.Session, o Options) {
	t.Helper()
	r := replay.New(s, replay.Options{})
	was := must.Get(o.read(r, s.Leaf()))
	path, found := s.Path(s.Leaf())
	if len(found) > 0 {
		return // on a circle, whose beginning each entry has elsewhere
	}
	k := 0
	for _, rec := range path {
		if !s.Answers(rec) || k == len(was.requests) || k > 40 {
			continue
		}
		n := must.Get(must.Get(r.At(sessionfmt.Before(rec))).Count(&tokens.Pi))
		got := was.requests[k].tokens
		if k++; got.Total-int64(got.Hidden) != int64(n.Total) || got.Tools != n.Tools {
			t.Errorf("request %d: %+v, the replay has %+v", k-1, got, n)
		}
	}
}
