package jsonl

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
)

// jsonCases seed the tables and the fuzz targets of the scanner.
var jsonCases = []string{
	`{}`, `[]`, `""`, `0`, `-0`, `1.5e+10`, `-`, `01`, `1.`, `1e`, `.5`, `+1`, `true`, `tru`, `nulL`, `null`, `false`,
	`{"a":1}`, `{"a":1,}`, `{"a" 1}`, `{a:1}`, `{"a":}`, `{"a":1 "b":2}`, `[1,2`, `[1,,2]`, `[1 2]`, `[,]`, `{"a":[{"b":[]}]}`,
	`{"a":[}`, `{"a":{]}`, `[{}}`, `"\u00e9\n\t\"\\\/"`, `"\x"`, `"\u12g4"`, `"\u123`, `"abc`, `"a` + "\n" + `b"`, `"` + "\x01" + `"`,
	` { "a" : [ 1 , 2 ] } `, `{"a":1}{"b":2}`, `{} x`, ``, ` `, `"日本🙂"`, "\"\xff\"", `{"a":"12345678\n12345678\u0041"}`, "\r\n[]\r\n",
	`{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":"x"}}`,
	`{"type":"message","message":{"role":"user","role":"assistant"},"message":7}`,
	`{"t\u0079pe":"label","id":5,"parentId":""}`, `[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[{"a":[]}]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]`,
}

// sameVerdict compares the scanner, and the head reader on top of it, with the
// standard library.
func sameVerdict(t *testing.T, line []byte) {
	t.Helper()
	var s Scanner
	want := json.Valid(line)
	if got := s.Check(line) == nil; got != want {
		t.Fatalf("Check(%q) = %v, encoding/json says %v", line, got, want)
	}
	withoutKernel(func() {
		if got := s.Check(line) == nil; got != want {
			t.Fatalf("without kernel Check(%q) = %v, encoding/json says %v", line, got, want)
		}
	})
	if _, err := NewHeadReader(Pick{}).Read(line); (err == nil) != want {
		t.Fatalf("head of %q: %v, encoding/json says %v", line, err, want)
	}
}

func TestVerdictTable(t *testing.T) {
	for _, c := range jsonCases {
		sameVerdict(t, []byte(c))
	}
}

// corpusLines are the lines of every session at hand: our own, and the shared
// corpus where it is there.
func corpusLines(t testing.TB) (lines [][]byte) {
	var files []string
	for _, glob := range []string{"../../testdata/sessions/*.jsonl", "../../testdata/sessions/*/*.jsonl"} {
		files = append(files, must.Get(filepath.Glob(glob))...)
	}
	for _, f := range append(files, testenv.Shared(t, "corpus/*.jsonl", "vectors/*/*.jsonl")...) {
		data := must.Get(os.ReadFile(f))
		for start, i := 0, 0; i <= len(data); i++ {
			if i == len(data) || data[i] == '\n' {
				lines = append(lines, data[start:i])
				start = i + 1
			}
		}
	}
	if len(lines) == 0 {
		t.Fatal("no lines at hand")
	}
	return lines
}

// mutate damages a line in one of the ways that files get damaged.
func mutate(r *rand.Rand, line []byte) []byte {
	b := append([]byte(nil), line...)
	for range 1 + r.IntN(3) {
		if len(b) == 0 {
			return b
		}
		i := r.IntN(len(b))
		switch r.IntN(6) {
		case 0:
			b = b[:i]
		case 1:
			b[i] = byte(r.Uint32())
		case 2:
			b = append(b[:i], b[i+1:]...)
		case 3:
			b[i] = `"\{}[],:0e-.tu `[r.IntN(15)]
		case 4:
			j := r.IntN(len(b))
			b[i], b[j] = b[j], b[i]
		case 5:
			b = append(b[:i:i], append([]byte{`"\{}[],:n`[r.IntN(9)]}, b[i:]...)...)
		}
	}
	return b
}

func TestVerdictOnMutatedLines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lines := corpusLines(t)
	n, bad := 0, 0
	for range 40000 {
		line := lines[r.IntN(len(lines))]
		if len(line) > 4000 { // the head is where structure is dense
			line = line[:4000]
		}
		line = mutate(r, line)
		if !utf8.Valid(line) {
			continue
		}
		sameVerdict(t, line)
		n++
		if !json.Valid(line) {
			bad++
		}
	}
	t.Logf("%d mutated lines, %d of them invalid: no difference from encoding/json", n, bad)
}

func FuzzVerdict(f *testing.F) {
	for _, c := range jsonCases {
		f.Add([]byte(c))
	}
	f.Fuzz(func(t *testing.T, line []byte) { sameVerdict(t, line) })
}

func BenchmarkHead(b *testing.B) {
	lines := corpusLines(b)
	n := 0
	for _, l := range lines {
		n += len(l)
	}
	b.Run("ctxtool", func(b *testing.B) {
		r := NewHeadReader(Pick{})
		b.SetBytes(int64(n))
		b.ReportAllocs()
		for b.Loop() {
			for _, l := range lines {
				r.Read(l)
			}
		}
		b.ReportMetric(float64(len(lines)*b.N)/b.Elapsed().Seconds(), "entries/s")
	})
	b.Run("encoding-json-Valid", func(b *testing.B) {
		b.SetBytes(int64(n))
		for b.Loop() {
			for _, l := range lines {
				json.Valid(l)
			}
		}
		b.ReportMetric(float64(len(lines)*b.N)/b.Elapsed().Seconds(), "entries/s")
	})
}
