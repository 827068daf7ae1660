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
