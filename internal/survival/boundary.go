package survival

import (
	"ctxtool/replay"
	"ctxtool/sessionfmt/jsonl"
)

// A Boundary describes what a compaction kept of a context, and what its summary has of the rest.
type Boundary struct {
	Summarized int  // messages that the summary replaces
	Kept       int  // messages after the summary
	FirstKept  int  // record of the first of these, -1 for none
	Split      bool // the first of these is within a turn
	Survival   Survival
}

// Across describes the compaction at a record, from the contexts before and after it. Last
// holds the facts of the previous summary, which this one can lose; Across sets it to the facts
// of this one.
func Across(before, after *replay.Envelope, record int, last *Facts) (b Boundary, err error) {
	carried := last
	gone := map[int]int{} // how many of a record's messages, the first ones
	summary := ""
	b.FirstKept = -1
	own := func(m replay.Message) bool { return m.Origin.Record == record }
	for m, err := range after.Sources(own) {
		switch {
		case err != nil:
			return b, err
		case own(m):
			summary += m.Raw.Get("content").ContentText() + "\n"
			continue
		case b.Kept == 0:
			b.FirstKept = m.Origin.Record
			b.Split = m.Kind == jsonl.Assistant || m.Kind == jsonl.ToolResult
		}
		b.Kept++
		gone[m.Origin.Record]--
	}
	for m, err := range before.Sources(func(replay.Message) bool { return false }) {
		if err != nil {
			return b, err
		}
		gone[m.Origin.Record]++
	}
	var facts Facts
	told := func(m replay.Message) bool { // by a summary, which is a message of the user for some agents
		return m.Kind == jsonl.CompactionMessage || m.Kind == jsonl.User && before.Replay().Session.Kind(m.Origin.Record) == jsonl.Transform
	}
	out := func(m replay.Message) bool { return gone[m.Origin.Record] > 0 }
	for m, err := range before.Sources(out) {
		switch {
		case err != nil:
			return b, err
		case !out(m):
			continue
		}
		gone[m.Origin.Record]--
		b.Summarized++
		switch {
		case !told(m):
			facts.Take(m.Kind, m.Raw, m.Origin.Record)
		case carried != nil:
			facts, carried = *carried, nil // what it told can be lost now
		}
	}
	b.Survival, *last = facts.Survive(summary)
	return b, nil
}
