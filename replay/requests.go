package replay

import (
	"encoding/binary"
	"hash/maphash"
	"iter"
	"slices"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// A Request is one call of a provider: what it got, and the entry that answers it.
type Request struct {
	Step             // the answer
	Index  int       // from 0 along the answer's path
	After  int       // the answer to the request before on that path, -1 for none
	Before *Envelope // what the provider got
	// Prompt is a hash of prompt and tools, good for one run only, and Counts what
	// all of the request takes.
	Prompt uint64
	Counts Counts
	Known  bool // prompt and tools come from the session or a baseline
	// Prefix is what the messages of the request are, one after the other. It stays
	// as it is until the next request of the same path.
	Prefix *Prefix
}

// requests are those of a walk that askings watch.
func requests(steps iter.Seq2[Step, error]) iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		for step, err := range steps {
			switch a := step.m.watch.(*asking); {
			case err != nil:
				if !yield(Request{Step: step}, err) {
					return
				}
			case a.at == step.Record && !yield(a.of(step), nil):
				return
			}
		}
	}
}

// An asking is what a machine remembers of the requests on its path.
type asking struct {
	unconcerned
	c      *tokens.Counter
	at     int // the last answer
	after  int // the one before it
	before *Envelope
	front  *prompting // prompt and tools in front of the messages
	prompt uint64
	tools  uint64 // hash of the tools alone
	counts Counts
	prefix Prefix
	place  inPlace // where system messages are sent in place
}

func newAsking(r *Replay, c *tokens.Counter) *asking {
	return &asking{c: c, at: -1, after: -1, prefix: Prefix{says: newSayings(r, c)}}
}

// fork is the same for a machine that goes another way.
func (a *asking) fork() observer {
	next := *a
	next.prefix = a.prefix.fork()
	next.front, next.place = nil, inPlace{}
	return &next
}

// request records what the request got that the record at hand answers.
func (a *asking) request(m *machine, rec int) error {
	front, deltas := &m.prompt, m.now().deltas
	if a.prefix.inPlace {
		if fewer, later := a.place.follow(m.now()); later {
			front, deltas = &a.place.front, fewer
		}
	}
	changed, err := front.follow(m.r, deltas)
	if err != nil {
		return err
	}
	if changed || a.front != front {
		have, _ := m.r.implemented(front.f.tools)
		a.counts = countPrompt(a.c, front.f.parts, have)
		a.prompt = hashPrompt(compiled(m.r.Rules, front.f.parts), have)
		a.tools = hashPrompt("", have)
	}
	a.at, a.after, a.front = rec, a.at, front
	a.before = m.envelope()
	if a.before.Leaf = -1; m.pos > 0 { // the answer is not part of it
		a.before.Leaf = m.path.at(m.pos - 1)
	}
	return a.prefix.follow(a.before)
}

// of is the request that a step answers.
func (a *asking) of(step Step) Request {
	n := a.counts
	n.Messages = a.prefix.tokens(a.prefix.Len())
	n.Total = n.System + n.Tools + n.Messages
	return Request{
		Step: step, Index: a.before.RequestIndex, After: a.after, Before: a.before, Prompt: a.prompt, Counts: n,
		Known: a.front.own || step.m.r.opt.Baseline != nil, Prefix: &a.prefix,
	}
}

// An inPlace is the prompt in front of the messages, where system messages behind
// the first message are sent in their place and change nothing of it.
type inPlace struct {
	front  prompting
	deltas []delta // without those of later system messages
	seen   []delta // what they have been taken from
	lead   int     // system messages in front, when they were
	all    int     // system messages
}

