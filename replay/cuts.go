package replay

import "ctxtool/sessionfmt/jsonl"

// A Cut is what a compaction entry did to the history, and whether a patch could
// have done it: one with a compaction_apply in it, right before the entry.
type Cut struct {
	Record int
	Above  int // the cut before it on its path, as an index of the list; -1 for none
	// Index is the patch's firstKeptMessageIndex: where in the cached messages of
	// the request the first kept one stands.
	Index int
	// Why says why no patch leaves the same envelope after every later entry. It is
	// empty where one does.
	Why string
	// Revives reports whether the entry would mean something else if the compactions
	// before it were patches: it brings back what they cut.
	Revives bool
	// Direct reports whether nothing but labels lies between the entry and the compaction
	// before it.
	Direct bool
}

// Cuts are the compactions of the whole file that count by the envelope rules: all
// but those that only repeat a transform. What stands after a patch at which a
// replay stops, or below a cycle of parents, is not among them. One before another
// on a path comes before it.
func (r *Replay) Cuts() (cuts []Cut, err error) {
	any := false
	for i := range r.Session.Len() {
		any = any || r.Session.Kind(i) == jsonl.Compaction
	}
	if !any {
		return nil, nil
	}
	quiet := *r // findings are for who replays
	quiet.Rules = ByEnvelope
	for _, err := range quiet.WalkTree(quiet.Session.Tree(), &cutter{cuts: &cuts, last: -1}) {
		if err != nil && !Stopped(err) {
			return nil, err
		}
	}
	return cuts, nil
}

// A cutter compares each compaction with the patch that would stand for it.
//
// As long as every compaction so far could be a patch, it keeps the state that the
// patches would have made, and does to it what the machine does to its own. It and the state under the last compaction then hold
// the same messages, those that no provider gets aside. A later compaction that
// stays an entry cuts the one, where it now cuts the state without compactions: it
// may only if both give the same.
type cutter struct {
	NopObserver
	cuts    *[]Cut
	last    int    // of them on this path
	native  bool   // a compaction could not be a patch
	patched *state // what patches would have made; nil before the first and after a native one
}

// A cutting is a compaction entry at work.
type pendingCut struct {
	msg    Piece
	line   value
	before *state // what was in force
	own    int    // messages of the new state that are the entry's own
}

// Fork is a copy for another way.
func (c *cutter) Fork(_, _ Step) Observer {
	next := *c
	if c.patched != nil {
		next.patched = c.patched.fork()
	}
	return &next
}

// Changed records a compaction.
func (c *cutter) Changed(s Step, change *Change) error {
	switch {
	case change.Do == OpRecompact:
		return c.compacted(s.m, change.cut)
	case c.patched != nil:
		return s.m.apply(c.patched, change)
	}
	return nil
}

func (c *cutter) compacted(m *machine, at *pendingCut) error {
	msg, line, before, next, heads := at.msg, at.line, at.before, m.cut, at.own
	cut := Cut{Record: int(msg.rec), Above: c.last}
	cut.Direct = c.last >= 0 && m.follows((*c.cuts)[c.last].Record)
	place := m.keptPlace(int(msg.rec), line)
	if c.patched != nil {
		same, err := m.keepsSame(c.patched, place, next, heads)
		if err != nil {
			return err
		}
		cut.Revives = !same
	}
	if cut.Why = m.unpatchable(line, place, before, next); cut.Why == "" {
		cut.Index, cut.Why = before.msgs.indexOfTail(&next.msgs, heads)
	}
	*c.cuts = append(*c.cuts, cut)
	c.last = len(*c.cuts) - 1
	switch {
	case cut.Why != "":
		c.native = true
	case !c.native:
		if c.patched == nil {
			c.patched = before.fork()
		}
		c.patched.msgs.cut(c.patched.msgs.index(cut.Index), msg)
	}
	return nil
}

// follows reports whether only labels lie between a record and the entry at hand.
func (m *machine) follows(rec int) bool {
	i := m.pos - 1
	for i >= 0 && m.r.Session.Kind(m.path.at(i)) == jsonl.Label {
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

// awaits reports whether there are edits between two places of the path whose targets may
// yet come.
func (m *machine) awaits(from, to int32) bool {
	for target, e := range m.edits {
		if e.pos >= from && e.pos < to && m.placeOnPath(int(target)) < 0 {
			return true
		}
	}
	return false
}

// hasDelta reports whether there are system messages, edits of them aside.
func hasDelta(deltas []delta) bool {
	for _, d := range deltas {
		if d.op == nil {
			return true
		}
	}
	return false
}

// keepsSame reports whether a compaction with that first kept place would keep of s
// what it keeps in next, after its own messages.
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
		if i < 0 || l.at(i).Place() != want.Place() {
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
	case at < l.n && !l.at(at).Sent():
		return 0, "the first message that it keeps is left out by an edit, so that no index names it"
	}
	shown := l.shown
	for i := at; i < l.n; i++ {
		if l.at(i).Sent() {
			shown--
		}
	}
	return shown, ""
}
