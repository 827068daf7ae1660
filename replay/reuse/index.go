package reuse

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"ctxtool/internal/parallel"
	"ctxtool/internal/survival"
	"ctxtool/replay"
	"ctxtool/sessionfmt/jsonl"
)

// An Index lists the terms that answers use, and the messages of an envelope that have them.
// Messages are named by their index in the envelope. It is safe for concurrent use.
type Index struct {
	e     *replay.Envelope
	terms map[uint64]int32
	kinds []uint8           // of the terms, as indexes in order
	uses  map[int32][]int32 // the terms of an answer
	has   []int32           // the messages that have a term, in order: those of term t from first[t] to first[t+1]
	first []int32
}

// An occurrence is a term in a message, both by number.
type occurrence struct{ term, message int32 }

// NewIndex reads the messages of an envelope twice, on all CPUs: first what answers use, then
// who has it.
func NewIndex(e *replay.Envelope) (*Index, error) {
	x := &Index{e: e, terms: map[uint64]int32{}, uses: map[int32][]int32{}}
	type found struct {
		terms map[uint64]uint8
		calls map[string]uint64 // the terms of calls, by id
	}
	parts := make([]found, e.Chunks())
	if err := parallel.Each(len(parts), func() func(int) error {
		load := e.Replay().NewReader()
		return func(k int) error {
			parts[k] = found{map[uint64]uint8{}, map[string]uint64{}}
			for i := e.Len() * k / len(parts); i < e.Len()*(k+1)/len(parts); i++ {
				p := e.Piece(i)
				if p.Kind() != jsonl.Assistant || !p.Sent() {
					continue
				}
				m, _, err := load.Message(p)
				if err != nil {
					return err
				}
				used(m, func(term uint64, kind Kind, _ []byte) { parts[k].terms[term] = uint8(slices.Index(order, kind)) }, parts[k].calls)
			}
			return nil
		}
	}); err != nil {
		return nil, err
	}
	calls := map[string]uint64{}
	for i := range parts {
		for term, kind := range parts[i].terms {
			if _, ok := x.terms[term]; !ok {
				x.terms[term] = int32(len(x.kinds))
				x.kinds = append(x.kinds, kind)
			}
		}
		for id, term := range parts[i].calls {
			calls[id] = term
		}
		parts[i] = found{}
	}
	return x, x.find(calls)
}

// find finds the messages that have the terms.
func (x *Index) find(calls map[string]uint64) error {
	parts := make([][]occurrence, x.e.Chunks())
	uses := make([]map[int32][]int32, x.e.Chunks())
	err := x.e.Scan(func(chunk, index int, _ *replay.Piece, m *jsonl.Message, _ int) {
		if m == nil {
			return
		}
		var all []int32
		take := func(term uint64, kind Kind, _ []byte) {
			if t, ok := x.terms[term]; ok {
				all = append(all, t)
			}
		}
		if m.Kind == jsonl.Assistant {
			used(m, take, nil)
		} else {
			scanTexts(m, take)
			if term, ok := calls[m.CallID.Text()]; ok && m.Kind == jsonl.ToolResult {
				take(term, Call, nil)
			}
		}
		slices.Sort(all)
		all = slices.Compact(all)
		if m.Kind == jsonl.Assistant {
			if uses[chunk] == nil {
				uses[chunk] = map[int32][]int32{}
			}
			uses[chunk][int32(index)] = slices.Clone(all)
		}
		for _, t := range all {
			if m.Kind == jsonl.Assistant && order[x.kinds[t]] == Call {
				continue // only a result has what a call gave
			}
			parts[chunk] = append(parts[chunk], occurrence{t, int32(index)})
		}
	})
	if err != nil {
		return err
	}
	x.first = make([]int32, len(x.kinds)+1)
	n := 0
	for k, part := range parts {
		for _, o := range part {
			x.first[o.term+1]++
		}
		n += len(part)
		for index, all := range uses[k] {
			x.uses[index] = all
		}
	}
	for t := range x.kinds {
		x.first[t+1] += x.first[t]
	}
	x.has = make([]int32, n)
	next := slices.Clone(x.first)
	for _, part := range parts {
		for _, o := range part {
			x.has[next[o.term]] = o.message
			next[o.term]++
		}
	}
	return nil
}

// used calls tell with the terms of an answer, and records those of its calls by id. Commands
// that only look are no calls, and what an agent types into a shell is no line that it quotes.
func used(m *jsonl.Message, tell func(term uint64, kind Kind, name []byte), calls map[string]uint64) {
	scanTexts(m, tell)
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if b.Kind != jsonl.CallBlock {
			continue
		}
		looks, command := false, b.Args.Get("command")
		for text := range b.Args.Strings {
			said := text.AppendText(nil)
			looks = looks || survival.OnlyLooks(string(said))
			scan(said, func(term uint64, kind Kind, name []byte) {
				if kind != Line || !bytes.Equal(text, command) {
					tell(term, kind, name)
				}
			})
		}
		if term := callTerm(b); !looks {
			tell(term, Call, nil)
			if calls != nil {
				calls[b.ID.Text()] = term
			}
		}
	}
}

