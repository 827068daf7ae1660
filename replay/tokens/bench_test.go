package tokens

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
)

// sessionTexts are the strings of the real sessions where they are there, else of
// the project's own, and of generated ones.
func sessionTexts(b *testing.B) (texts [][]byte, size int) {
	sessions := corpus.Shared(b)
	if len(sessions) == 0 {
		sessions = append(corpus.Own(b), corpus.Generated(b)...)
	}
	for _, s := range sessions {
		for line := range bytes.Lines(s.Data) {
			var v any
			if json.Unmarshal(line, &v) != nil {
				continue
			}
			eachString(v, func(text string) bool {
				texts = append(texts, []byte(text))
				size += len(text)
				return true
			})
		}
	}
	return texts, size
}

// BenchmarkSession counts the texts of sessions, one after the other.
func BenchmarkSession(b *testing.B) {
	texts, size := sessionTexts(b)
	for _, v := range vocabularies {
		b.Run(v.name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, text := range texts {
					v.v.Count(text)
				}
			}
		})
	}
}

// BenchmarkScripts counts made texts of all scripts, with random characters.
func BenchmarkScripts(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	var text []byte
	for len(text) < 4<<20 {
		text = append(text, madeText(r, 400)...)
	}
	for _, v := range vocabularies {
		b.Run(v.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				v.v.Count(text)
			}
		})
	}
}

// BenchmarkOdd counts a megabyte of what expressions do not cut, and a tenth of it:
// the rate should be the same.
func BenchmarkOdd(b *testing.B) {
	const n = 1 << 20
	r := rand.New(rand.NewPCG(2, 2))
	raw := make([]byte, n)
	for i := range raw {
		raw[i] = byte(r.Uint32())
	}
	kinds := []struct{ name, text string }{
		{"letter", strings.Repeat("a", n)},
		{"base64", base64.StdEncoding.EncodeToString(raw)[:n]},
		{"letters", strings.Map(func(r rune) rune { return 'a' + r%26 }, base64.StdEncoding.EncodeToString(raw)[:n])},
		{"spaces", strings.Repeat(" ", n)},
		{"emoji", strings.Repeat("😀", n/4)},
	}
	for _, v := range vocabularies {
		for _, k := range kinds {
			for _, size := range []int{n / 10, n} {
				b.Run(v.name+"/"+k.name+map[bool]string{true: "/1MB", false: "/100KB"}[size == n], func(b *testing.B) {
					text := []byte(strings.ToValidUTF8(k.text[:size], ""))
					b.SetBytes(int64(size))
					for b.Loop() {
						v.v.Count(text)
					}
				})
			}
		}
	}
}

// BenchmarkFirst is what the first text of a process costs.
func BenchmarkFirst(b *testing.B) {
	for _, v := range vocabularies {
		b.Run(v.name, func(b *testing.B) {
			for b.Loop() {
				data := cl100kData
				if v.v == &O200K {
					data = o200kData
				}
				fresh := &Vocabulary{next: v.v.next, table: func() *table { return unpack(data) }}
				fresh.Count([]byte("a first text, of words and what is none: sihfkx"))
			}
		})
	}
}
