package migrate

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"ctxtool/internal/test/gen"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
)

// BenchmarkMigrate brings 32 MB of version 1 to version 3: open is what reading
// costs that gives the ids, plan and write what comes on top.
func BenchmarkMigrate(b *testing.B) {
	p := must.Get(gen.Find("1g"))
	p.Shape.Bytes, p.Shape.Version = 32<<20, 1
	data := gen.Session(p.Shape)
	name := filepath.Join(b.TempDir(), "s.jsonl")
	must.Do(os.WriteFile(name, data, 0o600))
	open := func(b *testing.B) *sessionfmt.Session {
		return must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
	}
	migrate := func(b *testing.B, s *sessionfmt.Session) {
		plan, err := New(s, Options{})
		if err == nil {
			err = sessionfmt.Rewrite(plan.Changes, io.Discard, io.Discard)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.Run("open", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			open(b).Close()
		}
	})
	b.Run("write", func(b *testing.B) {
		s := open(b)
		defer s.Close()
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			migrate(b, s)
		}
		b.ReportMetric(float64(s.Len()*b.N)/b.Elapsed().Seconds(), "entries/s")
	})
	b.Run("both", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			s := open(b)
			migrate(b, s)
			s.Close()
		}
	})
}

// BenchmarkCompactions turns 50 compactions among 100,000 entries into patches.
func BenchmarkCompactions(b *testing.B) {
	data := gen.Session(gen.Shape{Entries: 100_000, Version: 2, Text: 60, MaxText: 600, Tools: 0.5, CompactEvery: 2000, Branch: 0.02})
	s := must.Get(sessionfmt.OpenReader("s", bytes.NewReader(data), sessionfmt.Options{}))
	defer s.Close()
	turned := 0
	for b.Loop() {
		plan, err := New(s, Options{Compaction: Pair})
		if err == nil {
			err = sessionfmt.Rewrite(plan.Changes, io.Discard, io.Discard)
		}
		if err != nil {
			b.Fatal(err)
		}
		turned = plan.Turned
	}
	b.SetBytes(int64(len(data)))
	b.ReportMetric(float64(turned), "turned")
}
