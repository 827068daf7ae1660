package cache

import (
	"encoding/binary"
	"hash/maphash"
	"iter"
	"slices"

	"ctxtool/replay"
	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
)

// A Request is one call of a provider: what it got, and the entry that answers it.
type Request struct {
	replay.Step                  // the answer
	Index       int              // from 0 along the answer's path
	After       int              // the answer to the request before on that path, -1 for none
	Before      *replay.Envelope // what the provider got
	// Prompt is a hash of prompt and tools, good for one run only, and Counts what
	// all of the request takes.
	Prompt uint64
	Counts weigh.Counts
	Known  bool // prompt and tools come from the session or a baseline
	// Prefix is what the messages of the request are, one after the other. It stays
	// as it is until the next request of the same path.
	Prefix *Prefix

	asked *requestTracker
}

// requests are those of a walk that askings watch.
func requests(steps iter.Seq2[replay.Step, error]) iter.Seq2[Request, error] {
	return func(yield func(Request, error) bool) {
		for step, err := range steps {
			switch a := step.Watch()[0].(*requestTracker); {
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
type requestTracker struct {
	replay.NopObserver
	c      *tokens.Counter
	at     int // the last answer
	after  int // the one before it
	before *replay.Envelope
	front  replay.PromptTracker // prompt and tools before the messages
	prompt uint64
	tools  uint64 // hash of the tools alone
	counts weigh.Counts
	prefix Prefix
}

// newRequestTracker watches a walk from its beginning; with inPlace system messages after the first
// message are messages, sent where they stand.
func newRequestTracker(r *replay.Replay, c *tokens.Counter, inPlace bool) *requestTracker {
	return &requestTracker{
		c: c, at: -1, after: -1,
		front: replay.PromptTracker{LeadingOnly: inPlace}, prefix: Prefix{inPlace: inPlace, digests: newDigestCache(r, c)},
	}
}

// Fork is the same for another way.
func (a *requestTracker) Fork(from, to replay.Step) replay.Observer {
	next := *a
	next.prefix, next.front = a.prefix.fork(), a.front.Fork(from, to)
	return &next
}

// Request records what the request got that the record at hand answers.
func (a *requestTracker) Request(step replay.Step) error {
	changed, err := a.front.Follow(step)
	if err != nil {
		return err
	}
	a.at, a.after, a.before = step.Record, a.at, step.Envelope()
	if now := &a.front.Current; changed {
		a.counts = now.Counts(a.c)
		a.prompt = hashPrompt(a.before.Replay().Rules.Compiled(now.Parts), now.Tools)
		a.tools = hashPrompt("", now.Tools)
	}
	return a.prefix.follow(a.before)
}

// of is the request that a step answers.
func (a *requestTracker) of(step replay.Step) Request {
	n := a.counts
	n.Messages = a.prefix.tokens(a.prefix.Len())
	n.Total = n.System + n.Tools + n.Messages
	return Request{
		Step: step, Index: a.before.RequestIndex, After: a.after, Before: a.before, Prompt: a.prompt, Counts: n,
		Known: a.front.Current.Known, Prefix: &a.prefix, asked: a,
	}
}

// A Prefix knows of the messages of a request, cached then uncached, what each says
// and what all before it say, without their texts: requests are compared by numbers.
type Prefix struct {
	// Same is how many messages at the start are those of the request before, where
	// nothing has to be compared to know.
	Same int
	// Cached is the number of cached messages; those after are the uncached ones.
	Cached int

	// inPlace takes system messages after the first message for messages: they are
	// sent where they stand.
	inPlace bool
	digests *digestCache
	last    *replay.Envelope // that of the request before; nil for the first
	sums    []sum
	removed []sum   // what the request before had in place of those after Same
	at      []int32 // of each place in the list, the cached messages before it
}

// A sum is a message, and all up to it.
type sum struct {
	place  replay.Piece
	one    uint64 // hash of the message
	all    uint64 // hash of the messages up to it
	tokens int    // of the messages up to it
}

// digestCache are the hashes and sizes of messages that have been read, each once for all
// machines of a replay.
type digestCache struct {
	c     *tokens.Counter
	load  *replay.Reader
	known map[replay.Piece]replay.Digest
	plain []replay.Digest // of records as they stand, where they have been read before; may be nil
}

func newDigestCache(r *replay.Replay, c *tokens.Counter) *digestCache {
	return &digestCache{c: c, load: r.NewReader(), known: map[replay.Piece]replay.Digest{}}
}

// of reads what a message says: what a provider gets of it, so that the same words
// are the same wherever they stand.
func (s *digestCache) of(m *replay.Piece) (replay.Digest, error) {
	if m.Own() && s.plain != nil {
		if said := s.plain[m.Origin().Record]; said != (replay.Digest{}) {
			return said, nil
		}
	}
	place := m.Place()
	if known, ok := s.known[place]; ok {
		return known, nil
	}
	said, err := s.load.Digest(s.c, m)
	if err == nil {
		s.known[place] = said
	}
	return said, err
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
	next.removed = nil
	return next
}

// follow continues to the next request: what it shares with the one before, as the
// lists themselves know, is not looked at again.
func (p *Prefix) follow(e *replay.Envelope) error {
	from := p.shared(e)
	p.at = p.at[:from]
	p.Same = 0
	if from > 0 {
		p.Same = int(p.at[from-1])
		if p.contains(e.Piece(from-1), p.Same) {
			p.Same++
		}
	}
	p.removed = append(p.removed[:0], p.sums[p.Same:]...)
	p.sums = p.sums[:p.Same]
	for i := from; i < e.Len(); i++ {
		if i < e.Listed() {
			p.at = append(p.at, int32(len(p.sums)))
		} else if i == e.Listed() {
			p.Cached = len(p.sums)
		}
		if err := p.add(e.Piece(i)); err != nil {
			return err
		}
	}
	if e.Len() == e.Listed() {
		p.Cached = len(p.sums)
	}
	p.last = e
	return nil
}

// contains reports whether a message is one of the request's, given how many come before it.
func (p *Prefix) contains(m *replay.Piece, before int) bool {
	return m.Sent() || p.inPlace && before > 0 && m.System()
}

// add appends a message, if a provider gets it.
func (p *Prefix) add(m *replay.Piece) error {
	if !p.contains(m, len(p.sums)) {
		return nil
	}
	said, err := p.digests.of(m)
	if err != nil {
		return err
	}
	n := len(p.sums)
	var both [16]byte
	binary.LittleEndian.PutUint64(both[:], p.hash(n))
	binary.LittleEndian.PutUint64(both[8:], said.Content)
	p.sums = append(p.sums, sum{m.Place(), said.Content, maphash.Bytes(seed, both[:]), p.tokens(n) + int(said.Tokens)})
	return nil
}

// shared is how many places at the start of a list are those of the request before.
func (p *Prefix) shared(e *replay.Envelope) int {
	n := min(e.Listed(), len(p.at))
	for i := range e.Differs(p.last) {
		return min(i, n)
	}
	return n
}

var seed = maphash.MakeSeed()

// hashPrompt is a hash of prompt and tools.
func hashPrompt(text string, tools []prompt.Tool) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	h.WriteString(text)
	for _, t := range tools {
		h.WriteByte(0)
		h.Write(t.Raw.AppendMinified(nil))
	}
	return h.Sum64()
}

// withEphemeral are the sums of a request with the request-only messages that were
// logged for it after the others.
func (p *Prefix) withEphemeral(e *replay.Envelope) ([]sum, error) {
	whole, err := e.WithEphemeral()
	if err != nil {
		return nil, err
	}
	next := Prefix{digests: p.digests, sums: p.sums} // what comes after is written over by the next request
	for i := e.Len(); i < whole.Len(); i++ {
		if err := next.add(whole.Piece(i)); err != nil {
			return nil, err
		}
	}
	return next.sums, nil
}

// A Piece is a message of a request, known without its text.
type Piece struct {
	replay.Piece
	Hash   uint64 // of what it says, good for one run only
	Tokens int    // that it counts for
}

// At is message i of the request.
func (p *Prefix) At(i int) Piece { return pieceOf(p.sums[i], p.tokens(i+1)-p.tokens(i)) }

// Removed are the messages that the request before had in place of those from Same on.
// They stay as they are until the next request of the same path.
func (p *Prefix) Removed() []Piece {
	gone := make([]Piece, len(p.removed))
	before := p.tokens(p.Same)
	for i, s := range p.removed {
		gone[i] = pieceOf(s, s.tokens-before)
		before = s.tokens
	}
	return gone
}

func pieceOf(s sum, tokens int) Piece { return Piece{s.place, s.one, tokens} }

// Pieces are the messages of an envelope's request, cached then uncached, with what
// the whole counts for. What other requests of p's asking had is not read again; p may
// be nil.
func Pieces(e *replay.Envelope, p *Prefix, c *tokens.Counter) (all []Piece, n weigh.Counts, err error) {
	whole := Prefix{}
	if p != nil {
		whole.digests = p.digests
	} else {
		whole.digests = newDigestCache(e.Replay(), c)
	}
	if err := whole.follow(e); err != nil {
		return nil, n, err
	}
	for i := range whole.sums {
		all = append(all, whole.At(i))
	}
	prompt, err := e.Prompt()
	if err != nil {
		return nil, n, err
	}
	n = prompt.Counts(c)
	n.Messages = whole.tokens(whole.Len())
	n.Total = n.System + n.Tools + n.Messages
	return all, n, nil
}
