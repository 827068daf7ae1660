package redact

import (
	"bytes"
	"os"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
)

// benchSessions are what the figures are measured on: $CTXTOOL_BENCH_SESSION, else
// the real sessions where they are there, else the project's own.
func benchSessions(b *testing.B) (data []byte) {
	if name := os.Getenv("CTXTOOL_BENCH_SESSION"); name != "" {
		return must.Get(os.ReadFile(name))
	}
	for _, s := range append(corpus.Shared(b), corpus.Own(b)...) {
		if len(s.Data) > 100_000 || len(data) == 0 {
			data = append(data, s.Data...)
		}
	}
	return data
}

// BenchmarkFilter is a session redacted.
func BenchmarkFilter(b *testing.B) {
	data := benchSessions(b)
	r := must.Get(New(Options{}))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := filtered(r, bytes.NewReader(data)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPlainExpressions is what the engine is there for: every expression over
// every string, where one of its keywords is in it.
func BenchmarkPlainExpressions(b *testing.B) {
	data := benchSessions(b)
	data = data[:min(len(data), 1<<20)]
	r := must.Get(New(Options{}))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		for line := range bytes.Lines(data) {
			folded := lowerASCII(string(line))
			for _, rule := range r.rules {
				if rule.hasKeyword(folded) {
					rule.whole().FindAllIndex(line, -1)
				}
			}
		}
	}
}
