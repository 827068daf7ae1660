package check

import (
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A sent is what checks want to know of one message of the next request.
type sent struct {
	rec   int
	by    int // the edit or transform that put it there, or rec
	kind  sessionfmt.Kind
	facts []fact
	size  int // bytes of the line that it comes from
}

// request reads the next request: where its messages come from, and what is in
// those that an edit or a patch has put there.
func (w *walk) request(e *replay.Envelope) ([]sent, error) {
	if w.next != nil {
		return w.next, nil
	}
	var c sessionfmt.Cursor
	changed := func(m replay.Message) bool { return m.Origin.By != m.Origin.Record || m.Origin.Op >= 0 }
	for m, err := range e.Sources(changed) {
		if err != nil {
			return nil, err
		}
		p := sent{rec: m.Origin.Record, by: m.Origin.By, kind: m.Kind, size: len(m.Raw)}
		switch {
		case m.Raw == nil:
			p.size = w.s.LineSize(p.rec)
			p.facts = w.facts.of(w.s.Offset(p.rec))
		case m.Kind == sessionfmt.Assistant:
			p.facts = w.facts.message(nil, 0, c.Reset(m.Raw))
		case m.Kind == sessionfmt.ToolResult:
			p.facts = []fact{{0, w.facts.hash(m.Raw.First("toolCallId")), aResult}}
		}
		w.next = append(w.next, p)
	}
	return w.next, nil
}

// unpaired are the calls and the results of the next request that have lost each
// other there, while the file has both.
func (w *walk) unpaired(e *replay.Envelope) (calls, results []sent, err error) {
	msgs, err := w.request(e)
	if err != nil {
		return nil, nil, err
	}
	open := map[uint64]sent{}
	for _, m := range msgs {
		for _, f := range m.facts {
			switch f.kind {
			case aCall:
				open[f.id] = m
			case aResult:
				if _, ok := open[f.id]; !ok {
					results = append(results, m)
				}
				delete(open, f.id)
			}
		}
	}
	for _, m := range msgs {
		for _, f := range m.facts {
			if at, ok := open[f.id]; ok && f.kind == aCall && at.rec == m.rec && !failed(m.facts) {
				calls = append(calls, m)
				break
			}
		}
	}
	return calls, results, nil
}

// failed says that facts are those of an answer that failed.
func failed(facts []fact) bool {
	for _, f := range facts {
		if f.kind == aFailure {
			return true
		}
	}
	return false
}
