package check

import (
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A request is what checks want to know of the next request of the active path.
type request struct {
	size    int64         // bytes of the lines that its messages come from
	calls   []int         // records of answers that call a tool and have no result in it
	results []int         // records of results that have no call in it
	failed  []int         // records of answers that failed
	images  map[int]int64 // of records with large images: the largest, bytes of base64
}

// request reads the next request, when it is first asked for: where its messages
// come from, and what is in those that an edit or a patch has put there.
func (w *walk) request(e *replay.Envelope) (*request, error) {
	if w.next != nil {
		return w.next, nil
	}
	r := &request{images: map[int]int64{}}
	open := map[uint64]int{}
	var order []uint64 // of the open calls; some may have been closed since
	notes := w.facts.newNotes()
	changed := func(m replay.Message) bool { return m.Origin.By != m.Origin.Record || m.Origin.Op >= 0 }
	for m, err := range e.Sources(changed) {
		if err != nil {
			return nil, err
		}
		rec, found := m.Origin.Record, []fact(nil)
		switch {
		case m.Raw == nil:
			r.size += int64(w.s.LineSize(rec))
			found = w.facts.of(w.s.Offset(rec))
		case m.Kind == sessionfmt.Assistant, m.Kind == sessionfmt.ToolResult:
			notes.msg.Read(notes.at.Reset(m.Raw), m.Kind)
			found = notes.message(nil, 0, m.Kind)
		}
		r.size += int64(len(m.Raw))
		if failed(found) {
			r.failed = append(r.failed, rec)
		}
		for _, f := range found {
			switch f.kind() {
			case aCall:
				if !failed(found) { // what a failed answer calls never ran
					if before, ok := open[f.id]; ok {
						r.calls = append(r.calls, before) // the id is used again, and the result is the later call's
					}
					open[f.id] = rec
					order = append(order, f.id)
				}
			case aResult:
				if _, ok := open[f.id]; !ok {
					r.results = append(r.results, rec)
				}
				delete(open, f.id)
			case anImage:
				r.images[rec] = max(r.images[rec], int64(f.id))
			}
		}
		if len(open) == 0 {
			order = order[:0]
		}
	}
	for _, id := range order {
		if rec, ok := open[id]; ok {
			r.calls = append(r.calls, rec)
			delete(open, id)
		}
	}
	w.next = r
	return r, nil
}

// failed says that facts are those of an answer that failed.
func failed(facts []fact) bool {
	for _, f := range facts {
		if f.kind() == aFailure {
			return true
		}
	}
	return false
}
