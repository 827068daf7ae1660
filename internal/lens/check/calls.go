package check

import (
	"maps"
	"slices"

	"ctxtool/replay"
	"ctxtool/sessionfmt/jsonl"
)

// A request holds the facts about the next request of the active path that checks need.
type request struct {
	size    int64           // of the lines that its messages come from, bytes
	calls   []int           // records of answers with a call whose result is not in the request
	results []int           // records of results whose call is not in the request
	failed  []int           // records of answers that failed
	twice   map[uint64]bool // results that another agent sends again, by the hash of their ids; nil for pi's sessions
	images  map[int]int64   // by record, the size of its largest image in base64, bytes; only large ones
}

// request returns the facts of the next request, computed on first use: from the lines of
// its messages, and from the content that an edit or a patch has put there.
func (w *walk) request() *request {
	if w.next != nil {
		return w.next
	}
	r := &request{images: map[int]int64{}}
	w.next = r
	if w.s.Dialect() != nil {
		r.twice = map[uint64]bool{}
	}
	open := map[uint64]int{}
	notes, at := w.facts.newNotes(), new(jsonl.Cursor)
	changed := func(m replay.Message) bool { return m.Origin.By != m.Origin.Record || m.Origin.Op >= 0 }
	for m, err := range w.active.Sources(changed) {
		if err != nil {
			w.err = err
			return r
		}
		rec, found := m.Origin.Record, []fact(nil)
		switch {
		case m.Raw == nil:
			r.size += int64(w.s.LineSize(rec))
			found = w.facts.of(w.s.Offset(rec))
		case m.Kind == jsonl.Assistant, m.Kind == jsonl.ToolResult:
			var msg jsonl.Message
			msg.Read(at.Reset(m.Raw), m.Kind)
			found = notes.message(nil, 0, &msg)
		}
		r.size += int64(len(m.Raw))
		r.take(rec, found, open)
	}
	r.calls = append(r.calls, slices.Sorted(maps.Values(open))...)
	return r
}

// take adds the facts of the next message; open holds the calls without a result so far,
// by the hash of their ids.
func (r *request) take(rec int, found []fact, open map[uint64]int) {
	failed := failed(found)
	if failed {
		r.failed = append(r.failed, rec)
	}
	for _, f := range found {
		before, waits := open[f.id]
		switch f.kind() {
		case aCall:
			if failed {
				continue // the calls of a failed answer never ran
			}
			if waits {
				r.calls = append(r.calls, before) // the id is reused, and the result belongs to the later call
			}
			open[f.id] = rec
		case aResult:
			if !waits && !r.twice[f.id] {
				r.results = append(r.results, rec)
			}
			if r.twice != nil {
				r.twice[f.id] = true
			}
			delete(open, f.id)
		case anImage:
			r.images[rec] = max(r.images[rec], int64(f.id))
		}
	}
}

// failed reports whether the facts are those of a failed answer.
func failed(facts []fact) bool {
	return slices.ContainsFunc(facts, func(f fact) bool { return f.kind() == aFailure })
}

func (x *subject) callWithoutResult() {
	for _, rec := range x.pairs().unanswered {
		if x.s.Pos(rec).File != x.s.Name { // a fork begins where its parent waits for results
			continue
		}
		x.add(rec, "it calls a tool and gets no result")
	}
}

func (x *subject) resultWithoutCall() {
	p := x.pairs()
	for _, rec := range p.uncalled {
		switch _, early := p.early[rec]; {
		case early:
		case p.answered[rec]:
			x.add(rec, "its call has a result already")
		default:
			x.add(rec, "no answer before it makes its call")
		}
	}
}

func (x *subject) resultBeforeCall() {
	p := x.pairs()
	for _, rec := range p.uncalled {
		if call, early := p.early[rec]; early {
			x.add(rec, "its call follows it, on line %d", x.s.Line(call))
		}
	}
}

func (w *walk) callLostResult() {
	for _, rec := range w.request().calls {
		if !holds(w.pairs().unanswered, rec) {
			w.add(rec, "its call is in the next request, and the result is not")
		}
	}
}

func (w *walk) resultLostCall() {
	for _, rec := range w.request().results {
		if !holds(w.pairs().uncalled, rec) {
			w.add(rec, "it is in the next request, and its call is not")
		}
	}
}

// holds reports whether a sorted list contains a record.
func holds(list []int, rec int) bool {
	_, ok := slices.BinarySearch(list, rec)
	return ok
}

func (w *walk) failedAnswer() {
	for _, rec := range w.request().failed {
		if w.s.Answers(rec) { // not what another agent says itself
			w.add(rec, "the answer failed or was aborted, and is still in the context")
		}
	}
}

// pairs holds the tool calls and results of the whole file that lack their counterpart.
// Targets of context edits are not in it: they are checked in the next request.
type pairs struct {
	unanswered []int        // records of answers with a call without result, in order
	uncalled   []int        // records of results without a call before them, in order
	answered   map[int]bool // those whose call has a result already
	early      map[int]int  // those whose call follows, with the record of the call
}

// An open call has no result yet. The calls that are open at an entry are a linked list,
// which shares its tail with those of other entries, so that branches cost nothing.
type openCall struct {
	id   uint64
	rec  int32 // -1 for a call of a failed answer: it needs no result, but may have one
	next int32 // index of the next open call, 0 for none
}

// pairing finds the pairs of a file.
type pairing struct {
	x     *subject
	open  []openCall
	state []int32 // by record, the first call that is open after it; 0 for none
	lost  []lostResult
}

// A lostResult is a result without an open call.
type lostResult struct {
	rec int
	id  uint64
}

// findPairs returns the calls and results of a file that lack their counterpart.
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
	for _, i := range x.leaves() {
		for k := p.state[i]; k > 0; k = p.open[k].next {
			if rec := int(p.open[k].rec); rec >= 0 {
				out.unanswered = append(out.unanswered, rec)
			}
		}
	}
	edited, _ := x.s.Edited() // what cannot be read is found when the file is replayed
	for _, list := range []*[]int{&out.unanswered, &out.uncalled} {
		slices.Sort(*list)
		*list = slices.DeleteFunc(slices.Compact(*list), func(rec int) bool { return edited[rec] })
	}
	return out
}

// entry computes the calls that are open after an entry.
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

// close returns the list without the call of that id, and reports whether it was in the
// list. The part before the call is copied, since other branches share the old list.
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

// explain finds what happened to the calls of results without an open call.
func (p *pairing) explain() *pairs {
	out := &pairs{answered: map[int]bool{}, early: map[int]int{}}
	if len(p.lost) == 0 {
		return out
	}
	wanted := map[uint64][]int{} // by call, the records that make it
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
