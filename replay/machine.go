package replay

import (
	"hash/maphash"
	"iter"
	"slices"
	"sort"

	"ctxtool/replay/origin"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// A state is what replaying has built so far. Copying it is a snapshot.
type state struct {
	msgs     list
	uncached []Piece
	deltas   []delta // what made prompt, tools and options, in the order in which it applies
	from     int32   // edits before this place on the path are forgotten
}

// A delta is a system message, or an op on prompt, tools or options.
type delta struct {
	m  Piece // where it stands; for an op the stretch of the op
	op *op   // nil for a system message
}

// A machine replays a path, one entry after the other. It keeps two states: one
// as if no compaction had happened, and one under the compaction in force. Only
// the last compaction of a path has effect, so when the next one comes it cuts
// the first state, and what the one before had dropped can come back.
type machine struct {
	r    *Replay
	path trail
	load *Reader

	aside   *Reader          // of messages, beside the line at hand
	hashes  map[Piece]uint64 // see digests
	spelled []byte           // a message in one spelling, to be hashed

	base state
	cut  *state // under the last compaction; nil before the first
	// For each record that edits aim at, the last edit of it.
	edits map[int32]edit
	where map[*state]map[int32]int // places of records in the lists, made when an edit needs them

	pos       int // of the last entry done
	model     int // record that set the model last, -1 for none
	thinking  int // record that set the thinking level last, -1
	ephemeral int // record that logged the next request's ephemeral messages, -1
	turn      int // user prompts so far, less one
	request   int // answers so far

	prompt Prompting // prompt and tools, where they are asked for

	watch   []Observer
	change  Change          // the last one
	counter *tokens.Counter // counts each message where it is set

	transforms []int // records of the path's context_transforms
	logged     int   // ephemeral entries so far
}

func newMachine(r *Replay, watch ...Observer) *machine {
	return &machine{
		r: r, watch: watch, load: r.NewReader(), aside: r.NewReader(),
		edits: map[int32]edit{}, where: map[*state]map[int32]int{},
		pos: -1, model: -1, thinking: -1, ephemeral: -1, turn: -1,
	}
}

// now is the state in force.
func (m *machine) now() *state {
	if m.cut != nil {
		return m.cut
	}
	return &m.base
}

// An Operation is a thing that can be done to a context. A machine knows no others; what
// entries and ops of patches do is said in these (rules.go, patch.go).
type Operation uint8

// The operations.
const (
	OpAppend   Operation = iota // messages come after the others, or after all cached ones
	OpRemove                    // messages of an entry are left out or say something else, or no longer do
	OpCut                       // a summary stands for the messages before some place
	OpReplace                   // other messages stand for all
	OpTakeBack                  // what compactions cut is there again, and a new one cuts it
	OpSet                       // prompt, tools or options become others
)

// A Change is an operation with what it is done to. It is valid until the next one.
type Change struct {
	Do   Operation
	By   origin.Origin    // the entry, and the op of its patch
	Gone iter.Seq[*Piece] // messages that OpCut, OpReplace or OpTakeBack took out of the request

	piece   Piece // the message that is appended; of a patch, where its op stands
	op      *op   // of a patch
	v       value // the op
	edit    edit
	changed bool     // by the edit: a message of the request
	cut     *cutting // of OpTakeBack
}

// Came is the message that an entry appended, nil where it is another change.
func (c *Change) Came() *Piece {
	if c.Do != OpAppend || c.op != nil {
		return nil
	}
	return &c.piece
}

// do makes a change, in the state in force and in the one without compactions.
func (m *machine) do(c Change) error {
	m.change = c
	if err := m.apply(&m.base, &m.change); err != nil {
		return err
	}
	if m.cut != nil {
		if err := m.apply(m.cut, &m.change); err != nil {
			return err
		}
	}
	return m.tell()
}

// tell tells of the last change.
func (m *machine) tell() error {
	for _, o := range m.watch {
		if err := o.Changed(m.at(), &m.change); err != nil {
			return err
		}
	}
	return nil
}

// apply makes a change in one state.
func (m *machine) apply(s *state, c *Change) error {
	switch {
	case c.op == nil && c.Do == OpRemove:
		return m.applyEdit(s, c)
	case c.op == nil:
		return m.add(s, c.piece)
	case c.op.fold != nil:
		s.deltas = append(s.deltas, delta{m: c.piece, op: c.op})
		return nil
	}
	return c.op.apply(m, s, c)
}

// at is the step at hand, as observers see it.
func (m *machine) at() Step { return Step{Record: m.path.at(m.path.len() - 1), m: m} }

// size counts a message, where the machine counts.
func (m *machine) size(msg *Piece) error {
	if m.counter == nil {
		return nil
	}
	msg.tokens = 0
	if !msg.Sent() {
		return nil
	}
	n, _, err := m.aside.Tokens(m.counter, msg)
	msg.tokens = int32(n)
	return err
}

// add appends a message to a state, under the edit that already aims at it.
func (m *machine) add(s *state, msg Piece) error {
	if e, ok := m.edits[msg.rec]; ok && e.pos >= s.from {
		e.apply(&msg)
		if err := m.size(&msg); err != nil {
			return err
		}
	}
	if places := m.where[s]; places != nil && msg.op < 0 {
		if _, ok := places[msg.rec]; !ok {
			places[msg.rec] = s.msgs.hi
		}
	}
	s.msgs.push(msg)
	if msg.kind == jsonl.System {
		s.deltas = append(s.deltas, delta{m: msg})
	}
	return nil
}

// rebuilt reports that a state's list has been made anew.
func (m *machine) rebuilt(s *state) { delete(m.where, s) }

// nearby is how many messages from the end are looked through before all places
// are recorded: most edits aim at something recent.
const nearby = 64

// place is where the first message of a record stands in a state's list, -1 if
// none is there.
func (m *machine) place(s *state, rec int32) int {
	if i := s.msgs.recent(rec, nearby); i >= 0 {
		return i
	}
	places := m.where[s]
	if places == nil {
		places = s.msgs.places()
		m.where[s] = places
	}
	return s.msgs.find(rec, places)
}

// A trail is the path that a machine goes, root first. Machines that part share what
// they have in common.
type trail struct {
	above *trail // what it had when it parted from another; nil for the first
	from  int    // how long that is
	own   []int32
}

func (t *trail) len() int { return t.from + len(t.own) }

func (t *trail) at(pos int) int {
	for pos < t.from {
		t = t.above
	}
	return int(t.own[pos-t.from])
}

func (t *trail) push(rec int) { t.own = append(t.own, int32(rec)) }

// fork is the trail so far, to go on another way.
func (t *trail) fork() trail {
	above := *t // the other goes on after it
	return trail{above: &above, from: t.len()}
}

// place is where a record stands before a place, -1 if it does not.
func (t *trail) place(rec, before int) int {
	for ; t != nil; t = t.above {
		part := t.own[:max(0, min(before-t.from, len(t.own)))]
		at := sort.Search(len(part), func(i int) bool { return int(part[i]) >= rec })
		if at >= len(part) || int(part[at]) != rec {
			at = slices.Index(part, int32(rec)) // parents may come after their children
		}
		if at >= 0 {
			return t.from + at
		}
	}
	return -1
}

var digestSeed = maphash.MakeSeed()

// digest is a hash of a message by what it says, however it is spelled. It is
// good for one run only.
func (m *machine) digest(v value) uint64 {
	m.spelled = v.AppendCompact(m.spelled[:0])
	return maphash.Bytes(digestSeed, m.spelled)
}

// digests maps the hashes of a list's shown messages to their places, in order: of those that
// may equal one of these kinds. Messages that entries made are hashed once a machine.
func (m *machine) digests(l *list, like map[jsonl.Kind]bool) (map[uint64][]int, error) {
	if m.hashes == nil {
		m.hashes = map[Piece]uint64{}
	}
	out := make(map[uint64][]int, l.shown)
	for i, msg := range l.all {
		if !msg.Sent() || !like[providerKind(msg.kind)] {
			continue
		}
		h, ok := m.hashes[*msg]
		if !ok {
			v, err := m.aside.Provider(msg)
			if err != nil {
				return nil, err
			}
			h = m.digest(v)
			m.hashes[*msg] = h
		}
		out[h] = append(out[h], i)
	}
	return out, nil
}

// providerKind is one kind for all messages that a provider may get alike.
func providerKind(k jsonl.Kind) jsonl.Kind {
	if k == jsonl.Assistant || k == jsonl.ToolResult {
		return k
	}
	return jsonl.User
}

// applyEdit applies an edit to the messages of its target that are in a state.
func (m *machine) applyEdit(s *state, c *Change) error {
	e, target := c.edit, c.edit.target
	i := m.place(s, target)
	if i < 0 {
		return nil
	}
	c.changed = c.changed || s == m.now()
	for ; i < s.msgs.n && s.msgs.at(i).rec == target; i++ {
		msg := *s.msgs.at(i)
		e.apply(&msg)
		if err := m.size(&msg); err != nil {
			return err
		}
		s.msgs.set(i, msg)
	}
	if k := m.r.Session.Kind(int(target)); k != jsonl.System && k != jsonl.Compaction {
		return nil // nothing of the prompt comes from it
	}
	for k, d := range s.deltas {
		if d.op == nil && d.m.rec == target {
			s.deltas = slices.Clone(s.deltas) // snapshots keep theirs
			e.apply(&s.deltas[k].m)
		}
	}
	return nil
}
