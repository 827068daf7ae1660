package replay

import "ctxtool/sessionfmt"

// A cutter compares each compaction with the patch that would stand for it.
//
// As long as every compaction so far could be a patch, the machine keeps beside its own
// the state that the patches would have made. It and the state under the last compaction then hold
// the same messages, those that no provider gets aside. A later compaction that
// stays an entry cuts the one, where it now cuts the state without compactions: it
// may only if both give the same.
type cutter struct {
	unconcerned
	list   *[]Cut
	last   int  // of them on this path
	native bool // a compaction could not be a patch
}

func (c *cutter) fork() observer {
	next := *c
	return &next
}

// compacted takes down the compaction at hand.
func (c *cutter) compacted(m *machine, msg message, line value, before, next *state, heads int) error {
	cut := Cut{Record: int(msg.rec), Above: c.last}
	cut.Direct = c.last >= 0 && m.follows((*c.list)[c.last].Record)
	place := m.keptPlace(int(msg.rec), line)
	if m.beside != nil {
		same, err := m.keepsSame(m.beside, place, next, heads)
		if err != nil {
			return err
		}
		cut.Revives = !same
	}
	if cut.Why = m.unpatchable(line, place, before, next); cut.Why == "" {
		cut.Index, cut.Why = before.msgs.indexOfTail(&next.msgs, heads)
	}
	*c.list = append(*c.list, cut)
	c.last = len(*c.list) - 1
	switch {
	case cut.Why != "":
		c.native = true
	case !c.native:
		if m.beside == nil {
			m.beside = before.fork()
		}
		m.beside.msgs.cut(m.beside.msgs.index(cut.Index), msg)
	}
	return nil
}

// follows says that only labels lie between a record and the entry at hand.
func (m *machine) follows(rec int) bool {
	i := m.pos - 1
	for i >= 0 && m.r.Session.Kind(m.path.at(i)) == sessionfmt.Label {
		i--
	}
	return i >= 0 && m.path.at(i) == rec
}

// keptPlace is the place on the path of a compaction's first kept entry: its own
// for one that keeps nothing, -1 where there is no such entry before it.
func (m *machine) keptPlace(rec int, line value) int {
	var f [2]value
	line.Fields(f[:], "firstKeptEntryId", "firstKeptEntryIndex")
	kept := m.r.Session.FirstKept(rec, f[0], f[1])
	if kept == rec {
		return m.pos
	}
	return m.placeOnPath(kept)
}

// unpatchable says why a patch cannot mean what the compaction at hand does, for
// all that can be said without looking at the messages it keeps.
func (m *machine) unpatchable(line value, place int, before, next *state) string {
	var f [3]value
	line.Fields(f[:], "summary", "timestamp", "systemMessage")
	switch {
	case f[2].Truthy():
		return "it carries a checkpoint of prompt and tools, which no patch sets"
	case hasDelta(before.deltas) || hasDelta(next.deltas):
		return "it drops system messages, which a patch would leave in place"
	case !f[0].IsString():
		return "its summary is no text"
	case place < 0:
		return "its first kept entry is not on the path before it: today's pi keeps nothing, the envelope rules keep everything"
	}
	if _, ok := f[1].Millis(); !ok {
		return "its time is none, and a patch has to have one"
	}
	if m.awaits(min(before.from, next.from), max(before.from, next.from)) {
		return "it forgets or brings back an edit whose target is still to come"
	}
	return ""
}

// awaits says that there are edits between two places of the path whose targets may
// yet come.
func (m *machine) awaits(from, to int32) bool {
	for target, e := range m.edits {
		if e.pos >= from && e.pos < to && m.placeOnPath(int(target)) < 0 {
			return true
		}
	}
	return false
}

// hasDelta says whether there are system messages, edits of them aside.
func hasDelta(deltas []delta) bool {
	for _, d := range deltas {
		if d.op == nil {
			return true
		}
	}
	return false
}

// keepsSame says whether a compaction with that first kept place would keep of s
// what it keeps in next, behind its own messages.
func (m *machine) keepsSame(s *state, place int, next *state, heads int) (bool, error) {
	first := 0 // of an entry that is not there, everything is kept
	switch {
	case place == m.pos:
		first = s.msgs.n
	case place >= 0:
		first, _ = s.msgs.from(int32(place))
	}
	kept := state{from: next.from}
	if err := m.keep(&kept, &s.msgs, first); err != nil {
		return false, err
	}
	at := kept.msgs.tail(&next.msgs, heads)
	for i := range max(0, at) {
		if kept.msgs.at(i).flags&unsent == 0 {
			return false, nil
		}
	}
	return at >= 0, nil
}

// tail is the place in l from which on it holds the messages of other from heads
// on, messages that no provider gets aside; -1 if it does not end with them.
func (l *list) tail(other *list, heads int) int {
	i := l.n
	for k := other.n - 1; k >= heads; k-- {
		want := other.at(k)
		if want.flags&unsent != 0 {
			continue
		}
		for i--; i >= 0 && l.at(i).flags&unsent != 0; i-- {
		}
		if i < 0 || l.at(i).place() != want.place() {
			return -1
		}
	}
	return i
}

// indexOfTail is the place among the shown messages of l of those that a compaction
// keeps of it, which are in kept from heads on, or why no index says it.
func (l *list) indexOfTail(kept *list, heads int) (int, string) {
	at := l.tail(kept, heads)
	switch {
	case at < 0:
		return 0, "it keeps what an earlier compaction had cut, or undoes an edit of what it keeps"
	case at < l.n && !l.at(at).shown():
		return 0, "the first message that it keeps is left out by an edit, so that no index names it"
	}
	shown := l.shown
	for i := at; i < l.n; i++ {
		if l.at(i).shown() {
			shown--
		}
	}
	return shown, ""
}
