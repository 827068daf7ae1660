package replay

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sort"

	"ctxtool/internal/read/ops"
	"ctxtool/replay/origin"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// A state is the result of a replay so far. Copying it makes a snapshot.
type state struct {
	msgs     list
	uncached []int32 // numbers of messages
	deltas   []delta // changes of prompt, tools and options, in the order in which they apply
	from     int32   // edits before this place on the path no longer apply
}

// A delta is a system message, or an op on prompt, tools or options.
type delta struct {
	m  Piece   // its origin; for an op also its range in the line
	op *ops.Op // nil for a system message
}

// A machine replays a path, one entry after the other. It keeps two states: one without any
// compaction, and one with the compaction in force. Only the last compaction of a path has an
// effect: it cuts the first state, so messages that an earlier one dropped can return.
type machine struct {
	r    *Replay
	path trail
	load *Reader

	reader  *Reader          // reads messages other than the current line
	err     error            // first error, which ends the step and the walk
	hashes  map[int32]uint64 // by number; see digests
	spelled []byte           // a message in normalized JSON, for hashing

	pool *pool // all messages of this machine and its forks
	// Last snapshot of the list; see Step.Messages.
	version *version
	base    state
	cut     *state // state under the last compaction; nil before the first
	// Last edit of each edited record.
	edits    map[int32]edit
	early    []int32 // records that were edited before they appeared
	prompts  list    // prompts of the path that were not taken back; see replaceCached
	declared []delta // system messages before and after the first compaction, which removes them from base

	pos       int      // last entry replayed
	altered   int      // place on the path of the last entry that changed messages sent before, -1 for none
	model     int      // last record that set the model, -1 for none
	thinking  int      // last record that set the thinking level, -1 for none
	ephemeral int      // record that logged the next request's ephemeral messages, -1 for none
	used      rule.Set // rules that replaying the path has used
	turn      int      // user prompts so far, minus one
	request   int      // answers so far

	prompt PromptTracker // prompt and tools, if Step.Tools is called

	watch   []Observer
	changed func(Step, *Change) error // see Walk.OnChange
	cutter  *cutter                   // see Replay.Cuts
	change  change                    // the last one
	last    *Change                   // see Step.Changed

	transforms []int // records of the path's context_transforms
	logged     int   // ephemeral entries so far
}

func newMachine(r *Replay, watch ...Observer) *machine {
	p := new(pool)
	return &machine{
		r: r, watch: watch, load: r.NewReader(), reader: r.NewReader(), pool: p, base: state{msgs: newList(p)},
		prompts: newList(p),
		edits:   map[int32]edit{},
		pos:     -1, altered: -1, model: -1, thinking: -1, ephemeral: -1, turn: -1,
	}
}

// current returns the state in force.
func (m *machine) current() *state {
	if m.cut != nil {
		return m.cut
	}
	return &m.base
}

// An Operation is a primitive change of a context, from which all entries and patch ops are built (rules.go,
// patch.go).
type Operation uint8

// Operations.
const (
	OpAppend    Operation = iota // appends messages, after all or after all cached ones
	OpRemove                     // omits, replaces or restores the messages of an entry
	OpCut                        // puts a summary in place of the messages before an index
	OpReplace                    // replaces all messages
	OpRecompact                  // restores what compactions cut, then cuts for a new one
	OpSet                        // sets prompt, tools or options
	OpChoose                     // chooses the model or the thinking level
)

// A Change is what an entry, or an op of its patch, did to the context of a path.
type Change struct {
	// Before is the previous change on the path, nil for the first. Changes that only append messages are not
	// linked, except for system messages.
	Before *Change
	By     origin.Origin // the entry, and the op of its patch
	Name   string        // name of that op, empty for the entry itself
	Target int           // the record whose messages it edits, -1 for none
	Place  int32         // place of the entry on the path
	Do     Operation
}

// A change is a Change with the arguments of its operation. It is valid until the next one.
type change struct {
	Change
	piece   Piece   // the appended message; for a patch, its origin
	number  int32   // size of that message; -1 for a patch
	op      *ops.Op // line of a patch, else nil
	v       value   // the op as JSON
	edit    edit
	changed bool // the edit changed a message of the request
}

// fail ends the step with an error, unless it is nil.
func (m *machine) fail(err error) { m.err = cmp.Or(m.err, err) }

// line returns the line of a record, nil after an error.
func (m *machine) line(rec int) value {
	line, err := m.load.lines.Line(rec)
	m.fail(err)
	return line
}

// do applies a change to the current state and to the one without compactions.
func (m *machine) do(c change) {
	m.change = c
	if c.Do != OpAppend && c.Do != OpSet {
		m.altered = m.path.len() - 1
	}
	m.apply(&m.base, &m.change)
	if m.cut != nil {
		m.apply(m.cut, &m.change)
	}
	m.notify()
}

// notify links and reports the last change.
func (m *machine) notify() {
	c := &m.change.Change
	if c.Do != OpAppend || m.r.Session.Kind(c.By.Record) == jsonl.System {
		c = new(*c)
		c.Before, c.Place, m.last = m.last, int32(m.path.len()-1), c
	}
	if m.changed != nil && m.err == nil {
		m.fail(m.changed(m.at(), c))
	}
}

