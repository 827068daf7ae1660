package compact

import (
	"bytes"
	"testing"

	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// BenchmarkPlan opens a session of 100 MB, replays it and plans each policy; beside it the
// same context is counted: planning is to take no more than twice that.
func BenchmarkPlan(b *testing.B) {
	p := must.Get(gen.Find("1g"))
	p.Shape.Bytes = 100 << 20
	data := gen.Session(p.Shape)
	// context opens the session and replays it, as every command does first.
	context := func(b *testing.B) (*replay.Envelope, func() error) {
		s := must.Get(sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{}))
		e := must.Get(replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf())))
		return e, s.Close
	}
	bench := func(name string, do func(e *replay.Envelope) error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				e, done := context(b)
				must.Do(do(e))
				done()
			}
		})
	}
	bench("open", func(*replay.Envelope) error { return nil })
	bench("count", func(e *replay.Envelope) error {
		_, err := e.Count(&tokens.GSH)
		return err
	})
	bench("view", func(e *replay.Envelope) error {
		_, err := NewView(e, nil)
		return err
	})
	bench("extract", func(e *replay.Envelope) error {
		v, err := NewView(e, nil)
		if err == nil {
			_, err = wholeOf(v, StyleGSH, historyPart).extract(extractTokens)
		}
		return err
	})
	for _, p := range Policies {
		bench(p.Name, func(e *replay.Envelope) error {
			v, err := NewView(e, nil)
			if err == nil {
				_, err = p.Plan(v, fallback)
			}
			return err
		})
	}
}