// follow says whether there are later system messages, and gives the deltas without
// them. The slice goes on where it was as long as nothing but more deltas has come,
// so that each is folded once.
func (p *inPlace) follow(s *state) (deltas []delta, later bool) {
	lead := leadingSystems(&s.msgs)
	grown := len(p.seen) > 0 && lead == p.lead && len(s.deltas) >= len(p.seen) && &p.seen[0] == &s.deltas[0]
	if !grown {
		p.deltas, p.seen, p.lead, p.all = nil, nil, lead, 0
	}
	for _, d := range s.deltas[len(p.seen):] {
		if d.op == nil && d.m.inList() {
			if p.all++; p.all > lead {
				continue
			}
		}
		p.deltas = append(p.deltas, d)
	}
	p.seen = s.deltas
	return p.deltas, p.all > lead
}

// leadingSystems is how many system messages stand in front of all messages.
func leadingSystems(l *list) (n int) {
	for _, m := range l.all {
		if m.shown() {
			break
		}
		if m.inList() {
			n++
		}
	}
	return n
}

// inList reports that a message is a system message which is sent where it stands.
func (m *message) inList() bool {
	return m.kind == jsonl.System && m.form == plain && m.flags&omitted == 0
}

// A Prefix knows of the messages of a request, cached then uncached, what each says
// and what all before it say, without their texts: requests are compared by numbers.
type Prefix struct {
	// Same is how many messages at the start are those of the request before, where
	// nothing has to be compared to know.
	Same int
	// Cached is the number of cached messages; those behind are the uncached ones.
	Cached int

	// inPlace takes system messages behind the first message for messages: they are
	// sent where they stand.
	inPlace bool
	says    *sayings
	last    list // that of the request before
	sums    []sum
	gone    []sum   // what the request before had in place of those behind Same
	at      []int32 // of each place in the list, the cached messages before it
}

// A sum is a message, and all up to it.
type sum struct {
	place  message
	one    uint64 // hash of the message
	all    uint64 // hash of the messages up to it
	tokens int    // of the messages up to it
}

// sayings are the hashes and sizes of messages that have been read, each once for all
// machines of a replay.
type sayings struct {
	c     *tokens.Counter
	load  *loader
	known map[message]saying
	plain []saying // of records as they stand, where they have been read before; may be nil
	buf   []byte
}

// A saying is what is known of one message without its text.
type saying struct {
	hash   uint64 // of what it says
	spelt  uint64 // of its bytes
	tokens int32
	bytes  int32 // of its JSON
}

func newSayings(r *Replay, c *tokens.Counter) *sayings {
	return &sayings{c: c, load: r.newLoader(), known: map[message]saying{}}
}

// of reads what a message says: what a provider gets of it, so that the same words
// are the same wherever they stand.
func (s *sayings) of(m *message) (saying, error) {
	if m.form == plain && m.edit < 0 && s.plain != nil && s.plain[m.rec] != (saying{}) {
		return s.plain[m.rec], nil
	}
	place := m.place()
	if known, ok := s.known[place]; ok {
		return known, nil
	}
	said, err := s.read(m)
	if err == nil {
		s.known[place] = said
	}
	return said, err
}

// read is of without remembering.
func (s *sayings) read(m *message) (saying, error) { return s.load.say(s.c, m, &s.buf) }

// say reads a message that a provider gets. buf is for it to work in.
func (l *loader) say(c *tokens.Counter, m *message, buf *[]byte) (saying, error) {
	v, err := l.provider(m)
	if err != nil {
		return saying{}, err
	}
	if m.kind == jsonl.System {
		b := v.AppendCompact((*buf)[:0])
		*buf = b
		n, err := l.estimate(c, m)
		return saying{maphash.Bytes(digestSeed, b), maphash.Bytes(digestSeed, v), int32(n), int32(len(v))}, err
	}
	var f [5]value
	v.Fields(f[:], "role", "content", "toolCallId", "toolName", "isError")
	var h maphash.Hash
	h.SetSeed(digestSeed)
	for _, part := range f {
		part.Compactly(buf, func(piece []byte) { h.Write(piece) })
		h.WriteByte(0)
	}
	l.msg.Read(l.at.Reset(v), f[0].RoleKind())
	return saying{
		h.Sum64(), maphash.Bytes(digestSeed, v),
		int32(l.weigher(c).message(&l.msg).Total()), int32(len(v)),
	}, nil
}

