package stats

import (
	"bytes"
	"testing"

	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// BenchmarkContext looks at the context of a session; beside it the session is opened,
// replayed and counted, and nothing else.
func BenchmarkContext(b *testing.B) {
	p := must.Get(gen.Find("1g"))
	p.Shape.Bytes = 16 << 20
	data := gen.Session(p.Shape)
	bench := func(name string, run func(s *sessionfmt.Session) error) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				s := must.Get(sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{}))
				must.Do(run(s))
				s.Close()
			}
		})
	}
	bench("context", func(s *sessionfmt.Session) error {
		opt := Options{Counter: &tokens.Pi}
		l := &lensRun{Options: &opt, Report: &Report{}, Session: s, Replay: replay.New(s, replay.Options{})}
		contextLens.read(l)
		l.walk()
		return l.err
	})
	bench("count", func(s *sessionfmt.Session) error {
		e, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
		if err != nil {
			return err
		}
		_, err = e.Count(&tokens.Pi)
		return err
	})
}
