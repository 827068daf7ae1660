package transcript

import (
	"os"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// benchSession is the large session that make bench has made.
func benchSession(b *testing.B) *sessionfmt.Session {
	name := os.Getenv("CTXTOOL_BENCH_SESSION")
	if name == "" {
		b.Skip("left out: CTXTOOL_BENCH_SESSION names no session; make bench sets it")
	}
	s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
	b.Cleanup(func() { s.Close() })
	return s
}

// BenchmarkDecode reads every text on the path, and does nothing with it.
func BenchmarkDecode(b *testing.B) {
	s := benchSession(b)
	path, _ := s.Path(s.Leaf())
	b.SetBytes(s.Size())
	for b.Loop() {
		lines := s.NewReader()
		var text []byte
		for _, rec := range path {
			line := must.Get(lines.Line(rec))
			for v := range line.Strings {
				text = v.AppendText(text[:0])
			}
		}
	}
}

// BenchmarkBlocks takes the path apart.
func BenchmarkBlocks(b *testing.B) {
	s := benchSession(b)
	c := must.Get(NewConversation(replay.New(s, replay.Options{}), s.Leaf(), false))
	b.SetBytes(s.Size())
	for b.Loop() {
		for _, blocks := range c.Chapters() {
			for _, err := range blocks(nil, true) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}
