package reuse

import "slices"

// A Source is the context that the agent had: only what that has can an answer have used.
type Source struct {
	x        *Index
	gone     []int32
	standing map[int32][]Standing
}

// Source returns the context of a path. Gone are the requests from which on each message is not in
// it, and texts those that stand in place of messages.
func (x *Index) Source(gone []int32, texts []Standing) *Source {
	return &Source{x, gone, x.standing(texts)}
}

// has reports whether the context of a request had a term, before the answer.
func (s *Source) has(t, answer, request int32) bool {
	for i := s.x.before(t, answer); i >= s.x.first[t]; i-- {
		if s.gone[s.x.has[i]] > request {
			return true
		}
	}
	return stands(s.standing[t], request)
}

// stale reports whether what a call gave may have changed before an answer makes the call again:
// an answer in between has called what may change something. For a call that only reads, it has
// to name a path that the answer names.
func (x *Index) stale(result, answer int) bool {
	for i := result + 1; i < answer; i++ {
		if !x.acts[i] {
			continue
		}
		if x.acts[answer] {
			return true
		}
		for _, t := range x.uses[int32(i)] {
			if order[x.kinds[t]] == Path && slices.Contains(x.uses[int32(answer)], t) {
				return true
			}
		}
	}
	return false
}
