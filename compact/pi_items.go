package compact

import (
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// items are the entries of the context in order, those that yield nothing included, as
// pi lists them (spec/pi-1.5.md 4.2). By the envelope rules patches may have moved
// messages: then they are what the messages of the context come from, and no more.
func (v *View) items() ([]item, error) {
	if v.Envelope.Replay().Rules != replay.ByPi {
		return v.sources(), nil
	}
	records, err := v.listed()
	if err != nil {
		return nil, err
	}
	items := make([]item, len(records))
	i := 0
	for k, rec := range records {
		e := &items[k]
		*e = item{rec: rec, first: i, compaction: v.kindOf(rec) == sessionfmt.Compaction}
		for i < len(v.Messages) && v.Messages[i].Origin.Record == rec {
			i++
		}
		e.last = i
	}
	return items, nil
}

// listed are the records in the context: the last compaction, the entries that it keeps,
// system messages aside, and those behind it.
func (v *View) listed() ([]int, error) {
	s := v.session()
	path, _ := s.Path(v.Envelope.Leaf)
	at := len(path) - 1
	for at >= 0 && s.Kind(path[at]) != sessionfmt.Compaction {
		at--
	}
	if at < 0 {
		return path, nil
	}
	line, err := s.NewReader().Line(path[at])
	if err != nil {
		return nil, err
	}
	kept := s.FirstKept(path[at], line.Get("firstKeptEntryId"), line.Get("firstKeptEntryIndex"))
	records := []int{path[at]}
	found := false
	for _, rec := range path[:at] {
		if found = found || rec == kept; found && s.Kind(rec) != sessionfmt.System {
			records = append(records, rec)
		}
	}
	return append(records, path[at+1:]...), nil
}

// sources are the places that the messages of the context come from, in order.
func (v *View) sources() (items []item) {
	for i := range v.Messages {
		m := &v.Messages[i]
		if !m.Cached {
			break // nothing takes those out
		}
		if n := len(items); n > 0 && items[n-1].rec == m.Origin.Record && m.Origin.Op < 0 {
			items[n-1].last = i + 1
			continue
		}
		items = append(items, item{rec: m.Origin.Record, first: i, last: i + 1})
	}
	for k := range items {
		items[k].compaction = v.summaryIn(&items[k]) >= 0
	}
	return items
}

// summaryIn is the message of an item that is a compaction's summary, -1 for none.
func (v *View) summaryIn(e *item) int {
	for i := e.last - 1; i >= e.first; i-- {
		m := &v.Messages[i]
		if k := v.kindOf(m.Origin.Record); !m.Gone && m.isSummary() && (m.Heads || k == sessionfmt.Compaction || k == sessionfmt.Transform) {
			return i
		}
	}
	return -1
}
