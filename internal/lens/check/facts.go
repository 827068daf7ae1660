package check

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"

	"ctxtool/internal/base/sorting"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// A fact is a property of a line that checks need once all lines are read.
type fact struct {
	at uint64 // the offset of the line, then 20 bits with the size of a message, and 4 with the kind
	id uint64 // for a call or a result, a hash of the call's id; for an image, its size in base64, bytes
}

type factKind uint8

func (f fact) kind() factKind { return factKind(f.at & 0xf) }
func (f fact) off() int64     { return int64(f.at >> 24) }
func (f fact) size() int64    { return int64(f.at >> 4 & maxSize) }

// maxSize is the size of messages from which on it is not known, tokens.
const maxSize = 1<<20 - 1

func newFact(off int64, kind factKind, id uint64) fact {
	return fact{uint64(off)<<24 | uint64(kind), id}
}

const (
	aCall      factKind = iota // an answer calls a tool
	aResult                    // a tool result, with its size
	aFailure                   // an answer that failed or was aborted, with its size
	anImage                    // a large image
	aWildUsage                 // a usage with an impossible number
	// an answer that did not fail, with its size and the recorded size of its request, which is the id
	aPrompt
	aMessage // another message, with its size
)

// largeLine is the size from which a line is searched for images, bytes: no image in a
// shorter line reaches the limit of any provider.
const largeLine = 1 << 20

// facts are the facts of all lines of a session.
type facts struct {
	seed  maphash.Seed
	notes []*notes
	all   []fact // in the order of the file, once sorted
}

// notes holds the facts that one worker records.
type notes struct {
	facts  *facts
	chunks [][]fact
	weigh  weigh.Weigher
}

// factChunk is the number of facts that are allocated at a time.
const factChunk = 4096

// newNotes returns the notes of one more worker. It must be called before the workers start.
func (f *facts) newNotes() *notes {
	n := &notes{facts: f}
	f.notes = append(f.notes, n)
	return n
}

func (f *facts) hash(id jsonl.Value) uint64 {
	if len(id) < 2 || bytes.IndexByte(id, '\\') >= 0 {
		return maphash.String(f.seed, id.Text())
	}
	return maphash.Bytes(f.seed, id[1:len(id)-1])
}

// visitor returns the function with which one worker records facts.
func (f *facts) visitor() func(p *jsonl.Picked) {
	n := f.newNotes()
	var list []fact
	return func(p *jsonl.Picked) {
		off, line := p.Off, p.Line
		list = list[:0]
		switch p.Kind {
		case jsonl.User, jsonl.Assistant, jsonl.ToolResult:
			list = n.message(list, off, p.Said())
		case jsonl.UsageEntry, jsonl.Compaction, jsonl.BranchSummary:
			list = wildUsage(list, off, line.Get("usage").Usage())
		}
		if len(line) >= largeLine {
			list = images(list, off, line)
		}
		if len(list) > 0 {
			n.keep(list)
		}
	}
}

func (n *notes) keep(list []fact) {
	last := len(n.chunks) - 1
	if last < 0 || len(n.chunks[last])+len(list) > factChunk {
		n.chunks = append(n.chunks, make([]fact, 0, max(factChunk, len(list))))
		last++
	}
	n.chunks[last] = append(n.chunks[last], list...)
}

// message records the calls and the failure of an answer, or the call of a result.
func (n *notes) message(list []fact, off int64, m *jsonl.Message) []fact {
	for b := range m.Calls {
		if b.ID != nil {
			list = append(list, newFact(off, aCall, n.facts.hash(b.ID)))
		}
	}
	u, is := m.Usage.Usage(), newFact(off, aMessage, 0)
	switch {
	case m.Kind == jsonl.ToolResult:
		is = newFact(off, aResult, n.facts.hash(m.CallID))
	case m.Kind == jsonl.Assistant && m.Failed():
		is = newFact(off, aFailure, 0)
	case m.Kind == jsonl.Assistant && u.Prompt() > 0:
		is = newFact(off, aPrompt, uint64(u.Prompt()))
	}
	is.at |= uint64(min(maxSize, n.weigh.Reset(&tokens.Pi).Message(m).Total())) << 4
	return wildUsage(append(list, is), off, u)
}

// wildUsage records a usage with an impossible number.
func wildUsage(list []fact, off int64, u jsonl.Usage) []fact {
	if u.Implausible != "" {
		list = append(list, newFact(off, aWildUsage, 0))
	}
	return list
}

// images records the large images of a line.
func images(list []fact, off int64, line jsonl.Value) []fact {
	// the second is a custom_message's
	for _, content := range []jsonl.Value{line.First("message", "content"), line.First("content")} {
		for _, b := range content.Blocks(jsonl.Unknown) {
			if b.Kind == jsonl.ImageBlock {
				list = append(list, newFact(off, anImage, uint64(max(2, len(b.Data))-2)))
			}
		}
	}
	return list
}

// sort sorts the facts by their place in the file. It is stable, and the chunks of each
// worker are sorted already.
func (f *facts) sort() {
	var chunks [][]fact
	for _, n := range f.notes {
		chunks = append(chunks, n.chunks...)
		n.chunks = nil
	}
	sorting.By(chunks, func(a, b []fact) int { return cmp.Compare(a[0].off(), b[0].off()) })
	f.all = slices.Concat(chunks...)
	if !slices.IsSortedFunc(f.all, byOffset) { // workers took turns within a chunk
		sorting.By(f.all, byOffset)
	}
}

func byOffset(a, b fact) int { return cmp.Compare(a.off(), b.off()) }

// of returns the facts of the line that begins at off.
func (f *facts) of(off int64) []fact {
	from, _ := slices.BinarySearchFunc(f.all, off, func(a fact, off int64) int { return cmp.Compare(a.off(), off) })
	to := from
	for to < len(f.all) && f.all[to].off() == off {
		to++
	}
	return f.all[from:to]
}
