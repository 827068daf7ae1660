package html_test

import (
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"ctxtool/internal/lens/redact"
	"ctxtool/internal/out/html"
	"ctxtool/internal/test/gen"
	"ctxtool/sessionfmt"
)

// BenchmarkHTML measures a page of 100 MB, or of the session that
// CTXTOOL_BENCH_PAGE names.
func BenchmarkHTML(b *testing.B) {
	name := os.Getenv("CTXTOOL_BENCH_PAGE")
	if name == "" {
		name = filepath.Join(b.TempDir(), "100m.jsonl")
		preset, err := gen.Find("100m")
		if err != nil {
			b.Fatal(err)
		}
		if err := gen.WriteFile(name, preset.Shape); err != nil {
			b.Fatal(err)
		}
	}
	s, err := sessionfmt.Open(name, sessionfmt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	r, err := redact.New(redact.Options{})
	if err != nil {
		b.Fatal(err)
	}
	scanners := sync.Pool{New: func() any { return r.NewScanner() }}
	b.SetBytes(s.Size())
	for b.Loop() {
		h := html.Page{Session: s, Report: reportOf(s), Scan: func(_ int, text []byte) {
			scanner := scanners.Get().(*redact.Scanner)
			scanner.Find(text)
			scanners.Put(scanner)
		}}
		if err := h.Write(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
