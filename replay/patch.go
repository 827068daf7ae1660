package replay

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"ctxtool/internal/ops"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Cut is what a compaction entry did to the history, and whether a compaction_apply patch
// right before the entry could have done the same.
type Cut struct {
	Record int
	Above  int // index in the list of the previous cut on its path; -1 for none
	// Index is the patch's firstKeptMessageIndex: the index of the first kept message among the
	// cached messages of the request.
	Index int
	// Why is the reason that no patch has the same effect on every later envelope. It is empty
	// if one has, where the compactions before it are patches too.
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

// A cutter compares each compaction with the patch that could replace it. The messages before one
// are then the same for both, apart from those that no provider gets.
type cutter struct {
	cuts *[]Cut
	last int // of them on this path
}

// compacted compares a compaction entry, which adds heads messages of its own, with the state before it.
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

// unpatchable returns why no patch can do what the current compaction does, as far as that is
// known without the messages that it keeps.
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

// awaits reports whether an edit between two places of the path may still get its target.
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

// tail returns the place in l at which the messages of other from index own on begin, ignoring
// messages that no provider gets. It is -1 if l does not end with them.
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

// indexOfTail returns the index among the shown messages of l of the first message that a
// compaction keeps (kept from index own on), or why there is no such index.
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

// does returns what a patch operation does to a context.
func does(o *ops.Op) Operation {
	switch o.Name {
	case ops.Replace:
		return OpReplace
	case ops.Append:
		return OpAppend
	case ops.Compaction:
		return OpCut
	}
	return OpSet
}

// transform applies all ops of a context_transform. With --lenient it applies none if the
// reference code would reject the patch.
func (m *machine) transform(at Piece) Effect {
	line := m.line(int(at.rec))
	if m.err != nil {
		return Nothing
	}
	patch := line.Get("patch")
	if err := m.checkPatch(int(at.rec), line, patch); err != nil {
		if !m.r.Options.Lenient {
			m.fail(m.r.stopped(int(at.rec), m.before(), errors.New(err.Text)))
			return Nothing
		}
		m.r.addFinding(err.Code, int(at.rec), "%s: the whole patch is skipped", err.Text)
		return Nothing
	}
	k, did := int32(0), Patched
	if line.Get("transformerName").Is("compaction") {
		did = Compacted
	}
	for v := range patch.Elements {
		if o := ops.Find(v.Get("op")); o != nil {
			if o.Name == ops.Compaction {
				did = Compacted
			}
			at.op = k
			at.start, at.size = span(line, v)
			m.do(change{Change: Change{By: at.Origin(), Name: o.Name, Target: -1, Do: does(o)}, piece: at, op: o, v: v})
		}
		k++
	}
	return did
}

// before returns the id of the previous entry, for a hint.
func (m *machine) before() string {
	if m.pos > 0 {
		return sessionfmt.Quote(m.r.Session.ID(m.path.at(m.pos - 1)))
	}
	return "root"
}

// A brokenPatch is the reason that a replay stops.
type brokenPatch struct{ error }

func (b brokenPatch) Unwrap() error { return b.error }

// Stopped reports whether an error is a patch at which a replay stops, rather than a failure to
// read the file.
func Stopped(err error) bool { return err != nil && errors.As(err, new(brokenPatch)) }

// stopped returns the error of a replay that stops at a transform.
func (r *Replay) stopped(rec int, before string, err error) error {
	return &sessionfmt.Error{
		Pos: r.Session.Pos(rec),
		Err: brokenPatch{err},
		Hint: fmt.Sprintf("--lenient continues as the reference code does; --at %s is the last state before it",
			before),
	}
}

// checkPatch validates a transform's patch before any of it is applied. What the reference code
// accepts is a fault only without --lenient.
func (m *machine) checkPatch(rec int, line, patch value) *ops.Fault {
	if f := ops.Schema(line.Get("schemaVersion")); f != nil {
		if !m.r.Options.Lenient {
			return f
		}
		m.r.addFinding(f.Code, rec, "%s: applied as if it were", f.Text)
	}
	if !patch.IsArray() {
		return &ops.NotArray
	}
	k := 0
	for v := range patch.Elements {
		if f := ops.Check(k, v); f != nil {
			if !f.Lenient || !m.r.Options.Lenient {
				return f
			}
			m.r.addFinding(f.Code, rec, "%s: ignored", f.Text)
		}
		if f := ops.Scope(k, v); f != nil {
			m.r.addFinding(f.Code, rec, "%s", f.Text)
		}
		k++
	}
	return nil
}

// applySummary puts a summary in place of the cached messages before an index. An index
// below 0 or missing counts as 0, a fraction is truncated, and one beyond the end keeps only
// the summary.
func applySummary(m *machine, s *state, c *change) {
	v, at := c.v, c.piece
	f, ok := v.Get("firstKeptMessageIndex").Float()
	if cached := s.msgs.shown; s == m.current() && ok && (f < 0 || f > float64(cached) || f != math.Trunc(f)) {
		m.r.addFinding("patch-index", int(at.rec), "op %d (compaction_apply): firstKeptMessageIndex is %s in a list "+
			"of %d messages: below 0 counts as 0, beyond the end keeps nothing, a fraction is truncated",
			at.op, v.Get("firstKeptMessageIndex"), cached)
	}
	first := s.msgs.index(int(max(0, min(f, float64(s.msgs.n)))))
	at.form, at.kind = opSummary, jsonl.CompactionMessage
	s.msgs.cut(first, m.pool.intern(at))
}

// patchMessage returns the message v in the op at.
func patchMessage(v, op value, at Piece) Piece {
	at.form = patchGiven
	at.kind = v.Get("role").RoleKind()
	if at.kind == jsonl.System { // an ordinary provider message here
		at.kind = jsonl.OtherMessage
	}
	start, size := span(op, v)
	at.start, at.size = at.start+start, size
	return at
}

func appendUncached(m *machine, s *state, c *change) {
	for el := range c.v.Get("messages").Elements {
		msg := patchMessage(el, c.v, c.piece)
		s.uncached = append(s.uncached, m.pool.intern(msg))
	}
}

// replaceCached puts a new list in place of the cached messages. A message that equals
// an earlier one keeps its origin, and so does the summary of the same patch in another frame.
// Among equal messages the first is matched first. Prompts that an entry of another agent keeps are
// taken from where they are stored, and what it puts after them is new.
func replaceCached(m *machine, s *state, c *change) {
	next := newList(m.pool)
	next.systems = s.msgs.declarations() // are not cached messages
	next.n = len(next.systems)
	messages := slices.Collect(c.v.Get("messages").Elements)
	kept, ok := m.r.Session.Kept(int(c.piece.rec))
	if ok {
		m.prompts.hi = min(m.prompts.hi, kept.To)
		m.prompts.n = m.prompts.hi
	}
	before := len(messages) // those that may equal an earlier one
	if kept.Count() > 0 {
		next.share(&m.prompts, kept.From)
		before = kept.Before()
	}
	had := m.digests(s.msgs.apart(&next), messages[:before])
	for k := range messages {
		put := (*list).push
		if k < before && kept.Count() > 0 {
			put, k = (*list).prepend, before-1-k
		}
		el := messages[k]
		if k < before {
			h := m.digest(el)
			if all := had[h]; len(all) > 0 {
				put(&next, all[0])
				had[h] = all[1:]
				continue
			}
		}
		msg := patchMessage(el, c.v, c.piece)
		if k == 0 {
			m.reframe(&s.msgs, el, &msg)
		}
		put(&next, m.pool.intern(msg))
	}
	if kept.Count() == 0 {
		next.body.loose = next.hi
	}
	s.msgs = next
}

// reframe makes msg, the first message el of the new list, the summary that l begins with, if an
// earlier op of the same patch made that and el has its text: a system's own frame takes the
// place of pi's.
func (m *machine) reframe(l *list, el value, msg *Piece) {
	for _, was := range l.all {
		if was.kind == jsonl.System {
			continue
		}
		if was.form != opSummary || was.rec != msg.rec {
			break
		}
		summary, err := m.reader.Summary(was)
		m.fail(err)
		if summary != "" && strings.Contains(el.Get("content").ContentText(), summary) {
			start, size := msg.start, msg.size
			*msg = was
			msg.form, msg.start, msg.size = framedSummary, start, size
		}
		return
	}
}

// Summary returns the exact summary in a message without its frame, empty if there is none.
func (l *Reader) Summary(m Piece) (string, error) {
	if m.form != framedSummary {
		v, err := l.Agent(m)
		return v.Get("summary").Exact(), err
	}
	line, err := l.lines.Line(int(m.rec))
	if err != nil {
		return "", err
	}
	k := int32(0)
	for op := range line.Get("patch").Elements {
		if k == m.op {
			return op.Get("summary").Exact(), nil
		}
		k++
	}
	return "", nil
}
