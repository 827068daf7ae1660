// Package gen makes sessions of a stated shape from a seed: for tests, for fuzzing
// to start from, and for benchmarks. The same shape gives the same bytes on every
// machine.
package gen

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"math/rand/v2"
)

// A Shape describes what a session is made of. A share is between 0 and 1. The zero
// value of everything but Entries and Bytes is fit for use.
type Shape struct {
	Seed    uint64
	Entries int    // stop after so many entries; 0 for no limit
	Bytes   int64  // stop once so many bytes are written; 0 for no limit
	Project string // folder in the header; that of a made-up user when empty
	Version int    // of the format, 1 to 3; 3 when 0

	Text    int     // median length of a text, in bytes; 240 when 0
	MaxText int     // the longest, in bytes; 64 KB when 0
	Spread  float64 // of the lengths' logarithms; 1.1 when 0
	Escapes int     // escapes in a KB of text; 20 when 0
	Longest int     // length of one text in the middle of the session, in bytes; 0 for none

	Tools       float64 // share of answers that call tools
	Branch      float64 // share of prompts that go back to an earlier one
	Systems     float64 // share of prompts after a system message; the first is with any
	Edits       float64 // share of answers after which an earlier message is edited
	Transforms  float64 // share of prompts followed by a patch
	Ephemerals  float64 // share of prompts followed by a logged request-only message
	Images      float64 // share of prompts with an image
	Bash        float64 // share of prompts after a shell command of the user
	Custom      float64 // share of prompts with an extension's message and entry
	Labels      float64 // share of answers that are labelled
	Settings    float64 // share of prompts after a change of model, level or name
	Checkpoints bool    // compactions carry a system message

	CompactEvery int     // entries from one compaction to the next; 0 for none
	Damage       float64 // share of lines that are damaged
}

// errEndless is the error for a shape without a limit.
var errEndless = errors.New("a shape needs a number of entries or of bytes")

// Write writes a session of that shape. It holds a few KB, whatever the size.
func Write(w io.Writer, s Shape) error {
	if s.Entries <= 0 && s.Bytes <= 0 {
		return errEndless
	}
	g := newGenerator(w, s)
	g.header()
	for !g.full() {
		g.turn()
	}
	g.end()
	return g.w.Flush()
}

// Session returns a session of that shape in memory.
func Session(s Shape) []byte {
	var b bytes.Buffer
	if err := Write(&b, s); err != nil {
		panic(err) // only a shape without an end fails
	}
	return b.Bytes()
}

// A generator writes one session.
type generator struct {
	Shape
	w    *bufio.Writer
	r    *rand.Rand
	pool *pool
	line []byte // the line in the making

	entries int
	bytes   int64
	ids     uint32 // ids given out
	clock   int64  // milliseconds since 1970
	at      place
	past    []place // earlier places to go back to
	long    bool    // the longest text is written
	since   int     // entries since the last compaction
	names   int     // numbers for sections, tools and labels
}

// A place is where the session can continue.
type place struct {
	leaf    uint32   // id of the entry, 0 for none
	sent    int      // messages that a request has at least
	prompts []uint32 // the latest prompts on the path, oldest first
	edits   []uint32 // the latest entries on the path that can be targets of an edit
	system  bool     // prompt and tools have been declared
}

// start is 2026-01-01T00:00:00Z in milliseconds.
const start = 1767225600000

func newGenerator(w io.Writer, s Shape) *generator {
	s.Version, s.Text, s.Escapes, s.Spread = cmp.Or(s.Version, 3), cmp.Or(s.Text, 240), cmp.Or(s.Escapes, 20), cmp.Or(s.Spread, 1.1)
	s.MaxText = max(cmp.Or(s.MaxText, 64<<10), s.Text)
	pool, r := newPool(s.Seed, s.Escapes)
	return &generator{Shape: s, w: bufio.NewWriterSize(w, 256<<10), r: r, pool: pool, clock: start}
}

// chance is true for that share of its calls.
func (g *generator) chance(share float64) bool { return share > 0 && g.r.Float64() < share }

// full reports whether the session is as long as asked for.
func (g *generator) full() bool {
	return g.Entries > 0 && g.entries >= g.Entries || g.Bytes > 0 && g.bytes >= g.Bytes
}

// turn writes a prompt, the answers to it, and what comes with them.
func (g *generator) turn() {
	if len(g.past) > 0 && g.chance(g.Branch) {
		g.goBack()
	}
	if g.CompactEvery > 0 && g.since >= g.CompactEvery && len(g.at.prompts) > 1 {
		g.compact()
	}
	g.before()
	g.prompt()
	if g.chance(g.Transforms) {
		g.transform()
	}
	if g.chance(g.Ephemerals) {
		g.ephemeral()
	}
	for rounds := 0; g.chance(g.Tools) && rounds < 12 && !g.full(); rounds++ {
		g.toolRound()
	}
	g.answer(0)
	if g.chance(g.Edits) {
		g.edit()
	}
	if g.chance(g.Labels) {
		g.label()
	}
	if len(g.past) == 64 {
		g.past = append(g.past[:0], g.past[1:]...)
	}
	g.past = append(g.past, g.at.copy())
}

// goBack continues at an earlier place, mostly a late one, now and then with a
// summary of what is left after.
func (g *generator) goBack() {
	from, back := g.at.leaf, min(4, len(g.past))
	if g.r.IntN(10) == 0 {
		back = len(g.past)
	}
	g.at = g.past[len(g.past)-1-g.r.IntN(back)].copy()
	if g.Version == 3 && g.chance(0.5) {
		g.branchSummary(from)
	}
}

func (p place) copy() place {
	p.prompts = append([]uint32(nil), p.prompts...)
	p.edits = append([]uint32(nil), p.edits...)
	return p
}

// remember keeps an id among the latest few.
func remember(ids []uint32, id uint32) []uint32 {
	if len(ids) == 8 {
		copy(ids, ids[1:])
		ids = ids[:7]
	}
	return append(ids, id)
}
