package replay

import "ctxtool/sessionfmt/jsonl"

// A Cut is what a compaction entry did to the history, and whether a compaction_apply patch
// right before the entry could have done the same.
type Cut struct {
	Record int
	Above  int // index in the list of the previous cut on its path; -1 for none
	// Index is the patch's firstKeptMessageIndex: the index of the first kept message among the
	// cached messages of the request.
	Index int
	// Why is the reason that no patch has the same effect on every later envelope. It is empty if one does,
	// provided that the compactions before it are patches too.
	Why string
}

// Cuts returns the compactions of the whole file that take effect under the envelope rules,
// except those that only repeat a transform. It leaves out entries after a patch at which a
// replay stops, and entries below a parent cycle. A compaction comes before later ones on its
// path.
func (r *Replay) Cuts() (cuts []Cut, err error) {
	any := false
	for i := range r.Session.Len() {
		any = any || r.Session.Kind(i) == jsonl.Compaction
	}
	if !any {
		return nil, nil
	}
	quiet := *r // only the caller's replay reports findings
	quiet.Rules = ByEnvelope
	m := newMachine(&quiet)
	m.cutter = &cutter{cuts: &cuts, last: -1}
	for _, err := range m.tree(quiet.Session.Tree()) {
		if err != nil && !Stopped(err) {
			return nil, err
		}
	}
	return cuts, nil
}

// A cutter compares each compaction with the patch that could replace it. Up to there, both have the same
// messages, except those that no provider gets.
type cutter struct {
	cuts *[]Cut
	last int // system messages on this path
}

// compacted compares a compaction entry, which adds heads messages itself, with the state before it.
func (c *cutter) compacted(m *machine, msg Piece, line value, before *state, heads int) {
	cut := Cut{Record: int(msg.rec), Above: c.last}
	place := m.keptPlace(int(msg.rec), line)
	if cut.Why = m.unpatchable(line, place, before, m.cut); cut.Why == "" {
		cut.Index, cut.Why = before.msgs.indexOfTail(&m.cut.msgs, heads)
	}
	c.last = len(*c.cuts)
	*c.cuts = append(*c.cuts, cut)
}

// keptPlace returns the place on the path of a compaction's first kept entry. It is the
// compaction's own place if it keeps nothing, and -1 if no earlier entry has that id.
func (m *machine) keptPlace(rec int, line value) int {
	var f [2]value
	line.Fields(f[:], "firstKeptEntryId", "firstKeptEntryIndex")
	kept := m.r.Session.FirstKept(rec, f[0], f[1])
	if kept == rec {
		return m.pos
	}
	return m.placeOnPath(kept)
}

// unpatchable returns why no patch can do what the current compaction does, as far as that is known without
// looking at the kept messages.
func (m *machine) unpatchable(line value, place int, before, next *state) string {
	var f [3]value
	line.Fields(f[:], "summary", "timestamp", "systemMessage")
	switch {
	case f[2].Truthy():
		return "it carries a checkpoint of prompt and tools, which no patch sets"
	case hasDelta(before.deltas) || hasDelta(next.deltas):
		return "it drops system messages, which a patch would leave in place"
	case !f[0].IsString():
		return "its summary is not text"
	case place < 0:
		return "its first kept entry is not on the path before it: pi keeps nothing, the envelope rules keep everything"
	}
	if _, ok := f[1].Date(); !ok {
		return "it has no valid time, which a patch requires"
	}
	if m.awaits(min(before.from, next.from), max(before.from, next.from)) {
		return "it drops or restores an edit whose target comes later"
	}
	return ""
}

// awaits reports whether an edit between two places of the path may still find its target.
func (m *machine) awaits(from, to int32) bool {
	for target, e := range m.edits {
		if e.pos >= from && e.pos < to && m.placeOnPath(int(target)) < 0 {
			return true
		}
	}
	return false
}

// hasDelta reports whether a delta is a system message, or an edit of one.
func hasDelta(deltas []delta) bool {
	for _, d := range deltas {
		if d.op == nil {
			return true
		}
	}
	return false
}

// tail returns the place in l at which the messages of other from index own on begin, ignoring messages that no
// provider gets; -1 if l does not end with them.
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

// indexOfTail returns the index of the first kept message among the shown messages of l (kept from index own
// on), or why there is no such index.
func (l *list) indexOfTail(kept *list, heads int) (int, string) {
	at := l.tail(kept, heads)
	switch {
	case at < 0:
		return 0, "it keeps messages that an earlier compaction cut, or undoes an edit of one"
	case at < l.n && !l.at(at).Sent():
		return 0, "the first message that it keeps is omitted by an edit, so no index refers to it"
	}
	shown := l.shown
	for i := at; i < l.n; i++ {
		if l.at(i).Sent() {
			shown--
		}
	}
	return shown, ""
}
