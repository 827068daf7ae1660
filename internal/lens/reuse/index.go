package reuse

import (
	"cmp"
	"maps"
	"slices"
	"sync/atomic"

	"ctxtool/internal/base/parallel"
	"ctxtool/replay"
	"ctxtool/sessionfmt/jsonl"
)

// An Index lists the terms that answers use, and the messages that have them. Messages are named by
// their index in an envelope. It is safe for concurrent use.
type Index struct {
	r        *replay.Replay
	messages []replay.Piece
	terms    map[uint64]int32
	kinds    []uint8   // of the terms, as indexes in order
	uses     [][]int32 // of each message, the terms that it uses if it is an answer, in order
	// the messages that have a term that is not common, in order: those of term t from first[t] to first[t+1]
	has   []int32
	first []int32
	acts  []bool // of each message, whether it is an answer with a call that may change something
}

// NewIndex reads the messages of an envelope on all CPUs: first the answers, for what they use,
// then the others, for who has it.
func NewIndex(e *replay.Envelope) (*Index, error) {
	messages := make([]replay.Piece, e.Len())
	for i := range messages {
		messages[i] = e.Piece(i)
	}
	return newIndex(e.Replay(), messages)
}

// newIndex reads messages in the order in which a context got them.
func newIndex(r *replay.Replay, messages []replay.Piece) (*Index, error) {
	n := len(messages)
	x := &Index{r: r, messages: messages, terms: map[uint64]int32{}, uses: make([][]int32, n), acts: make([]bool, n)}
	answers := make([]answer, n)
	made := make([]map[string]uint64, x.parts()) // the calls of a range of messages, by id
	for k := range made {
		made[k] = map[string]uint64{}
	}
	if err := x.read(true, func(s *scanner, part, i int, m *jsonl.Message) {
		if m == nil {
			return
		}
		s.answer = answer{s.answer.uses[:0], s.answer.has[:0], s.answer.says[:0]}
		x.acts[i] = s.read(m, made[part])
		answers[i] = answer{distinct(s.answer.uses), distinct(s.answer.has), distinct(s.answer.says)}
	}); err != nil {
		return nil, err
	}
	for i := range answers {
		all := answers[i].uses
		x.uses[i] = make([]int32, len(all))
		for n, term := range all {
			t, ok := x.terms[term]
			if !ok {
				t = int32(len(x.kinds))
				x.terms[term], x.kinds = t, append(x.kinds, uint8(rank(term)))
			}
			x.uses[i][n] = t
		}
		slices.Sort(x.uses[i])
		answers[i].uses = nil
	}
	calls := map[string]uint64{}
	for _, part := range made {
		maps.Copy(calls, part)
	}
	return x, x.find(calls, answers)
}

// batch is how many messages a worker reads at a time.
const batch = 256

func (x *Index) parts() int { return (len(x.messages) + batch - 1) / batch }

// read reads answers, or all others, as a provider gets them, on all CPUs. Messages that are not read are nil.
func (x *Index) read(answers bool, see func(s *scanner, part, index int, m *jsonl.Message)) error {
	return parallel.Each(x.parts(), func() func(int) error {
		load, s := x.r.NewReader(), &scanner{}
		return func(part int) error {
			for i := part * batch; i < min(len(x.messages), (part+1)*batch); i++ {
				p := x.messages[i]
				if !p.Sent() {
					continue
				}
				var m *jsonl.Message
				if answers == (p.Kind() == jsonl.Assistant) {
					var err error
					if m, _, err = load.Message(p); err != nil {
						return err
					}
				}
				see(s, part, i, m)
			}
			return nil
		}
	})
}

// distinct sorts a list, and returns a copy without repetitions.
func distinct[T cmp.Ordered](all []T) []T {
	slices.Sort(all)
	return slices.Clone(slices.Compact(all))
}

// common is the number of messages from which on a line or an identifier means nothing: it is a
// word of the project, and an agent does not know it from a message.
const common = 8

// An occurrence is a term in a message, both by number; ^term for a line that an answer says.
type occurrence struct{ term, message int32 }

