package replay

import (
	"slices"

	"ctxtool/sessionfmt/jsonl"
)

// compact applies a compaction entry: the state without compactions is cut anew
// (spec/pi-1.5.md 4.2, spec/pi-format.md 4.3).
func (m *machine) compact(msg message) (Effect, error) {
	rec := int(msg.rec)
	if m.r.opt.Without[rec] {
		return Nothing, nil
	}
	if m.r.Rules == ByEnvelope {
		shadow, err := m.r.Shadows(rec)
		if err != nil || shadow {
			return Nothing, err
		}
	}
	line, err := m.load.lines.Line(rec)
	if err != nil {
		return Nothing, err
	}
	before := m.now()
	first, from := m.firstKept(rec, line)
	next := state{from: int32(from), uncached: slices.Clip(m.base.uncached)}
	m.watch.take(before.msgs.first(before.msgs.n), taker{msg.origin(), true}) // what is kept of them nobody will look for
	m.watch.take(m.base.msgs.first(first), taker{msg.origin(), true})
	m.cut = &next
	m.where = map[*state]map[int32]int{&m.base: m.where[&m.base]}

	if v := line.Get("systemMessage"); v.Truthy() {
		cp := msg
		cp.form, cp.kind = checkpoint, v.Get("role").RoleKind()
		cp.start, cp.size = stretch(line, v)
		if cp.kind >= jsonl.TransformMessage {
			cp.flags |= unsent
		}
		if err := m.size(&cp); err != nil {
			return Nothing, err
		}
		if err := m.add(&next, cp); err != nil {
			return Nothing, err
		}
		if cp.kind != jsonl.System {
			m.r.find("checkpoint-role", rec, "the compaction's systemMessage has another role: pi sends it as it stands")
		}
	} else if hasSystem(m.base.deltas) {
		m.r.find("no-checkpoint", rec, "a compaction without checkpoint: prompt and tools are lost to pi until it declares them again")
	}
	msg.form, msg.kind = summary, jsonl.CompactionMessage
	if err := m.size(&msg); err != nil {
		return Nothing, err
	}
	if err := m.add(&next, msg); err != nil {
		return Nothing, err
	}
	heads := next.msgs.n
	if err := m.keep(&next, &m.base.msgs, first); err != nil {
		return Nothing, err
	}
	for _, d := range m.base.deltas {
		if d.op != nil {
			next.deltas = append(next.deltas, d)
		}
	}
	return Compacted, m.watch.compacted(m, msg, line, before, &next, heads)
}

// keep adds the messages that a compaction keeps, those of a list from place first
// on, to the state that it makes.
func (m *machine) keep(next *state, of *list, first int) error {
	for i := first; i < of.n; i++ {
		kept := *of.at(i)
		if kept.form == plain && kept.kind == jsonl.System {
			continue
		}
		// An edit that lies before the kept entries is forgotten.
		if kept.edit >= 0 && m.edits[kept.rec].pos < next.from {
			kept.edit = -1
			kept.flags &^= omitted
			if err := m.size(&kept); err != nil {
				return err
			}
		}
		next.msgs.push(kept)
	}
	return nil
}

// Shadows says of a compaction entry whether it only repeats a patch: its parent is a
// context_transform named compaction. Labels in between do not count, to the reference
// code they do.
func (r *Replay) Shadows(rec int) (bool, error) {
	up := r.Session.Parent(rec)
	for steps := 0; up >= 0 && !r.opt.Lenient && r.Session.Kind(up) == jsonl.Label && steps < r.Session.Len(); steps++ {
		up = r.Session.Parent(up)
	}
	if up < 0 || r.Session.Kind(up) != jsonl.Transform {
		return false, nil
	}
	line, err := r.Session.NewReader().Line(up)
	return line.Get("transformerName").Is("compaction"), err
}

// firstKept is where keeping starts for a compaction: the index of the first
// message kept in the list without compactions, and the place on the path from
// which edits count.
func (m *machine) firstKept(rec int, line value) (first, from int) {
	var f [2]value
	line.Fields(f[:], "firstKeptEntryId", "firstKeptEntryIndex")
	kept := m.r.Session.FirstKept(rec, f[0], f[1])
	if kept == rec {
		return m.base.msgs.n, m.pos
	}
	if from = m.placeOnPath(kept); from < 0 {
		first, from = m.base.msgs.n, m.pos
		if m.r.Rules == ByEnvelope {
			first, from = 0, 0
		}
		m.r.find("kept-unknown", rec, "the compaction's first kept entry %s is not on the path before it: pi keeps nothing of what came before, the envelope rules keep everything", orMissing(f[0]))
		return first, from
	}
	first, exact := m.base.msgs.from(int32(from))
	if exact {
		return first, from
	}
	m.r.find("kept-no-message", rec, "the compaction's first kept entry (%s) gives no message: keeping starts at the next one after it", m.r.Session.Kind(kept))
	return first, from
}

// placeOnPath is where a record stands on the path before the entry at hand, -1
// if it does not.
func (m *machine) placeOnPath(rec int) int { return m.path.place(rec, m.pos) }

// hasSystem says whether there are system messages: then prompt and tools are in
// the session.
func hasSystem(deltas []delta) bool {
	for _, d := range deltas {
		if d.op == nil && d.m.flags&omitted == 0 {
			return true
		}
	}
	return false
}

// stretch is where v, which must be a piece of line itself and no copy, stands
// in it: both end their capacity at the same byte.
func stretch(line, v value) (start, size uint32) {
	return uint32(cap(line) - cap(v)), uint32(len(v))
}

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
	// Revives reports that the entry would mean something else if the compactions
	// before it were patches: it brings back what they cut.
	Revives bool
	// Direct reports that nothing but labels lies between the entry and the compaction
	// before it.
	Direct bool
}

// Cuts are the compactions of the whole file that count by the envelope rules: all
// but those that only repeat a transform. What stands behind a patch at which a
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
	start := func() observer { return &cutter{list: &cuts, last: -1} }
	for _, err := range quiet.walkTree(quiet.Session.Tree(), watching{start: start}) {
		if err != nil && !Stopped(err) {
			return nil, err
		}
	}
	return cuts, nil
}

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

// compacted records the compaction at hand.
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

// follows reports that only labels lie between a record and the entry at hand.
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

// awaits reports that there are edits between two places of the path whose targets may
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
