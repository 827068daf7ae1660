package render_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"ctxtool/internal/gen"
	"ctxtool/internal/redact"
	"ctxtool/render"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// BenchmarkHTML measures a page of 100 MB, or of the session that
// CTXTOOL_BENCH_PAGE names.
func BenchmarkHTML(b *testing.B) {
	name := os.Getenv("CTXTOOL_BENCH_PAGE")
	if name == "" {
		name = filepath.Join(b.TempDir(), "100m.jsonl")
		preset, err := gen.Find("1g")
		if err != nil {
			b.Fatal(err)
		}
		preset.Shape.Bytes = 100_000_000
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
		h := render.HTML{Session: s, Options: replay.Options{Leaf: s.Leaf()}, Scan: func(_ int, text []byte) {
			scanner := scanners.Get().(*redact.Scanner)
			scanner.Find(text)
			scanners.Put(scanner)
		}}
		if err := h.Write(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPacked holds that packed data is text that HTML leaves alone.
func TestPacked(t *testing.T) {
	var all []byte
	for i := range 1 << 16 {
		all = append(all, byte(i*i>>3), byte(i>>8))
	}
	text := render.Spelled(all)
	if bytes.ContainsAny(text, "\x00\r<") {
		t.Error("a byte of it ends or changes the element that it stands in")
	}
	for _, c := range text {
		if c >= 0x80 {
			t.Fatalf("%q is no ASCII", c)
		}
	}
	if most := len(all) * 119 / 100; len(text) > most {
		t.Errorf("%d bytes became %d, more than %d", len(all), len(text), most)
	}
}
