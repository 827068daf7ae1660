package check

import (
	"slices"

	"ctxtool/sessionfmt/jsonl"
)

// pairs are the tool calls and results of the whole file that do not belong to
// each other, as the file has them. What a context edit aims at has been seen to:
// what is left of it is judged in the next request.
type pairs struct {
	unanswered []int        // records whose answers call without getting a result, in order
	uncalled   []int        // records that are results without a call above them, in order
	answered   map[int]bool // of those, whose call has a result already
	early      map[int]int  // of those, whose call stands below: the record of the call
}

// An open call waits for its result. The calls that are open at an entry are a
// list that it shares with the entries above it, so that branches cost nothing.
type openCall struct {
	id   uint64
	rec  int32 // -1 for one of a failed answer, which gets no result but may have one
	next int32 // index of the next open one, 0 for none
}

// pairing finds the pairs of a file.
type pairing struct {
	x     *subject
	open  []openCall
	state []int32 // of each record, the first open call after it; 0 for none
	lost  []lostResult
}

// A lostResult is a result for which no call is open.
type lostResult struct {
	rec int
	id  uint64
}

// findPairs finds them.
func (x *subject) findPairs() *pairs {
	calls := 1
	for _, f := range x.facts.all {
		if f.kind() == aCall {
			calls++
		}
	}
	p := &pairing{x: x, open: make([]openCall, 1, calls), state: make([]int32, x.s.Len())}
	x.parentsFirst(p.entry)
	out := p.explain()
	for _, i := range x.tips() {
		for k := p.state[i]; k > 0; k = p.open[k].next {
			if rec := int(p.open[k].rec); rec >= 0 {
				out.unanswered = append(out.unanswered, rec)
			}
		}
	}
	edited := x.edited()
	for _, list := range []*[]int{&out.unanswered, &out.uncalled} {
		slices.Sort(*list)
		*list = slices.DeleteFunc(slices.Compact(*list), func(rec int) bool { return edited[rec] })
	}
	return out
}

// edited are the records that context edits aim at.
func (x *subject) edited() map[int]bool {
	edited := map[int]bool{}
	r := x.s.NewReader()
	for i := range x.s.Len() {
		if x.s.Kind(i) != jsonl.ContextEdit {
			continue
		}
		if line, err := r.Line(i); err == nil {
			edited[x.s.FindValue(line.Get("targetId"))] = true
		}
	}
	return edited
}

// entry works out which calls are open after an entry.
func (p *pairing) entry(i int) {
	s := p.x.s
	state := int32(0)
	if up := s.Parent(i); up >= 0 && up != i {
		state = p.state[up]
	}
	if k := s.Kind(i); k == jsonl.Assistant || k == jsonl.ToolResult {
		found := p.x.facts.of(s.Offset(i))
		failed := failed(found)
		for _, f := range slices.Backward(found) { // results come in the order of the calls: the first is the nearest
			switch {
			case f.kind() == aCall:
				rec := int32(i)
				if failed {
					rec = -1
				}
				p.open = append(p.open, openCall{f.id, rec, state})
				state = int32(len(p.open) - 1)
			case f.kind() == aResult:
				var ok bool
				if state, ok = p.close(state, f.id); !ok {
					p.lost = append(p.lost, lostResult{i, f.id})
				}
			}
		}
	}
	p.state[i] = state
}

// close is the list without the call of that id, and whether it was in it. What
// came before it in the list is copied: other branches still have the old one.
func (p *pairing) close(list int32, id uint64) (int32, bool) {
	var before []int32
	for k := list; k > 0; k = p.open[k].next {
		if p.open[k].id == id {
			rest := p.open[k].next
			for _, b := range slices.Backward(before) {
				c := p.open[b]
				c.next = rest
				p.open = append(p.open, c)
				rest = int32(len(p.open) - 1)
			}
			return rest, true
		}
		before = append(before, k)
	}
	return list, false
}

// explain says of results without an open call what became of it.
func (p *pairing) explain() *pairs {
	out := &pairs{answered: map[int]bool{}, early: map[int]int{}}
	if len(p.lost) == 0 {
		return out
	}
	wanted := map[uint64][]int{} // the records that make a call
	for _, l := range p.lost {
		wanted[l.id] = nil
	}
	s := p.x.s
	for i := range s.Len() {
		if s.Kind(i) != jsonl.Assistant {
			continue
		}
		for _, f := range p.x.facts.of(s.Offset(i)) {
			if calls, ok := wanted[f.id]; ok && f.kind() == aCall {
				wanted[f.id] = append(calls, i)
			}
		}
	}
	up := p.x.ancestors()
	for _, l := range p.lost {
		out.uncalled = append(out.uncalled, l.rec)
		for _, call := range wanted[l.id] {
			switch {
			case up.above(call, l.rec):
				out.answered[l.rec] = true
			case up.above(l.rec, call):
				out.early[l.rec] = call
			}
		}
	}
	return out
}
