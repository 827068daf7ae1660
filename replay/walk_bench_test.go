package replay_test

import (
	"bytes"
	"testing"
	"time"

	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// BenchmarkHeld replays a path with a held entry before each answer.
func BenchmarkHeld(b *testing.B) {
	p := must.Get(gen.Find("everything"))
	shape := p.Shape
	shape.Entries, shape.Bytes = 0, 32<<20
	data := gen.Session(shape)
	s := must.Get(sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{}))
	defer s.Close()
	b.SetBytes(int64(len(data)))
	path, _ := s.Path(s.Leaf())
	for b.Loop() {
		with := s.Copy()
		w := replay.New(with, replay.Options{Leaf: s.Leaf()}).Start()
		for k, rec := range path {
			if k > 0 && s.Answers(rec) {
				held := with.NewBatch(path[k-1], time.Time{})
				held.Add(jsonl.Label)
				must.Do(with.Hold(held))
				if _, err := w.Next(with.Leaf()); err != nil {
					b.Fatal(err)
				}
			}
			if _, err := w.Next(rec); err != nil {
				b.Fatal(err)
			}
		}
	}
}