// callTerm returns the term of a call.
func callTerm(b *jsonl.Block) uint64 {
	return hash(Call, append(append(bytes.Clone(b.Name), 0), b.Args.AppendMinified(nil)...))
}

// scanTexts calls tell with the terms of a message's texts.
func scanTexts(m *jsonl.Message, tell func(term uint64, kind Kind, name []byte)) {
	var buf []byte
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Kind == jsonl.TextBlock || b.Kind == jsonl.ThinkingBlock {
			scan(b.Text.Bytes(&buf), tell)
		}
	}
}

// Never is the number of a request that does not come.
const Never = math.MaxInt32

// A Standing is a text that requests have in place of messages, from one request up to another
// that no longer has it.
type Standing struct {
	From, To int32
	Text     string
}

// A Regret is what an answer used of a message that had left the context, as had all others
// with the same terms.
type Regret struct {
	Kind    Kind // of the terms that are least likely to be chance
	Message int  // the message that had left; the last one with those terms
	Answer  int  // the message that is the answer
	Request int  // that it answers

	terms []int32 // of that kind
}

// common is the number of messages from which on a line or an identifier means nothing: it is a
// word of the project, and an agent does not know it from a message.
const common = 8

// order are the kinds, the least likely to be chance first.
var order = []Kind{Call, Path, Line, Identifier}

// Regrets returns what answers used of messages that had left the context before, in order.
// Gone are the requests from which on each message is not in the context, and answers the
// messages that answer the requests, in order. Texts are those that stand in place of messages;
// a message that is cut but stays the result of its call has its request in results.
func (x *Index) Regrets(answers []int, gone []int32, results map[int]bool, texts []Standing) (all []Regret) {
	standing := map[int32][]Standing{}
	for _, s := range texts {
		seen := map[int32]bool{}
		scan([]byte(s.Text), func(term uint64, _ Kind, _ []byte) {
			if t, ok := x.terms[term]; ok && !seen[t] {
				seen[t] = true
				standing[t] = append(standing[t], Standing{From: s.From, To: s.To})
			}
		})
	}
	for k, answer := range answers {
		from := len(all)
		for _, t := range x.uses[int32(answer)] {
			if kind := order[x.kinds[t]]; (kind == Line || kind == Identifier) && x.first[t+1]-x.first[t] > common {
				continue
			}
			last := -1
			for i := x.before(t, int32(answer)); i >= x.first[t]; i-- {
				m := x.has[i]
				if gone[m] > int32(k) || order[x.kinds[t]] == Call && results[int(m)] {
					last = -1
					break
				}
				last = max(last, int(m))
			}
			stands := func(s Standing) bool { return s.From <= int32(k) && int32(k) < s.To }
			if last >= 0 && !slices.ContainsFunc(standing[t], stands) {
				one := Regret{Kind: order[x.kinds[t]], Message: last, Answer: answer, Request: k, terms: []int32{t}}
				all = append(all[:from], with(all[from:], one)...)
			}
		}
		slices.SortFunc(all[from:], func(a, b Regret) int { return a.Message - b.Message })
	}
	return all
}

// with adds a regret to those of an answer. There is one for each message.
func with(all []Regret, one Regret) []Regret {
	i := slices.IndexFunc(all, func(r Regret) bool { return r.Message == one.Message })
	if i < 0 {
		return append(all, one)
	}
	switch c := slices.Index(order, one.Kind) - slices.Index(order, all[i].Kind); {
	case c < 0:
		all[i] = one
	case c == 0:
		all[i].terms = append(all[i].terms, one.terms...)
	}
	return all
}

// before returns the index in has of the last message with a term before a message.
func (x *Index) before(t, message int32) int32 {
	all := x.has[x.first[t]:x.first[t+1]]
	i, _ := slices.BinarySearch(all, message)
	return x.first[t] + int32(i) - 1
}

// Names returns what the answers of regrets used: the path, the line or the word that comes
// first, or the call in a few words.
func (x *Index) Names(all []Regret) ([]string, error) {
	u := New(x.e.Replay())
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
		err := u.terms(x.e.Piece(all[of[0]].Answer), func(term uint64, _ Kind, name []byte) {
			t, ok := x.terms[term]
			for _, i := range of {
				if ok && names[i] == "" && slices.Contains(all[i].terms, t) {
					names[i] = string(name)
				}
			}
		})
		if err != nil {
			return nil, err
		}
		places = places[n:]
	}
	return names, nil
}
