package replay

import (
	"hash/maphash"
	"slices"
	"sort"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// A state is what replaying has built so far. Copying it is a snapshot.
type state struct {
	msgs     list
	uncached []message
	deltas   []delta // what made prompt, tools and options, in the order in which it applies
	from     int32   // edits before this place on the path are forgotten
}

// A delta is a system message, or an op on prompt, tools or options.
type delta struct {
	m  message // where it stands; for an op the stretch of the op
	op *op     // nil for a system message
}

// A machine replays a path, one entry after the other. It keeps two states: one
// as if no compaction had happened, and one under the compaction in force. Only
// the last compaction of a path has effect, so when the next one comes it cuts
// the first state, and what the one before had dropped can come back.
type machine struct {
	r    *Replay
	path trail
	load *loader

	aside   *loader            // of messages, beside the line at hand
	hashes  map[message]uint64 // see digests
	spelled []byte             // a message in one spelling, to be hashed

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

	prompt prompting // prompt and tools, where a lens asks at every step

	watch   observer
	beside  *state          // one that an observer keeps beside the others; may be nil
	counter *tokens.Counter // counts each message where it is set

	transforms []int // records of the path's context_transforms
	logged     int   // ephemeral entries so far
}

func newMachine(r *Replay) *machine {
	return &machine{
		r: r, watch: unconcerned{}, load: r.newLoader(), aside: r.newLoader(),
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

// each calls f with the states that go on.
func (m *machine) each(f func(*state)) {
	f(&m.base)
	if m.cut != nil {
		f(m.cut)
	}
	if m.beside != nil {
		f(m.beside)
	}
}

// step applies the entry at a place of the path.
func (m *machine) step(pos, rec int) (Effect, error) {
	m.pos = pos
	kind := m.r.Session.Kind(rec)
	msg := message{rec: int32(rec), pos: int32(pos), edit: -1, op: -1, kind: kind}
	switch kind {
	case jsonl.NoMessage:
		m.r.find("no-message", rec, "a message entry without a message: pi cannot build a context with it; it adds nothing")
		return Nothing, nil
	case jsonl.ModelChange:
		m.model = rec
		return Settings, nil
	case jsonl.ThinkingChange:
		m.thinking = rec
		return Settings, nil
	case jsonl.Compaction:
		return m.compact(msg)
	case jsonl.ContextEdit:
		return m.edit(rec, pos)
	case jsonl.Ephemeral:
		m.ephemeral = rec
		m.logged++
		return Nothing, nil
	case jsonl.Transform:
		did, err := Nothing, error(nil)
		if m.r.Rules == ByEnvelope {
			did, err = m.transform(msg)
		}
		if err == nil {
			m.transforms = append(m.transforms, rec)
		}
		return did, err
	}
	if kind == jsonl.Assistant {
		if err := m.watch.request(m, rec); err != nil {
			return Nothing, err
		}
	}
	added, err := m.message(&msg)
	if err != nil || !added {
		return Nothing, err
	}
	switch kind {
	case jsonl.User:
		m.turn++
	case jsonl.Assistant:
		m.request++
		m.model, m.ephemeral = rec, -1
	}
	if err := m.size(&msg); err != nil {
		return Nothing, err
	}
	m.each(func(s *state) {
		if err == nil {
			err = m.add(s, msg)
		}
	})
	return Added, err
}

// message completes msg, and says whether its entry adds a message at all
// (spec/pi-1.5.md 4.4; spec/pi-format.md 4.3 and 5).
func (m *machine) message(msg *message) (bool, error) {
	envelope := m.r.Rules == ByEnvelope
	switch msg.kind {
	case jsonl.CustomMessage:
		msg.form, msg.kind = custom, jsonl.Custom
	case jsonl.BranchSummary:
		msg.form, msg.kind = branch, jsonl.BranchMessage
		line, err := m.load.lines.Line(int(msg.rec))
		if err != nil {
			return false, err
		}
		return envelope || line.Get("summary").Truthy(), nil
	case jsonl.HookMessage:
		if !envelope {
			msg.flags |= unsent
		}
	case jsonl.Bash:
		line, err := m.load.lines.Line(int(msg.rec))
		if err != nil {
			return false, err
		}
		if line.Get("message").Get("excludeFromContext").Truthy() {
			if !envelope || !m.r.opt.Lenient {
				msg.flags |= unsent
			} else {
				m.r.find("excluded-sent", int(msg.rec), "excluded from the context, but the reference code sends it")
			}
		}
	case jsonl.TransformMessage, jsonl.OtherMessage:
		msg.flags |= unsent
	default:
		return msg.kind.IsMessage(), nil
	}
	return true, nil
}

// size counts a message, where the machine counts.
func (m *machine) size(msg *message) error {
	if m.counter == nil {
		return nil
	}
	msg.tokens = 0
	if !msg.shown() {
		return nil
	}
	n, err := m.aside.tokens(m.counter, msg)
	msg.tokens = int32(n)
	return err
}

// add appends a message to a state, under the edit that already aims at it.
func (m *machine) add(s *state, msg message) error {
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
	above := *t // the other goes on behind it
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

// digests maps the hashes of a list's shown messages to their places, in order.
// Messages that entries made are hashed once a machine.
func (m *machine) digests(l *list) (map[uint64][]int, error) {
	if m.hashes == nil {
		m.hashes = map[message]uint64{}
	}
	out := make(map[uint64][]int, l.shown)
	for i, msg := range l.all {
		if !msg.shown() {
			continue
		}
		h, ok := m.hashes[*msg]
		if !ok {
			v, err := m.aside.provider(msg)
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