// find finds the messages that have the terms that answers use. Those of common terms are not kept.
func (x *Index) find(calls map[string]uint64, answers []answer) error {
	parts, counts := make([][]occurrence, x.parts()), make([]atomic.Int32, len(x.kinds))
	err := x.read(false, func(s *scanner, part, index int, m *jsonl.Message) {
		s.found = s.found[:0]
		for _, term := range answers[index].says {
			s.take(x, term)
		}
		for i, t := range s.found {
			s.found[i] = ^t
		}
		for _, term := range answers[index].has {
			s.take(x, term)
		}
		answers[index] = answer{}
		if m != nil {
			texts(m, &s.buf, func(term uint64, kind Kind, name []byte) { s.take(x, indexed(term, kind, name)) })
			if term, ok := calls[m.CallID.Text()]; ok && m.Kind == jsonl.ToolResult {
				s.take(x, term)
			}
		}
		slices.Sort(s.found)
		for _, t := range slices.Compact(s.found) {
			if n := counts[max(t, ^t)].Add(1); n <= common || x.frequent(t) {
				parts[part] = append(parts[part], occurrence{t, int32(index)})
			}
		}
	})
	if err != nil {
		return err
	}
	x.first = make([]int32, len(x.kinds)+1)
	// kept calls keep with the occurrences of terms that are not common, in order, and from the
	// first one on that is more than a phrase.
	kept := func(keep func(t, message int32)) {
		known := make([]bool, len(x.kinds))
		for _, part := range parts {
			for _, o := range part {
				t := max(o.term, ^o.term)
				if known[t] = known[t] || o.term == t; known[t] && (counts[t].Load() <= common || x.frequent(t)) {
					keep(t, o.message)
				}
			}
		}
	}
	kept(func(t, _ int32) { x.first[t+1]++ })
	for t := range x.kinds {
		x.first[t+1] += x.first[t]
	}
	x.has = make([]int32, x.first[len(x.kinds)])
	next := slices.Clone(x.first)
	kept(func(t, message int32) {
		x.has[next[t]] = message
		next[t]++
	})
	return nil
}

// LastUses returns, for each message, the last answer after it that uses what it has, 0 for none. Terms
// that are common tell nothing.
func (x *Index) LastUses() []int {
	last := make([]int, len(x.kinds)) // by term
	for answer, terms := range x.uses {
		for _, t := range terms {
			last[t] = answer
		}
	}
	used := make([]int, len(x.uses))
	for t, answer := range last {
		for _, message := range x.has[x.first[t]:x.first[t+1]] {
			if int(message) < answer {
				used[message] = max(used[message], answer)
			}
		}
	}
	return used
}

// frequent reports whether a term means something in any number of messages: a call or a path.
func (x *Index) frequent(t int32) bool {
	kind := order[x.kinds[max(t, ^t)]]
	return kind == Call || kind == Path
}

// A scanner finds the terms of messages. Its zero value is ready to use.
type scanner struct {
	buf    []byte
	answer answer
	found  []int32 // terms of a message, by number
}

// take adds a term that a message has, if an answer uses it and knows it from such messages only.
func (s *scanner) take(x *Index, term uint64) {
	if t, ok := x.terms[term]; ok && !everywhere[term] {
		s.found = append(s.found, t)
	}
}

// Names returns what the answers of regrets used: the longest path, line or word, or the call in a
// few words.
func (x *Index) Names(all []Regret) ([]string, error) {
	load := x.r.NewReader()
	var buf []byte
	names := make([]string, len(all))
	places := make([]int, len(all)) // by answer
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(all[a].Answer, all[b].Answer) })
	for len(places) > 0 {
		n := 1
		for n < len(places) && all[places[n]].Answer == all[places[0]].Answer {
			n++
		}
		of := places[:n]
		m, _, err := load.Message(x.messages[all[of[0]].Answer])
		if err != nil {
			return nil, err
		}
		terms(m, &buf, func(term uint64, kind Kind, name []byte) {
			if kind == Path && !isFile(name, true) {
				return
			}
			t, ok := x.terms[indexed(term, kind, name)]
			for _, i := range of {
				if ok && len(name) > len(names[i]) && slices.Contains(all[i].terms, t) {
					names[i] = string(name)
				}
			}
		})
		places = places[n:]
	}
	return names, nil
}
