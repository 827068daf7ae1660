package compact

import (
	"fmt"
	"slices"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// This file finds where pi cuts a history (docs/session-format.md 9.3).

// An item is an entry of the context as pi lists them, or the messages that a patch added.
type item struct {
	rec         int
	first, last int  // its messages in the view, [first, last)
	compaction  bool // an entry of that type
}

// withFiles returns a summary with the files of the summarised messages after it, as pi
// writes them.
func (w *Work) withFiles(text string, c *cut) string {
	files := w.files(slices.Concat(c.History, c.Prefix), c.previous)
	text, own := cutFiles(text) // some summarizers list them themselves
	files.add(own)
	return text + files.files().String()
}

// piCut returns the cut that pi would make to keep so many tokens at the end of the context.
func (v *View) piCut(keep int) *cut {
	items := v.items()
	c := &cut{Stretch: Stretch{Kept: -1}, previous: -1,
		what: fmt.Sprintf("the history before the last %d tokens", keep)}
	if v.compacted() {
		c.Why = "already compacted"
		return c
	}
	start := 0
	for k := range items {
		if m := v.summaryIn(&items[k]); m >= 0 {
			c.previous, start = m, k+1
			break
		}
	}
	at, turn := v.cutAt(items, start, keep)
	end := at
	if turn >= 0 {
		c.Prefix = v.conversation(items[turn:at])
		end = turn
	}
	c.History = v.conversation(items[start:end])
	if len(c.History)+len(c.Prefix) == 0 {
		c.Why = "nothing to compact (session too small)"
		return c
	}
	if rec := items[at].rec; v.session().ID(rec) == "" || v.session().WrongID(rec) {
		c.Why = "the first entry to be kept has no id"
		return c
	}
	c.Kept, c.To = items[at].rec, items[at].first
	for i := range c.To {
		if v.Live(i) {
			c.Messages++
		}
	}
	return c
}

// compacted reports whether a compaction comes last.
func (v *View) compacted() bool {
	if v.partial {
		m := v.last()
		return m != nil && m.Heads
	}
	path, _ := v.session().Path(v.Envelope.Leaf)
	return len(path) > 0 && v.kindOf(path[len(path)-1]) == jsonl.Compaction
}

func (v *View) session() *sessionfmt.Session { return v.Envelope.Replay().Session }

// cutAt returns the index of the first item to keep, and that of the beginning of the turn
// that is cut, -1 if none is.
func (v *View) cutAt(items []item, start, keep int) (at, turn int) {
	mayCut := func(k int) bool {
		return v.any(&items[k], func(m *Message) bool { return m.isAssistant() || startsPiTurn(m) })
	}
	for at = start; at < len(items) && !mayCut(at); at++ {
	}
	if at == len(items) {
		return start, -1
	}
	cut, sum := -1, 0 // the first item from k on before which pi may cut
	for k := len(items) - 1; k >= start; k-- {
		if mayCut(k) {
			cut = k
		}
		n := 0
		for i := items[k].first; i < items[k].last; i++ {
			if m := &v.Messages[i]; !m.Removed {
				n += m.estimate()
			}
		}
		if sum += n; sum < keep || n == 0 {
			continue
		}
		for cut < 0 { // otherwise the last one
			if k--; mayCut(k) {
				cut = k
			}
		}
		if at = cut; v.recovers(items[at+1:]) {
			at++
		}
		break
	}
	for at > start && !items[at-1].compaction && !v.yields(&items[at-1]) {
		at--
	}
	for turn = at; turn >= start; turn-- {
		if v.any(&items[turn], startsPiTurn) {
			break
		}
	}
	if turn == at || turn < start {
		turn = -1
	}
	return at, turn
}

// recovers reports whether only a failed attempt that was omitted follows a cut. The cut then
// moves after the input, so that it can be summarised.
func (v *View) recovers(suffix []item) bool {
	omitted := map[string]bool{}
	answer := false
	for k := range suffix {
		switch e := &suffix[k]; {
		case e.compaction || v.yields(e):
			return false
		case v.speaks(e.rec):
			omitted[v.session().ID(e.rec)] = true
			answer = answer || v.kindOf(e.rec) == jsonl.Assistant
		}
	}
	return answer && !slices.ContainsFunc(suffix, func(e item) bool {
		if v.kindOf(e.rec) != jsonl.ContextEdit {
			return false
		}
		line := v.texts.line(e.rec)
		return !line.Get("replacement").IsNull() && !omitted[line.Get("targetId").Text()]
	})
}

// speaks reports whether an entry has a message, whether in the context or not.
func (v *View) speaks(rec int) bool {
	k := v.kindOf(rec)
	return k.IsMessage() && k != jsonl.NoMessage || k == jsonl.CustomMessage || k == jsonl.BranchSummary
}

// yields reports whether an item has a message in the context.
func (v *View) yields(e *item) bool { return v.any(e, func(*Message) bool { return true }) }

// any reports whether so holds for some message of an item.
func (v *View) any(e *item, so func(m *Message) bool) bool {
	for i := e.first; i < e.last && !e.compaction; i++ {
		if m := &v.Messages[i]; !m.Removed && so(m) {
			return true
		}
	}
	return false
}

// conversation returns the messages of items that are summarised.
func (v *View) conversation(items []item) (all []int) {
	for k := range items {
		for i := items[k].first; i < items[k].last && !items[k].compaction; i++ {
			if m := &v.Messages[i]; !m.Removed && m.Kind != jsonl.System {
				all = append(all, i)
			}
		}
	}
	return all
}

// startsPiTurn reports whether a message starts a turn by pi's rules.
func startsPiTurn(m *Message) bool {
	switch m.Kind {
	case jsonl.User, jsonl.Bash, jsonl.Custom, jsonl.BranchMessage, jsonl.CompactionMessage:
		return true
	}
	return false
}

// items returns the entries of the context in order as pi lists them, including those without
// a message (docs/session-format.md 9.2). By the envelope rules patches may have moved
// messages: the items are then only the sources of the messages.
func (v *View) items() []item {
	if v.partial || v.Envelope.Replay().Rules != replay.ByPi {
		return v.sources()
	}
	records := v.listed()
	items := make([]item, len(records))
	i := 0
	for k, rec := range records {
		e := &items[k]
		*e = item{rec: rec, first: i, compaction: v.kindOf(rec) == jsonl.Compaction}
		for i < len(v.Messages) && v.Messages[i].Origin.Record == rec {
			i++
		}
		e.last = i
	}
	return items
}

// listed returns the records in the context: the last compaction, the entries that it keeps
// except system messages, and those after it.
func (v *View) listed() []int {
	s := v.session()
	path, _ := s.Path(v.Envelope.Leaf)
	at := len(path) - 1
	for at >= 0 && s.Kind(path[at]) != jsonl.Compaction {
		at--
	}
	if at < 0 {
		return path
	}
	line := v.texts.line(path[at])
	kept := s.FirstKept(path[at], line.Get("firstKeptEntryId"), line.Get("firstKeptEntryIndex"))
	records := []int{path[at]}
	found := false
	for _, rec := range path[:at] {
		if found = found || rec == kept; found && s.Kind(rec) != jsonl.System {
			records = append(records, rec)
		}
	}
	return append(records, path[at+1:]...)
}

// sources returns the records that the messages of the context come from, in order, valid until the
// next call.
func (v *View) sources() []item {
	items := v.listing[:0]
	for i := range v.Messages {
		m := &v.Messages[i]
		if !m.Cached {
			break // no pass removes uncached messages
		}
		if m.gone {
			continue
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
	v.listing = items
	return items
}

// summaryIn returns the message of an item that is a compaction's summary, -1 for none.
func (v *View) summaryIn(e *item) int {
	for i := e.last - 1; i >= e.first; i-- {
		m := &v.Messages[i]
		if m.Removed || !m.isSummary() {
			continue
		}
		if k := v.kindOf(m.Origin.Record); m.Heads || k == jsonl.Compaction || k == jsonl.Transform {
			return i
		}
	}
	return -1
}