// apply applies a change to one state.
func (m *machine) apply(s *state, c *change) {
	switch {
	case c.op == nil && c.Do == OpRemove:
		m.applyEdit(s, c)
	case c.op == nil:
		m.add(s, c.number, (*list).push)
	case c.op.Fold != nil:
		s.deltas = append(s.deltas, delta{m: c.piece, op: c.op})
	case c.Do == OpReplace:
		replaceCached(m, s, c)
	case c.Do == OpCut:
		applySummary(m, s, c)
	default:
		appendUncached(m, s, c)
	}
}

// at returns the current step, as observers see it.
func (m *machine) at() Step { return Step{Record: m.path.at(m.path.len() - 1), m: m} }

// add puts a message into a state, applying an edit that already targets it. Once there is a compaction, the
// state without one has no system messages; see state.dropSystems.
func (m *machine) add(s *state, number int32, put func(*list, int32)) {
	msg := m.pool.at(number)
	if e, ok := m.edits[msg.rec]; ok && e.pos >= s.from {
		e.apply(&msg)
		number = m.pool.variant(number, msg)
		if s == &m.base {
			m.early = append(m.early, msg.rec)
		}
	}
	if s == &m.base && m.cut != nil && msg.kind == jsonl.System {
		m.declared = append(m.declared, delta{m: msg})
		return
	}
	put(&s.msgs, number)
	if msg.kind == jsonl.System {
		s.deltas = append(s.deltas, delta{m: msg})
	}
}

// place returns the index of a record's first message in a list, -1 if it has none.
func (m *machine) place(l *list, rec int32) int {
	if pos := m.placeOnPath(int(rec)); pos >= 0 {
		return l.place(rec, int32(pos))
	}
	return -1
}

// A trail is the path of a machine, root first. Forked machines share their common part.
type trail struct {
	above *trail // the trail at the fork; nil for the first
	from  int    // length of above
	own   []int32
	mixed bool // a parent may come after its child in the file
}

func (t *trail) len() int { return t.from + len(t.own) }

func (t *trail) at(pos int) int {
	for pos < t.from {
		t = t.above
	}
	return int(t.own[pos-t.from])
}

func (t *trail) push(rec int) {
	t.mixed = t.mixed || len(t.own) > 0 && int(t.own[len(t.own)-1]) > rec
	t.own = append(t.own, int32(rec))
}

// fork returns the trail for another branch.
func (t *trail) fork() trail {
	above := *t // the original continues to grow
	return trail{above: &above, from: t.len()}
}

// place returns the index of a record before an index, -1 if it is not on the trail.
func (t *trail) place(rec, before int) int {
	for ; t != nil; t = t.above {
		part := t.own[:max(0, min(before-t.from, len(t.own)))]
		at := sort.Search(len(part), func(i int) bool { return int(part[i]) >= rec })
		if at >= len(part) || int(part[at]) != rec {
			at = -1
			if t.mixed {
				at = slices.Index(part, int32(rec))
			}
		}
		if at >= 0 {
			return t.from + at
		}
	}
	return -1
}

var digestSeed = maphash.MakeSeed()

// digest returns a hash of a message's content, independent of its spelling. It is valid in one
// process only.
func (m *machine) digest(v value) uint64 {
	m.spelled = v.AppendMinified(m.spelled[:0])
	return maphash.Bytes(digestSeed, m.spelled)
}

// digests maps hashes of shown messages to their numbers, in order, limited to messages that may equal one of
// certain others, by kind. Messages of entries are hashed once per machine.
func (m *machine) digests(numbers []int32, others []value) map[uint64][]int32 {
	if m.hashes == nil {
		m.hashes = map[int32]uint64{}
	}
	like := map[jsonl.Kind]bool{}
	for _, el := range others {
		like[providerKind(el.Get("role").RoleKind())] = true
	}
	out := map[uint64][]int32{}
	for _, number := range numbers {
		msg := m.pool.at(number)
		if !msg.Sent() || !like[providerKind(msg.kind)] {
			continue
		}
		h, ok := m.hashes[number]
		if !ok {
			v, err := m.reader.Provider(msg)
			m.fail(err)
			h = m.digest(v)
			m.hashes[number] = h
		}
		out[h] = append(out[h], number)
	}
	return out
}

// providerKind maps kinds that a provider may get alike to one.
func providerKind(k jsonl.Kind) jsonl.Kind {
	if k == jsonl.Assistant || k == jsonl.ToolResult {
		return k
	}
	return jsonl.User
}

// applyEdit applies an edit to the messages of its target in a state.
func (m *machine) applyEdit(s *state, c *change) {
	e, target := c.edit, c.edit.target
	i := m.place(&s.msgs, target)
	c.changed = c.changed || i >= 0 && s == m.current()
	for ; i >= 0 && i < s.msgs.n && s.msgs.at(i).rec == target; i++ {
		msg := s.msgs.at(i)
		e.apply(&msg)
		s.msgs.set(i, m.pool.variant(s.msgs.number(i), msg))
	}
	if k := m.r.Session.Kind(int(target)); k != jsonl.System && k != jsonl.Compaction {
		return // it is not the origin of any part of the prompt
	}
	e.applyTo(&s.deltas)
	if s == &m.base {
		e.applyTo(&m.declared)
	}
}

// applyTo applies an edit to the system messages of its target.
func (e edit) applyTo(deltas *[]delta) {
	for k, d := range *deltas {
		if d.op == nil && d.m.rec == e.target {
			*deltas = slices.Clone(*deltas) // snapshots share the slice
			e.apply(&(*deltas)[k].m)
		}
	}
}
