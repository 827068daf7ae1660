package check

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"

	"ctxtool/sessionfmt"
)

// A fact is something in a line that a check may need once all lines are known.
type fact struct {
	off  int64  // where the line begins
	id   uint64 // of a call: a hash of it; of an image: its size in bytes
	kind factKind
}

type factKind uint8

const (
	aCall    factKind = iota // an answer calls a tool
	aResult                  // a tool result
	aFailure                 // an answer that failed or was aborted
	anImage                  // a large image
)

// largeLine is from how many bytes on a line is searched for images: below, none
// reaches any provider's limit.
const largeLine = 1 << 20

// facts are what has been seen in the lines of a session.
type facts struct {
	mu   sync.Mutex
	all  []fact
	seed maphash.Seed
	once sync.Once
}

func (f *facts) hash(id sessionfmt.Value) uint64 {
	f.once.Do(func() { f.seed = maphash.MakeSeed() })
	return maphash.String(f.seed, id.Text())
}

// visitor returns what one worker takes down facts with.
func (f *facts) visitor() func(off int64, kind sessionfmt.Kind, line sessionfmt.Value) {
	var c sessionfmt.Cursor
	var list []fact
	return func(off int64, kind sessionfmt.Kind, line sessionfmt.Value) {
		list = list[:0]
		switch kind {
		case sessionfmt.Assistant:
			list = f.answer(list, off, &c, line)
		case sessionfmt.ToolResult:
			list = append(list, fact{off, f.hash(line.First("message").First("toolCallId")), aResult})
		}
		if len(line) >= largeLine {
			list = images(list, off, line)
		}
		if len(list) > 0 {
			f.mu.Lock()
			f.all = append(f.all, list...)
			f.mu.Unlock()
		}
	}
}

// answer takes down an assistant message's calls, and that it failed.
func (f *facts) answer(list []fact, off int64, c *sessionfmt.Cursor, line sessionfmt.Value) []fact {
	for key := range c.Reset(line).Members {
		if string(key) == "message" {
			list = f.message(list, off, c)
		}
	}
	return list
}

// message takes down the message that comes next.
func (f *facts) message(list []fact, off int64, c *sessionfmt.Cursor) []fact {
	for key := range c.Members {
		switch string(key) {
		case "content":
			for range c.Elements {
				if id := callID(c); id != nil {
					list = append(list, fact{off, f.hash(id), aCall})
				}
			}
		case "stopReason":
			if v := c.Value(); v.Is("error") || v.Is("aborted") {
				list = append(list, fact{off, 0, aFailure})
			}
		}
	}
	return list
}

// callID reads the block that comes next, and returns the id of a tool call.
func callID(c *sessionfmt.Cursor) sessionfmt.Value {
	var typ, id sessionfmt.Value
	for key := range c.Members {
		switch string(key) {
		case "type":
			typ = c.Value()
		case "id":
			id = c.Value()
		}
	}
	if typ.Is("toolCall") {
		return id
	}
	return nil
}

// images takes down the images of a line: pieces of base64 that large.
func images(list []fact, off int64, line sessionfmt.Value) []fact {
	for el := range line.First("message").Get("content").Elements {
		if el.Get("type").Is("image") {
			list = append(list, fact{off, uint64(len(el.Get("data"))-2) / 4 * 3, anImage})
		}
	}
	for el := range line.Get("content").Elements { // of a custom_message
		if el.Get("type").Is("image") {
			list = append(list, fact{off, uint64(len(el.Get("data"))-2) / 4 * 3, anImage})
		}
	}
	return list
}

// sort puts the facts in the order of the file. Those of one line keep theirs.
func (f *facts) sort() {
	slices.SortStableFunc(f.all, func(a, b fact) int { return cmp.Compare(a.off, b.off) })
}

// of are the facts of the line that begins at off.
func (f *facts) of(off int64) []fact {
	from, _ := slices.BinarySearchFunc(f.all, off, func(a fact, off int64) int { return cmp.Compare(a.off, off) })
	to := from
	for to < len(f.all) && f.all[to].off == off {
		to++
	}
	return f.all[from:to]
}
