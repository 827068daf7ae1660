package ledger_test

import (
	"bytes"
	"fmt"
	"testing"

	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// BenchmarkMeter counts the context after every entry of a session whose prompt and
// tools change again and again: twice the session should take twice the time.
func BenchmarkMeter(b *testing.B) {
	p := must.Get(gen.Find("everything"))
	for _, size := range []int64{8 << 20, 32 << 20} {
		b.Run(fmt.Sprintf("%dMB", size>>20), func(b *testing.B) {
			shape := p.Shape
			shape.Entries, shape.Bytes = 0, size
			data := gen.Session(shape)
			s := must.Get(sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{}))
			defer s.Close()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				r := replay.New(s, replay.Options{})
				meter := ledger.New(r, ledger.Options{Counter: &tokens.Pi, Sizes: true}).Meter()
				for step, err := range r.Walk(s.Leaf()) {
					if err != nil {
						b.Fatal(err)
					}
					_, _, err = meter.Count(step)
					must.Do(err)
				}
			}
		})
	}
}
