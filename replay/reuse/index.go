package reuse

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"ctxtool/internal/parallel"
	"ctxtool/internal/said"
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
	acts  []bool // of each message, whether it is an answer with a call that may change something
}

// An occurrence is a term in a message, both by number.
type occurrence struct{ term, message int32 }

// NewIndex reads the messages of an envelope twice, on all CPUs: first what answers use, then
// who has it.
func NewIndex(e *replay.Envelope) (*Index, error) {
	x := &Index{e: e, terms: map[uint64]int32{}, uses: map[int32][]int32{}, acts: make([]bool, e.Len())}
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
				x.acts[i] = scanAnswer(m, func(term uint64, kind Kind, as role) {
					if as&uses != 0 {
						parts[k].terms[term] = uint8(slices.Index(order, kind))
					}
				}, parts[k].calls)
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
	used := make([]map[int32][]int32, x.e.Chunks())
	err := x.e.Scan(func(chunk, index int, _ *replay.Piece, m *jsonl.Message, _ int) {
		if m == nil {
			return
		}
		var all, using []int32
		take := func(term uint64, _ Kind, as role) {
			if t, ok := x.terms[term]; ok && as&has != 0 {
				all = append(all, t)
			}
			if t, ok := x.terms[term]; ok && as&uses != 0 {
				using = append(using, t)
			}
		}
		if m.Kind == jsonl.Assistant {
			scanAnswer(m, take, nil)
		} else {
			scanTexts(m, holds(take))
			if term, ok := calls[m.CallID.Text()]; ok && m.Kind == jsonl.ToolResult {
				take(term, Call, has)
			}
		}
		slices.Sort(all)
		all = slices.Compact(all)
		if m.Kind == jsonl.Assistant {
			if used[chunk] == nil {
				used[chunk] = map[int32][]int32{}
			}
			slices.Sort(using)
			used[chunk][int32(index)] = slices.Compact(using)
		}
		for _, t := range all {
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
		for index, all := range used[k] {
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

// A role is what an answer, or another message, does with a term.
type role uint8

const (
	has  role = 1 << iota // a later message can use it
	uses                  // it is of earlier messages
)

// replaced are the names of the arguments with the text that an edit replaces, which is a quote.
var replaced = []string{"oldText", "old_string", "old_str", "old"}

// scanAnswer calls tell with the terms of an answer, and records those of its calls by id. It
// reports whether a call may change something.
//
// A line is quoted in what an agent says and in the text that an edit replaces; other arguments are
// its own. A line that agents say is often a phrase, so nothing has it for later. Folders,
// and files that it names without one in a sentence, are known from elsewhere. Commands that only look are no calls.
func scanAnswer(m *jsonl.Message, tell func(term uint64, kind Kind, as role), calls map[string]uint64) (acts bool) {
	line, alone := uses, false // alone: the text is a single word
	take := holds(func(term uint64, kind Kind, as role) {
		if kind == Line {
			as = line
		}
		tell(term, kind, as)
	})
	taken := func(term uint64, kind Kind, name []byte) {
		take(term, kind, name)
		if kind == Identifier || kind == Path && isFile(name, alone) {
			term, kind = indexed(term, kind, name)
			tell(term, kind, uses)
		}
	}
	scanTexts(m, taken)
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if b.Kind != jsonl.CallBlock {
			continue
		}
		looks, quotes := false, quoted(b.Args)
		for text := range b.Args.Strings {
			buf := text.AppendText(nil)
			alone = bytes.IndexAny(buf, " \n") < 0
			looks = looks || survival.OnlyLooks(string(buf))
			if line = has; slices.ContainsFunc(quotes, func(q jsonl.Value) bool { return bytes.Equal(q, text) }) {
				line = has | uses
			}
			scan(buf, taken)
		}
		if _, reads := said.Lookups[b.Name.Text()]; !reads && !looks {
			acts = true
		}
		if term := callTerm(b); !looks {
			tell(term, Call, uses) // only a result has what a call gave
			if calls != nil {
				calls[b.ID.Text()] = term
			}
		}
	}
	return acts
}

// holds returns a function that calls tell with a term that a message has.
func holds(tell func(term uint64, kind Kind, as role)) func(term uint64, kind Kind, name []byte) {
	return func(term uint64, kind Kind, name []byte) {
		term, kind = indexed(term, kind, name)
		tell(term, kind, has)
	}
}

// indexed returns a term, and its kind, as an index has them: a file is known by its name alone,
// which a listing has without its folders.
func indexed(term uint64, kind Kind, name []byte) (uint64, Kind) {
	switch base := name[bytes.LastIndexByte(name, '/')+1:]; {
	case kind == Path:
		term = hash(Path, base)
	case kind == Identifier && len(name) < longIdentifier:
		kind = word
	}
	return term, kind
}

// isFile reports whether a path is that of a file, by its extension, and has a folder or is alone.
func isFile(path []byte, alone bool) bool {
	i := bytes.LastIndexByte(path, '/')
	return (alone || i >= 0) && bytes.IndexByte(path[i+1:], '.') > 0
}

// quoted returns the arguments of a call that an edit replaces.
func quoted(args jsonl.Value) (all []jsonl.Value) {
	for _, name := range replaced {
		all = append(all, args.Get(name))
	}
	for edit := range args.Get("edits").Elements {
		all = append(all, quoted(edit)...)
	}
	return all
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
var order = []Kind{Call, Path, Line, Identifier, word}

// A word is an identifier of fewer than longIdentifier bytes. It counts only with another one of
// the same message.
const (
	word           Kind = "word"
	longIdentifier      = 16
)

// standing returns the texts that have each term.
func (x *Index) standing(texts []Standing) map[int32][]Standing {
	all := map[int32][]Standing{}
	for _, s := range texts {
		seen := map[int32]bool{}
		scan([]byte(s.Text), holds(func(term uint64, _ Kind, _ role) {
			if t, ok := x.terms[term]; ok && !seen[t] {
				seen[t] = true
				all[t] = append(all[t], Standing{From: s.From, To: s.To})
			}
		}))
	}
	return all
}

// stands reports whether a request has one of the texts.
func stands(all []Standing, request int32) bool {
	return slices.ContainsFunc(all, func(s Standing) bool { return s.From <= request && request < s.To })
}

// Regrets returns what answers used of messages that had left the context before, in order.
// Gone are the requests from which on each message is not in the context, and answers the
// messages that answer the requests, in order. Texts are those that stand in place of messages;
// a message that is cut but stays the result of its call has its request in results. What the
// source did not have, an answer has not used, unless it makes a call again.
func (x *Index) Regrets(answers []int, gone []int32, results map[int]bool, texts []Standing, source *Source) (all []Regret) {
	standing := x.standing(texts)
	for k, answer := range answers {
		from := len(all)
		for _, t := range x.uses[int32(answer)] {
			kind := order[x.kinds[t]]
			if (kind == Line || kind == Identifier || kind == word) && x.first[t+1]-x.first[t] > common {
				continue
			}
			last := -1
			for i := x.before(t, int32(answer)); i >= x.first[t]; i-- {
				m := x.has[i]
				if gone[m] > int32(k) || kind == Call && results[int(m)] {
					last = -1
					break
				}
				last = max(last, int(m))
			}
			if last < 0 || stands(standing[t], int32(k)) || kind == Call && x.stale(last, answer) || kind != Call && !source.has(t, int32(answer), int32(k)) {
				continue
			}
			one := Regret{Kind: kind, Message: last, Answer: answer, Request: k, terms: []int32{t}}
			all = append(all[:from], with(all[from:], one)...)
		}
		all = append(all[:from], slices.DeleteFunc(all[from:], func(r Regret) bool { return r.Kind == word && len(r.terms) < 2 })...)
		for i := from; i < len(all); i++ {
			if all[i].Kind == word {
				all[i].Kind = Identifier
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
		err := u.terms(x.e.Piece(all[of[0]].Answer), func(term uint64, kind Kind, name []byte) {
			if kind == Path && !isFile(name, true) {
				return
			}
			term, _ = indexed(term, kind, name)
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
