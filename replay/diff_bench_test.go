package replay_test

import (
	"bytes"
	"testing"

	"ctxtool/internal/lens/diff"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// BenchmarkDiff compares what two neighbouring requests got; beside it the later one is
// replayed and counted.
func BenchmarkDiff(b *testing.B) {
	data := benchSession()
	s := must.Get(sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{}))
	defer s.Close()
	r := replay.New(s, replay.Options{Rules: replay.ByPi})
	var at [2]int
	for k, point := range []string{"request:-2", "request:-1"} {
		p := must.Get(s.Point(point, s.Leaf()))
		at[k] = s.LeafAt(p)
	}
	b.Run("diff", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			span := must.Get(diff.Between(r, at[0], at[1]))
			d, err := span.Diff(&tokens.Pi)
			if err != nil || d.Equal() {
				b.Fatal("the same", err)
			}
		}
	})
	b.Run("replay", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			e := must.Get(r.At(sessionfmt.After(at[1])))
			if _, err := e.Count(&tokens.Pi); err != nil {
				b.Fatal(err)
			}
		}
	})
}
