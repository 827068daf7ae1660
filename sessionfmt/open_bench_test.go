package sessionfmt

import (
	"os"
	"testing"

	"ctxtool/internal/test/must"
)

// BenchmarkOpen indexes the session named by CTXTOOL_BENCH_SESSION, which make
// bench makes.
func BenchmarkOpen(b *testing.B) {
	name := os.Getenv("CTXTOOL_BENCH_SESSION")
	if name == "" {
		b.Skip("CTXTOOL_BENCH_SESSION names no session: see make bench")
	}
	b.ReportAllocs()
	entries := 0
	for b.Loop() {
		s := must.Get(Open(name, Options{}))
		b.SetBytes(s.Size())
		entries += s.Coverage.Entries
		s.Close()
	}
	b.ReportMetric(float64(entries)/b.Elapsed().Seconds(), "entries/s")
}
