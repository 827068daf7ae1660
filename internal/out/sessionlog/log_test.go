package sessionlog

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// TestFigures: what a log counts is what stats counts: of the path where there are branches,
// else of the file.
func TestFigures(t *testing.T) {
	opt := stats.Options{}
	for _, lens := range stats.Lenses {
		if lens.Name == "session" || lens.Name == "context" {
			opt.Lenses = append(opt.Lenses, lens)
		}
	}
	opt.Targets = true
	for _, c := range corpus.Sample(t) {
		t.Run(c.Name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "s.jsonl")
			must.Do(os.WriteFile(name, c.Data, 0o600))
			s, err := sessionfmt.Open(name, sessionfmt.Options{})
			if err != nil {
				t.Skip(err)
			}
			defer s.Close()
			r := replay.New(s, replay.Options{Rules: replay.Rules(0).Decide(s, s.Leaf())})
			var b bytes.Buffer
			if _, err := Write(&b, r, s.Leaf()); err != nil {
				t.Fatal(err)
			}
			var log struct {
				Events []Event
				Stats  Stats
			}
			if err := json.Unmarshal(b.Bytes(), &log); err != nil {
				t.Fatalf("%s\n%s", err, b.Bytes())
			}
			opt := opt
			opt.Replay.Rules = r.Rules
			report := must.Get(opt.Read(name))
			if e, err := r.At(sessionfmt.After(s.Leaf())); err == nil {
				notes := must.Get(e.Prompt()).Notes()
				messages := report.Context.Like.SWE[0].Targets.Waste.Of
				if want := messages + weigh.TextTokens(&tokens.SWE, []byte(notes)); log.Stats.Tokens != want {
					t.Errorf("%d tokens, stats has %d", log.Stats.Tokens, want)
				}
			}
			n := map[string]int{}
			for _, e := range log.Events {
				n[e.Type]++
			}
			got := [...]int{n["user_input"], n["llm_call"], n["compaction"]}
			if own := [...]int{log.Stats.Turns, log.Stats.Calls, log.Stats.Compactions}; got != own {
				t.Errorf("events %v, stats block %v", got, own)
			}
			if p := report.Session; p.Branches == 1 && p.Transforms == 0 && len(report.Findings) == 0 {
				want := [...]int{p.Turns, p.Requests, p.Compactions, p.Calls.OK + p.Calls.Error}
				if got := [...]int{got[0], got[1], got[2], log.Stats.Tools}; got != want {
					t.Errorf("%v, stats has %v", got, want)
				}
			}
		})
	}
}
