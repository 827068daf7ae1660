package reuse

import (
	"bytes"
	"slices"
	"strings"

	"ctxtool/internal/activity"
	"ctxtool/internal/survival"
	"ctxtool/sessionfmt/jsonl"
)

// Removals are the messages that have left a context as it grows, and the texts that it has in
// their place. They judge what each answer uses.
type Removals struct {
	x        *Index
	gone     []int32         // by message, the first request without it and one; 0 while it is in the context
	results  map[int]bool    // the removed messages that are still the results of their calls
	texts    map[any][]int32 // by place, the terms of the text there
	standing map[int32]int   // by term, the texts with it
	searched map[int32]int32 // by term, where in has those begin that may not be gone
}

// Removals returns a context from which nothing is removed.
func (x *Index) Removals() *Removals {
	return &Removals{x, make([]int32, len(x.uses)), map[int]bool{}, map[any][]int32{}, map[int32]int{},
		map[int32]int32{}}
}

// Remove removes a message before a request, or with stays cuts it: it stays the result of its
// call.
func (r *Removals) Remove(message, request int, stays bool) {
	if r.gone[message] == 0 {
		r.gone[message] = int32(request) + 1
		r.results[message] = true
	}
	if !stays {
		delete(r.results, message)
	}
}

// Restore returns a message to the context.
func (r *Removals) Restore(message int) {
	if r.gone[message] > 0 {
		r.gone[message] = 0
		clear(r.searched)
	}
}

// Stand puts a text in a place: that of messages, however the caller names it.
func (r *Removals) Stand(place any, text string) {
	var terms []int32
	scan([]byte(text), func(term uint64, kind Kind, name []byte) {
		if t, ok := r.x.terms[indexed(term, kind, name)]; ok {
			terms = append(terms, t)
		}
	})
	terms = distinct(terms)
	for _, t := range terms {
		r.standing[t]++
	}
	r.texts[place] = terms
}

// Withdraw removes the text in a place, and reports whether there was one.
func (r *Removals) Withdraw(place any) bool {
	terms, ok := r.texts[place]
	for _, t := range terms {
		if r.standing[t]--; r.standing[t] == 0 {
			delete(r.standing, t)
		}
	}
	delete(r.texts, place)
	return ok
}

// A Regret is what an answer used of a message that had left the context, as had all others
// with the same terms.
type Regret struct {
	Kind    Kind // of the terms that are least likely to be chance
	Message int  // the message that had left; the last one with those terms
	Removed int  // the first request without it
	Answer  int  // the message that is the answer
	Request int  // that it answers

	terms []int32 // of that kind
}

// Forget removes from the index what an answer repeats and this context lacks: if the agent had
// this context, the answer has not used it. A call that it makes again stays. Regrets must not be
// called at the same time.
func (r *Removals) Forget(answer int) {
	x := r.x
	x.uses[answer] = slices.DeleteFunc(x.uses[answer], func(t int32) bool {
		return order[x.kinds[t]] != Call && r.standing[t] == 0 && r.lost(t, int32(answer)) >= 0
	})
}

// Regrets returns what the answer to a request uses of messages that have left the context, in
// order. A call whose result may have changed is none, nor is one short identifier.
func (r *Removals) Regrets(request, answer int) (all []Regret) {
	for _, one := range r.missed(request, answer) {
		if one.Kind != Call || !r.x.stale(one.Message, answer) {
			all = with(all, one)
		}
	}
	for i := range all {
		all[i].Kind = all[i].kind()
	}
	slices.SortFunc(all, func(a, b Regret) int { return a.Message - b.Message })
	return all
}

// kind returns the kind as others see it.
func (r *Regret) kind() Kind {
	if r.Kind == word {
		return Identifier
	}
	return r.Kind
}

// missed is Regrets with one for each term, and with calls whose results may have changed.
func (r *Removals) missed(request, answer int) (all []Regret) {
	x, words := r.x, map[int]int{}
	for _, t := range x.uses[answer] {
		kind, last := order[x.kinds[t]], int(r.lost(t, int32(answer)))
		if last < 0 || r.standing[t] > 0 {
			continue
		}
		if kind == word {
			words[last]++
		}
		all = append(all, Regret{Kind: kind, Message: last, Removed: int(r.gone[last]) - 1, Answer: answer,
			Request: request, terms: []int32{t}})
	}
	return slices.DeleteFunc(all, func(one Regret) bool { return one.Kind == word && words[one.Message] < 2 })
}

