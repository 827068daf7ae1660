package simulate

import (
	"bytes"
	"fmt"
	"testing"

	"ctxtool/compact"
	"ctxtool/internal/test/gen"
	"ctxtool/sessionfmt"
)

// BenchmarkSession simulates six policies over sessions of more and more requests.
func BenchmarkSession(b *testing.B) {
	for _, requests := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(requests), func(b *testing.B) {
			data := gen.Session(gen.Shape{Seed: 1, Entries: 5 * requests / 2, Tools: 0.8, Text: 400, MaxText: 8000})
			s, err := sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			o := Options{Contenders: []Contender{{Name: Recorded}, {Name: None}}, Summaries: Summaries{Ratio: 0.1}}
			for _, p := range compact.Policies[:4] {
				o.Contenders = append(o.Contenders, Contender{Name: p.Name, Policy: p})
			}
			b.SetBytes(int64(len(data)))
			n := 0
			for b.Loop() {
				report, err := o.Session(s)
				if err != nil {
					b.Fatal(err)
				}
				n = report.Runs[0].Requests
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/request")
		})
	}
}
