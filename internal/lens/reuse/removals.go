package reuse

import (
	"slices"

	"ctxtool/internal/base/sorting"
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

// A Regret is content that an answer used after all messages with it had left the context.
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

// Regrets returns the content that the answer to a request uses although it has left the context, in order. A
// call whose result may have changed does not count, nor does a single short identifier.
func (r *Removals) Regrets(request, answer int) (all []Regret) {
	for _, one := range r.missed(request, answer) {
		if one.Kind != Call || !r.x.stale(one.Message, answer) {
			all = with(all, one)
		}
	}
	for i := range all {
		all[i].Kind = all[i].kind()
	}
	sorting.By(all, func(a, b Regret) int { return a.Message - b.Message })
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
