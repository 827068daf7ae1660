package replay

import (
	"iter"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
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

// request takes down what the request got that the record at hand answers.
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

// inList says that a message is a system message which is sent where it stands.
func (m *message) inList() bool {
	return m.kind == sessionfmt.System && m.form == plain && m.flags&omitted == 0
}
