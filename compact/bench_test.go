package compact

import (
	"bytes"
	"testing"

	"ctxtool/internal/gen"
	"ctxtool/internal/tokens"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// BenchmarkPlan plans each policy for a session of 100 MB, and counts the same context
// beside it: planning is to take no more than twice that.
func BenchmarkPlan(b *testing.B) {
	p, err := gen.Find("1g")
	if err != nil {
		b.Fatal(err)
	}
	p.Shape.Bytes = 100 << 20
	data := gen.Session(p.Shape)
	s, err := sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	e, err := replay.New(s, replay.Options{Leaf: s.Leaf()}).At(s.Leaf(), false)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("count", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := e.Count(&tokens.Pi); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("view", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := NewView(e, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, p := range Policies() {
		b.Run(p.Name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				v, err := NewView(e, nil)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := p.Plan(v, Fallback); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
