package gen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
)

// Words of the texts: those of somebody working on a program, and some that are
// not ASCII.
var words = []string{
	"the", "a", "test", "fails", "when", "worker", "closes", "before", "queue", "drains", "so", "we", "wait",
	"for", "channel", "lock", "timeout", "returned", "error", "value", "index", "buffer", "read", "write", "offset",
	"line", "entry", "parser", "token", "stack", "goroutine", "leaks", "after", "cancel", "context", "request",
	"handler", "retries", "twice", "because", "cache", "misses", "under", "load", "and", "then", "recovers", "slowly",
	"func", "return", "if", "err", "!=", "nil", "{", "}", "for", "range", "append(out,", "v)", "len(b)", "i++",
}

var wideWords = []string{"naïve", "größer", "кэш", "漢字", "テスト", "שלום", "😀", "👩‍💻", "é", `\ud83d\ude80`, `\u00e9`, "→"}

// escapes are occasionally put between words, spelled as in JSON.
var escapes = []string{`\n`, `\n\t`, `\"`, `\\`, `\t`, `\n\n`}

// poolSize is the size of the text, made once, from which texts are cut, in bytes.
const poolSize = 512 << 10

// A pool is a long text, escaped for JSON, the places where it may be cut, and the generator of
// random numbers after it.
type pool struct {
	text  []byte
	cuts  []int
	after rand.PCG
}

// pools are the latest ones that were made, by seed and escapes: whoever makes several
// sessions of one seed waits for one pool.
var pools struct {
	sync.Mutex
	made map[[2]uint64]*pool
}

// mostPools is the number of pools kept, of about a megabyte each.
const mostPools = 16

// newPool returns the pool of a seed with that many escapes in a KB, and what continues
// with that seed. The pool is shared, and only read.
func newPool(seed uint64, perKB int) (*pool, *rand.Rand) {
	pools.Lock()
	defer pools.Unlock()
	key := [2]uint64{seed, uint64(perKB)}
	p := pools.made[key]
	if p == nil {
		if len(pools.made)%mostPools == 0 {
			pools.made = map[[2]uint64]*pool{}
		}
		p = &pool{after: *rand.NewPCG(seed, 0x5e5510)}
		p.fill(rand.New(&p.after), perKB)
		pools.made[key] = p
	}
	after := p.after
	return p, rand.New(&after)
}

func (p *pool) fill(r *rand.Rand, perKB int) {
	for len(p.text) < poolSize {
		p.cuts = append(p.cuts, len(p.text))
		word := words[r.IntN(len(words))]
		if r.IntN(60) == 0 {
			word = wideWords[r.IntN(len(wideWords))]
		}
		p.text = append(append(p.text, word...), ' ')
		if r.IntN(1024) < perKB*(len(word)+3) {
			p.text = append(p.text, escapes[r.IntN(len(escapes))]...)
		}
	}
}

// append appends about n bytes of text that starts anywhere.
func (p *pool) append(dst []byte, r *rand.Rand, n int) []byte {
	for n > 0 {
		from := p.cuts[r.IntN(len(p.cuts))]
		to := len(p.text)
		if from+n < to { // a cut near by: cuts lie about evenly
			k := min(len(p.cuts)-1, int(int64(from+n)*int64(len(p.cuts))/int64(len(p.text))))
			for k > 0 && p.cuts[k] > from+n {
				k--
			}
			to = max(p.cuts[k], from)
		}
		if to <= from {
			return dst
		}
		dst = append(dst, p.text[from:to]...)
		n -= to - from
	}
	return dst
}

// length returns the length of a text: log-normal around the median, in bytes.
func (g *generator) length() int {
	if !g.long && g.Longest > 0 && g.halfway() {
		g.long = true
		return g.Longest
	}
	return min(g.MaxText, int(float64(g.Text)*math.Exp(g.r.NormFloat64()*g.Spread)))
}

func (g *generator) halfway() bool {
	return g.Entries > 0 && g.entries >= g.Entries/2 || g.Bytes > 0 && g.bytes >= g.Bytes/2
}

// text returns a JSON string of about n bytes that occurs nowhere else.
func (g *generator) text(n int) string {
	text := fmt.Appendf(make([]byte, 0, n+n/8+16), `"%d: `, g.entries)
	return string(append(g.pool.append(text, g.r, n), '"'))
}

// put appends JSON to the line.
func (g *generator) put(format string, args ...any) { g.line = fmt.Appendf(g.line, format, args...) }
