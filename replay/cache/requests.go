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

// A Request is one provider call: the envelope sent, and the entry that answers it.
type Request struct {
	replay.Step                  // the answer
	Index       int              // its number, from 0 along the answer's path
	After       int              // the answer to the previous request on that path, -1 for none
	Before      *replay.Envelope // the envelope that was sent
	// Prompt is a hash of prompt and tools, valid in one process only. Counts are the tokens of
	// the whole request.
	Prompt uint64
	Counts weigh.Counts
	Known  bool // the session or a baseline records prompt and tools
	// Prefix describes the messages of the request. It is valid until the next request of the
	// same path.
	Prefix *Prefix

	asked *requestTracker
}

// requests returns the requests of a walk with request trackers.
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

// A requestTracker remembers the requests on a path.
type requestTracker struct {
	replay.NopObserver
	c      *tokens.Counter
	at     int // the last answer
	after  int // the previous one
	before *replay.Envelope
	front  replay.PromptTracker // prompt and tools before the messages
	prompt uint64
	tools  uint64 // hash of the tools only
	counts weigh.Counts
	prefix Prefix
}

// newRequestTracker returns a tracker for a walk that has not started. With inPlace, system
// messages after the first message count as messages, since they are sent in place.
func newRequestTracker(r *replay.Replay, c *tokens.Counter, inPlace bool) *requestTracker {
	return &requestTracker{
		c: c, at: -1, after: -1,
		front: replay.PromptTracker{LeadingOnly: inPlace}, prefix: Prefix{inPlace: inPlace, digests: newDigestCache(r, c)},
	}
}

// Fork returns the tracker of another branch.
func (a *requestTracker) Fork(from, to replay.Step) replay.Observer {
	next := *a
	next.prefix, next.front = a.prefix.fork(), a.front.Fork(from, to)
	return &next
}

// Request records what the request got that the current record answers.
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

// of returns the request that a step answers.
func (a *requestTracker) of(step replay.Step) Request {
	n := a.counts
	n.Messages = a.prefix.tokens(a.prefix.Len())
	n.Total = n.System + n.Tools + n.Messages
	return Request{
		Step: step, Index: a.before.RequestIndex, After: a.after, Before: a.before, Prompt: a.prompt, Counts: n,
		Known: a.front.Current.Known, Prefix: &a.prefix, asked: a,
	}
}

// A Prefix describes the messages of a request, cached then uncached, by hashes and sizes of
// each message and of all messages up to it.
type Prefix struct {
	// Same is the number of leading messages known to be those of the previous request, without
	// comparing them.
	Same int
	// Cached is the number of cached messages. Uncached ones follow.
	Cached int

	// inPlace counts system messages after the first message as messages.
	inPlace bool
	digests *digestCache
	last    *replay.Envelope // of the previous request; nil for the first
	sums    []sum
	removed []sum   // the previous request's messages from Same on
	at      []int32 // for each index of the list, the number of cached messages before it
}

// A sum describes a message, and all messages up to it.
type sum struct {
	place  replay.Piece
	one    uint64 // hash of the message
	all    uint64 // hash of the messages up to it
	tokens int    // of the messages up to it
}

// A digestCache holds the digests of messages, so that all machines of a replay read each only
// once.
type digestCache struct {
	c     *tokens.Counter
	load  *replay.Reader
	known map[replay.Piece]replay.Digest
	plain []replay.Digest // of unedited messages by record, if read before; may be nil
}

func newDigestCache(r *replay.Replay, c *tokens.Counter) *digestCache {
	return &digestCache{c: c, load: r.NewReader(), known: map[replay.Piece]replay.Digest{}}
}

// of returns the digest of a message as the provider gets it, so that equal text has equal
// digests wherever it comes from.
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

// Len returns the number of messages.
func (p *Prefix) Len() int { return len(p.sums) }

// hash returns a hash of the first n messages, valid in one process only.
func (p *Prefix) hash(n int) uint64 {
	if n == 0 {
		return 0
	}
	return p.sums[n-1].all
}

// tokens returns the tokens of the first n messages.
func (p *Prefix) tokens(n int) int {
	if n == 0 {
		return 0
	}
	return p.sums[n-1].tokens
}

// fork returns a copy for another branch.
func (p *Prefix) fork() Prefix {
	next := *p
	next.sums = slices.Clone(p.sums)
	next.at = slices.Clone(p.at)
	next.removed = nil
	return next
}

// follow advances to the next request. Messages that the lists share with the previous request
// are not read again.
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

// contains reports whether a message is part of the request, given how many come before it.
func (p *Prefix) contains(m *replay.Piece, before int) bool {
	return m.Sent() || p.inPlace && before > 0 && m.System()
}

// add appends a message if a provider gets it.
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

// shared returns how many leading elements of a list belong to the previous request too.
func (p *Prefix) shared(e *replay.Envelope) int {
	n := min(e.Listed(), len(p.at))
	for i := range e.Differs(p.last) {
		return min(i, n)
	}
	return n
}

var seed = maphash.MakeSeed()

// hashPrompt returns a hash of prompt and tools.
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

// withEphemeral returns the sums of a request including its logged request-only messages at the
// end.
func (p *Prefix) withEphemeral(e *replay.Envelope) ([]sum, error) {
	whole, err := e.WithEphemeral()
	if err != nil {
		return nil, err
	}
	next := Prefix{digests: p.digests, sums: p.sums} // the next request overwrites the appended sums
	for i := e.Len(); i < whole.Len(); i++ {
		if err := next.add(whole.Piece(i)); err != nil {
			return nil, err
		}
	}
	return next.sums, nil
}

// A Piece describes a message of a request without its text.
type Piece struct {
	replay.Piece
	Hash   uint64 // of the content, valid in one process only
	Tokens int    // what it counts for
}

// At returns message i of the request.
func (p *Prefix) At(i int) Piece { return pieceOf(p.sums[i], p.tokens(i+1)-p.tokens(i)) }

// Removed returns the messages of the previous request from Same on. They are valid until the
// next request of the same path.
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

// Pieces returns the messages of an envelope's request, cached then uncached, and the counts of
// the whole. Messages that p's tracker has seen are not read again; p may be nil.
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