// stale reports whether what a call gave may have changed before an answer makes the call again:
// an answer in between has called what may change something. For a call that only reads, it has
// to name a file that the answer names.
func (x *Index) stale(result, answer int) bool {
	for i := result + 1; i < answer; i++ {
		if !x.acts[i] {
			continue
		}
		if x.acts[answer] || slices.ContainsFunc(x.uses[i], func(t int32) bool {
			return order[x.kinds[t]] == Path && slices.Contains(x.uses[answer], t)
		}) {
			return true
		}
	}
	return false
}

// lost returns the last message with a term before an answer, -1 if there is none or one of them
// is in the context.
func (r *Removals) lost(t, answer int32) int32 {
	x := r.x
	n, _ := slices.BinarySearch(x.has[x.first[t]:x.first[t+1]], answer)
	end := x.first[t] + int32(n)
	if n == 0 {
		return -1
	}
	for i := end - 1; i >= max(x.first[t], r.searched[t]); i-- {
		m := int(x.has[i])
		if r.gone[m] == 0 || order[x.kinds[t]] == Call && r.results[m] {
			return -1
		}
	}
	r.searched[t] = end
	return x.has[end-1]
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

// Retrievals finds which results of lookups were used: a later answer names the file, or repeats
// a line, path or identifier that no earlier message has. Further lookups are not uses. Message
// must be called with the messages in order.
type Retrievals struct {
	used   []bool            // of each result
	judged int               // results with an answer after them
	said   map[uint64]int32  // the result that has a term first, -1 for another message
	calls  map[string]string // the paths of lookups that wait for their results
	byCall map[string]int    // the results of all calls, by id; nil for those of lookups
	buf    []byte
}

// AllRetrievals returns Retrievals of the results of all calls.
func AllRetrievals() *Retrievals {
	r := NewRetrievals()
	r.byCall = map[string]int{}
	return r
}

// Used reports whether the result of a call was used, nil if there is none, or no answer after it.
func (r *Retrievals) Used(call string) *bool {
	if k, ok := r.byCall[call]; ok && k < r.judged {
		return &r.used[k]
	}
	return nil
}

// NewRetrievals returns a Retrievals without messages.
func NewRetrievals() *Retrievals {
	return &Retrievals{said: map[uint64]int32{}, calls: map[string]string{}}
}

// Count returns the number of used results, and of results with an answer after them.
func (r *Retrievals) Count() (used, of int) {
	for _, u := range r.used[:r.judged] {
		if u {
			used++
		}
	}
	return used, r.judged
}

// Message adds the next message of a request.
func (r *Retrievals) Message(m *jsonl.Message) {
	switch m.Kind {
	case jsonl.Assistant:
		r.judged = len(r.used)
		r.answer(m)
	case jsonl.ToolResult:
		id := m.CallID.Text()
		if path, ok := r.calls[id]; ok && !m.IsError.Truthy() {
			if r.byCall != nil {
				r.byCall[id] = len(r.used)
			}
			r.result(path, m)
		} else {
			texts(m, &r.buf, r.sayer(-1))
		}
		delete(r.calls, id)
	default:
		texts(m, &r.buf, r.sayer(-1))
	}
}

// answer records the uses and lookups of an answer.
func (r *Retrievals) answer(m *jsonl.Message) {
	use := func(term uint64, _ Kind, _ []byte) {
		if by, ok := r.said[term]; !ok {
			r.said[term] = -1
		} else if by >= 0 {
			r.used[by] = true
		}
	}
	texts(m, &r.buf, use)
	for c := range activity.Calls(m) {
		if c.Action.Looks() || r.byCall != nil {
			r.calls[c.ID] = c.Path()
		}
		if c.Action.Looks() {
			continue
		}
		for text := range c.Args.Strings {
			r.buf = text.AppendText(r.buf[:0])
			scan(r.buf, use)
		}
	}
}

// result records the terms of a result. A file that is read twice belongs to the last result.
func (r *Retrievals) result(path string, m *jsonl.Message) {
	k := int32(len(r.used))
	r.used = append(r.used, false)
	scan([]byte(path), func(term uint64, kind Kind, _ []byte) {
		if kind == Path {
			r.said[term] = k
		}
	})
	texts(m, &r.buf, r.sayer(k))
}

// sayer returns a function that records the first message with a term.
func (r *Retrievals) sayer(k int32) func(term uint64, _ Kind, _ []byte) {
	return func(term uint64, _ Kind, _ []byte) {
		if _, ok := r.said[term]; !ok {
			r.said[term] = k
		}
	}
}

// An answer is the terms of an answer: what it uses of earlier messages, and what it has that later
// ones can use. The lines that it says are often phrases: they are only of use while somebody else
// has given them.
type answer struct{ uses, has, says []uint64 }

// read adds the terms of an answer to the scanner's, and records those of its calls by id. It
// reports whether a call may change something.
//
// A line is quoted in what an agent says and in the text that an edit replaces; other arguments are
// its own. Folders, and files that it names without one in a sentence, are known from elsewhere.
// Commands that only look are no calls.
func (s *scanner) read(m *jsonl.Message, calls map[string]uint64) (acts bool) {
	texts(m, &s.buf, func(term uint64, kind Kind, name []byte) { s.tell(term, kind, name, true, true, false) })
	for c := range activity.Calls(m) {
		looks, quotes := false, c.Replacements()
		for text := range c.Args.Strings {
			s.buf = text.AppendText(s.buf[:0])
			looks = looks || survival.OnlyLooks(string(s.buf))
			alone := !bytes.ContainsAny(s.buf, " \n")
			quote := slices.ContainsFunc(quotes, func(r activity.Replacement) bool { return r.Old == string(s.buf) })
			scan(s.buf, func(term uint64, kind Kind, name []byte) { s.tell(term, kind, name, quote, false, alone) })
		}
		acts = acts || !looks && !c.Action.Looks() && c.Action != activity.Ask
		if !looks { // only a result has what a call gave
			term := callTerm(c.Tool, c.Args)
			s.answer.uses = append(s.answer.uses, term)
			calls[c.ID] = term
		}
	}
	return acts
}

// tell adds a term of a text. quote is set if the text uses its lines, says if it is what the agent
// says, and alone if it is a single word.
func (s *scanner) tell(term uint64, kind Kind, name []byte, quote, says, alone bool) {
	term = indexed(term, kind, name)
	if kind == Line && says {
		s.answer.says = append(s.answer.says, term)
	} else {
		s.answer.has = append(s.answer.has, term)
	}
	if kind == Identifier || kind == Line && quote || kind == Path && isFile(name, alone) {
		s.answer.uses = append(s.answer.uses, term)
	}
}

// indexed returns a term as an index has it: a file is known by its name alone, which a listing has
// without its folders, and a short identifier is a word.
func indexed(term uint64, kind Kind, name []byte) uint64 {
	switch {
	case kind == Path:
		return hash(Path, name[bytes.LastIndexByte(name, '/')+1:])
	case kind == Identifier && len(name) < longIdentifier:
		return hash(word, name)
	}
	return term
}

// isFile reports whether a path is that of a file, by its extension, and has a folder or is alone.
func isFile(path []byte, alone bool) bool {
	i := bytes.LastIndexByte(path, '/')
	return (alone || i >= 0) && bytes.IndexByte(path[i+1:], '.') > 0
}

// everywhere are the terms of files that an agent expects in a project without having seen them.
var everywhere = func() map[uint64]bool {
	all := map[uint64]bool{}
	for _, name := range strings.Fields("README.md CHANGELOG.md CONTRIBUTING.md LICENSE.md AGENTS.md CLAUDE.md " +
		"go.mod go.sum main.go package.json package-lock.json tsconfig.json index.ts index.js index.html Cargo.toml " +
		"pyproject.toml requirements.txt setup.py __init__.py") {
		all[hash(Path, []byte(name))] = true
	}
	return all
}()

// callTerm returns the term of a call.
func callTerm(tool string, args jsonl.Value) uint64 {
	return hash(Call, args.AppendMinified([]byte(tool+"\x00")))
}
