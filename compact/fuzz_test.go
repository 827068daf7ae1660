package compact

import (
	"bytes"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// FuzzPasses: whatever a session holds, no pass panics, the numbers add up, and a second
// run does nothing.
func FuzzPasses(f *testing.F) {
	for _, s := range corpus.Small(f) {
		f.Add(s.Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := sessionfmt.OpenReader("s.jsonl", bytes.NewReader(data), sessionfmt.Options{})
		if err != nil || s.Leaf() < 0 {
			return
		}
		defer s.Close()
		for _, rules := range []replay.Rules{replay.ByPi, replay.ByEnvelope} {
			e, err := replay.New(s, replay.Options{Rules: rules}).At(sessionfmt.After(s.Leaf()))
			if err != nil {
				continue
			}
			v := must.Get(NewView(e, &tokens.SWE))
			for k, run := range runs() {
				run.Counter = counters[k%len(counters)]
				r := apply(t, run.pass, v, run.Options)
				adds(t, run.name, v, r, run.Counter)
				contents(t, run.name, v, r)
				if again := apply(t, run.pass, r.View, run.Options); len(again.Changes) > 0 {
					t.Errorf("%s: a second run changes %+v", run.name, again.Changes[0])
				}
			}
		}
	})
}
