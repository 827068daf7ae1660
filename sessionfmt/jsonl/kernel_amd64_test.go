//go:build !purego

package jsonl

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// withoutKernel runs f with scanning in portable Go.
func withoutKernel(f func()) {
	had := hasKernel
	hasKernel = false
	defer func() { hasKernel = had }()
	f()
}

// TestKernelAgainstWords compares both ways of reading strings on random ones
// that are dense in what matters: quotes, runs of backslashes, controls.
func TestKernelAgainstWords(t *testing.T) {
	if !hasKernel {
		t.Skip("left out: this machine has no AVX2")
	}
	r := rand.New(rand.NewPCG(3, 4))
	letters := []string{`\`, `\\`, `\"`, `\n`, `\/`, `\u00e9`, `\x`, `"`, "é", "日", "🙂", "\x01", "a", "abcdefgh", "0123456789012345678901234567890123456789"}
	for range 200_000 {
		var b bytes.Buffer
		b.WriteByte('"')
		rare := r.IntN(len(letters)) // leave one kind out, so that strings get long
		for n := r.IntN(60); n > 0; n-- {
			k := r.IntN(len(letters))
			if k == rare || (k == 0 || k == 6 || k == 7 || k == 11) && r.IntN(20) > 0 {
				k = 12
			}
			b.WriteString(letters[k])
		}
		b.WriteString(`"`)
		line := b.Bytes()
		end, extra, wide := scanString(line, 0)
		withoutKernel(func() {
			e, x, w := scanString(line, 0)
			if e != end || x != extra || w != wide {
				t.Fatalf("%q: kernel %d %d %v, words %d %d %v", line, end, extra, wide, e, x, w)
			}
		})
	}
}