// Len is the number of messages.
func (p *Prefix) Len() int { return len(p.sums) }

// hash is a hash of the first n messages, good for one run only.
func (p *Prefix) hash(n int) uint64 {
	if n == 0 {
		return 0
	}
	return p.sums[n-1].all
}

// tokens are those of the first n messages.
func (p *Prefix) tokens(n int) int {
	if n == 0 {
		return 0
	}
	return p.sums[n-1].tokens
}

// fork is a copy that follows another path.
func (p *Prefix) fork() Prefix {
	next := *p
	next.sums = slices.Clone(p.sums)
	next.at = slices.Clone(p.at)
	next.gone = nil
	return next
}

// follow goes on to the next request: what it shares with the one before, as the
// lists themselves know, is not looked at again.
func (p *Prefix) follow(e *Envelope) error {
	l := &e.state.msgs
	from := p.shared(l)
	p.at = p.at[:from]
	p.Same = 0
	if from > 0 {
		p.Same = int(p.at[from-1])
		if p.takes(l.at(from-1), p.Same) {
			p.Same++
		}
	}
	p.gone = append(p.gone[:0], p.sums[p.Same:]...)
	p.sums = p.sums[:p.Same]
	for i := from; i < l.n; i++ {
		m := l.at(i)
		p.at = append(p.at, int32(len(p.sums)))
		if err := p.add(m); err != nil {
			return err
		}
	}
	p.Cached = len(p.sums)
	for i := range e.state.uncached {
		if err := p.add(&e.state.uncached[i]); err != nil {
			return err
		}
	}
	p.last = *l
	return nil
}

// takes reports that a message is one of the request's, given how many come before it.
func (p *Prefix) takes(m *message, before int) bool {
	return m.shown() || p.inPlace && before > 0 && m.inList()
}

// add appends a message, if a provider gets it.
func (p *Prefix) add(m *message) error {
	if !p.takes(m, len(p.sums)) {
		return nil
	}
	said, err := p.says.of(m)
	if err != nil {
		return err
	}
	n := len(p.sums)
	var both [16]byte
	binary.LittleEndian.PutUint64(both[:], p.hash(n))
	binary.LittleEndian.PutUint64(both[8:], said.hash)
	p.sums = append(p.sums, sum{m.place(), said.hash, maphash.Bytes(digestSeed, both[:]), p.tokens(n) + int(said.tokens)})
	return nil
}

// shared is how many places at the start of a list are those of the request before.
func (p *Prefix) shared(l *list) int {
	n := min(p.last.n, l.n, len(p.at))
	for i := range l.differs(&p.last) {
		return min(i, n)
	}
	return n
}

// hashPrompt is a hash of prompt and tools.
func hashPrompt(text string, tools []Tool) uint64 {
	var h maphash.Hash
	h.SetSeed(digestSeed)
	h.WriteString(text)
	for _, t := range tools {
		h.WriteByte(0)
		h.Write(t.Raw.AppendCompact(nil))
	}
	return h.Sum64()
}

// withEphemeral are the sums of a request with the request-only messages that were
// logged for it behind the others.
func (p *Prefix) withEphemeral(e *Envelope) ([]sum, error) {
	if e.ephemeral < 0 {
		return p.sums, nil
	}
	whole, err := e.WithEphemeral()
	if err != nil {
		return nil, err
	}
	next := Prefix{says: p.says, sums: p.sums} // what comes behind is written over by the next request
	for i := range whole.state.uncached[len(e.state.uncached):] {
		if err := next.add(&whole.state.uncached[len(e.state.uncached)+i]); err != nil {
			return nil, err
		}
	}
	return next.sums, nil
}
