// Package diff compares two envelopes (messages, parts, tools, options and model), and finds
// the entry that made each difference.
package diff

import (
	"bytes"
	"encoding/json"
	"slices"

	"ctxtool/internal/base/parallel"
	"ctxtool/internal/read/outline"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A Change is how something differs between the two sides.
type Change string

// The changes. Kept means no change. Edited applies to messages, Changed to parts, tools and
// options.
const (
	Kept       Change = "kept"
	Moved      Change = "moved"           // unchanged, but at another place relative to its neighbours
	Edited     Change = "edited"          // the same message with other text
	Truncated  Change = "truncated"       // the text is the beginning of the old one, or its beginning and end
	Replaced   Change = "replaced"        // another message took its place
	Summarised Change = "summarised-away" // a compaction put a summary in its place
	Removed    Change = "removed"
	Added      Change = "added"
	Changed    Change = "changed"
)

// A Cause is the entry that made a difference, and the op of its patch, -1 for the entry
// itself. Without an entry the baseline made it.
type Cause struct {
	Entry  string         `json:"entry,omitempty"`
	Line   int            `json:"line"`
	Kind   string         `json:"kind"`
	Op     origin.Index   `json:"op,omitzero"`
	In     *replay.Replay `json:"-"` // nil if nothing in the session made the difference
	Record int            `json:"-"`
}

func newCause(in *replay.Replay, record int, op origin.Index) Cause {
	c := Cause{Op: op, In: in, Record: record}
	if !c.IsZero() {
		c.Entry, c.Line, c.Kind = in.Session.ID(record), in.Session.Line(record), in.Session.Kind(record).String()
	}
	return c
}

// IsZero reports whether no entry made the difference.
func (c Cause) IsZero() bool { return c.In == nil || c.Record < 0 }

// A Source is where a side of a comparison comes from.
type Source struct {
	File  string `json:"file"`            // as given
	Point string `json:"point,omitempty"` // as given; absent for the state before an entry
	dialect.Reading
}

// A Side is an envelope that is compared.
type Side struct {
	Source
	Entry        string       `json:"entry,omitempty"` // id of the last entry replayed; absent for the empty state
	Rules        replay.Rules `json:"rules"`           // as the next four as in `meta` of a replay
	Model        models.Ref   `json:"model,omitzero"`
	Limit        int64        `json:"limit"`
	TurnIndex    int          `json:"turnIndex"`
	RequestIndex int          `json:"requestIndex"`
	Cached       int          `json:"cached"`       // messages
	Uncached     int          `json:"uncached"`     // messages
	Usage        weigh.Size   `json:"contextUsage"` // the size of the context

	Envelope *replay.Envelope `json:"-"`
}

func newSide(e *replay.Envelope) (s Side, err error) {
	s = Side{
		Rules: e.Replay().Rules, TurnIndex: e.TurnIndex, RequestIndex: e.RequestIndex, Cached: e.Cached(),
		Uncached: e.Uncached(), Envelope: e,
	}
	if e.Leaf >= 0 {
		s.Entry = e.Replay().Session.ID(e.Leaf)
	}
	if s.Model, s.Limit, _, err = e.Model(); err != nil {
		return s, err
	}
	s.Usage, err = e.Size()
	return s, err
}

// Shared is the common beginning of both requests, including prompt and tools; zero if these
// differ.
type Shared struct {
	Messages int    `json:"messages"`
	Tokens   int    `json:"tokens"`
	First    string `json:"first,omitempty"` // where the first difference is: `system`, `tools` or `messages`
}

// Sizes are the sizes of both sides.
type Sizes struct {
	A weigh.Counts `json:"a"`
	B weigh.Counts `json:"b"`
}

// A Difference is the complete difference from envelope A to envelope B. Messages of a request
// are numbered from 0, uncached after cached ones.
type Difference struct {
	A, B   Side
	Shared Shared

	Parts    []ItemChange // in the order of B, removed ones first
	Tools    []ItemChange
	Options  []optionChange
	Model    *modelChange    // nil if unchanged
	Messages []MessageChange // all of both sides, kept ones included
	// Tokens and Bytes are the sizes of A and B. Bytes are those of part texts, tool
	// definitions, and messages as JSON.
	Tokens, Bytes Sizes

	sides [2]side
	cause causes
}

// An ItemChange is a difference in a prompt part or a tool, with its index in both envelopes,
// -1 if absent.
type ItemChange struct {
	Change Change       `json:"change"`
	Name   string       `json:"name"`
	A      origin.Index `json:"a,omitzero"`
	B      origin.Index `json:"b,omitzero"`
	// Value is the text of a part, or the definition of a tool, that is new in B or another there.
	Value json.RawMessage `json:"value,omitempty"`
	// Sections are what differs of a part of several (prompt.Split), by their places among
	// those of the part, with its cause.
	Sections []ItemChange    `json:"-"`
	Named    []sectionChange `json:"sections,omitempty"`
	Cause    Cause           `json:"cause,omitzero"`
}

// A sectionChange is how a section differs.
type sectionChange struct {
	Change Change `json:"change"`
	Name   string `json:"name"`
}

// An optionChange is a difference in an option, as raw JSON, nil if not set.
type optionChange struct {
	Name  string          `json:"-"`
	A     json.RawMessage `json:"a,omitempty"`
	B     json.RawMessage `json:"b,omitempty"`
	Cause Cause           `json:"cause,omitzero"`
}

// A modelChange is a change of the model.
type modelChange struct {
	A     models.Ref `json:"a,omitzero"`
	B     models.Ref `json:"b,omitzero"`
	Cause Cause      `json:"cause,omitzero"`
}

// A MessageChange is a range of messages with the same change: Count messages from A in request
// A and from B in request B, -1 if absent.
type MessageChange struct {
	Change  Change `json:"change"`
	A       int    `json:"-"`
	B       int    `json:"-"`
	Count   int    `json:"count,omitempty"`
	Tokens  int    `json:"tokens"` // of B's messages, or of A's if removed
	Respelt bool   `json:"-"`      // B's JSON differs; also of a kept message, whose time may differ
	Cause   Cause  `json:"cause,omitzero"`
}

// Equal reports whether the model gets the same on both sides.
func (d *Difference) Equal() bool {
	differ := slices.ContainsFunc(d.Messages, func(m MessageChange) bool { return m.Change != Kept })
	return !differ && len(d.Parts) == 0 && len(d.Tools) == 0 && len(d.Options) == 0 && d.Model == nil
}

// MessagesDiffer reports whether any message was changed, or is kept with other JSON.
func (d *Difference) MessagesDiffer() bool {
	return slices.ContainsFunc(d.Messages, func(m MessageChange) bool { return m.Change != Kept || m.Respelt })
}

// Diff compares the two envelopes of a span.
func (s *Span) Diff(c *tokens.Counter) (*Difference, error) {
	return diff(c, s.A, s.B, causes{span: s})
}

// Envelopes compares envelopes of two sessions. Messages match by content.
func Envelopes(c *tokens.Counter, a, b *replay.Envelope) (*Difference, error) {
	return diff(c, a, b, causes{})
}

func diff(c *tokens.Counter, a, b *replay.Envelope, by causes) (*Difference, error) {
	by.a, by.b = a, b
	d := &Difference{cause: by}
	var prompts [2]*prompt.Prompt
	for k, e := range []*replay.Envelope{a, b} {
		var err error
		if *[]*Side{&d.A, &d.B}[k], err = newSide(e); err != nil {
			return nil, err
		}
		if prompts[k], err = e.Prompt(); err != nil {
			return nil, err
		}
	}
	if err := d.prompts(prompts[0], prompts[1]); err != nil {
		return nil, err
	}
	if d.A.Model != d.B.Model {
		cause, err := d.cause.model()
		if err != nil {
			return nil, err
		}
		d.Model = &modelChange{d.A.Model, d.B.Model, cause}
	}
	if err := d.align(c); err != nil {
		return nil, err
	}
	for k, p := range prompts {
		tokens, size := []*weigh.Counts{&d.Tokens.A, &d.Tokens.B}[k], []*weigh.Counts{&d.Bytes.A, &d.Bytes.B}[k]
		*tokens, *size = p.Counts(c), promptBytes(p)
		system, tools := []*replay.Envelope{a, b}[k].Unrecorded(p)
		for _, n := range []*weigh.Counts{tokens, size} {
			n.NoSystem, n.NoTools = system, tools
		}
		d.sides[k].count(tokens, size)
	}
	d.share()
	return d, nil
}

// promptBytes returns the sizes of prompt and tools, in bytes.
func promptBytes(p *prompt.Prompt) (n weigh.Counts) {
	for _, part := range p.Parts {
		n.System += len(part.Text)
	}
	for _, t := range p.Tools {
		n.Tools += len(t.Raw)
	}
	return n
}

// count adds up the messages of a side.
func (s *side) count(tokens, size *weigh.Counts) {
	for i := range s.digests {
		tokens.Messages += int(s.digests[i].Tokens)
		size.Messages += int(s.digests[i].Bytes)
	}
	for _, n := range []*weigh.Counts{tokens, size} {
		n.Total = n.System + n.Tools + n.Messages
	}
}

// share computes the common prefix of both requests.
func (d *Difference) share() {
	switch {
	case len(d.Parts) > 0:
		d.Shared.First = "system"
		return
	case len(d.Tools) > 0:
		d.Shared.First = "tools"
		return
	}
	a, b := &d.sides[0], &d.sides[1]
	n := d.Tokens.A.System + d.Tokens.A.Tools
	i := 0
	for ; i < min(len(a.ms), len(b.ms)); i++ {
		if a.digests[i].Content != b.digests[i].Content {
			break
		}
		n += int(a.digests[i].Tokens)
	}
	d.Shared.Messages, d.Shared.Tokens = i, n
	if i < max(d.A.Cached+d.A.Uncached, d.B.Cached+d.B.Uncached) {
		d.Shared.First = "messages"
	}
}

// ValueA returns message i of A as a provider gets it, valid until the next call.
func (d *Difference) ValueA(i int) (jsonl.Value, error) { return d.sides[0].value(i) }

// ValueB returns message i of B.
func (d *Difference) ValueB(i int) (jsonl.Value, error) { return d.sides[1].value(i) }

// sameValue reports whether two values are equal, independent of their spelling.
func sameValue(a, b jsonl.Value) bool {
	return bytes.Equal(a, b) || bytes.Equal(a.AppendMinified(nil), b.AppendMinified(nil))
}

// A side is the messages of one of the two requests.
type side struct {
	r       *replay.Replay
	load    *replay.Reader
	ms      []replay.Piece
	cached  int
	digests []weigh.Measure
	pair    []int // the matching message of the other side, -1 for none
}

func newMessages(e *replay.Envelope) side {
	s := side{r: e.Replay(), load: e.Replay().NewReader(), ms: make([]replay.Piece, 0, e.Cached()+e.Uncached()),
		cached: e.Cached()}
	for i := range e.Len() {
		if m := e.Piece(i); m.Sent() {
			s.ms = append(s.ms, m)
		}
	}
	n := len(s.ms)
	s.digests, s.pair = make([]weigh.Measure, n), make([]int, n)
	for i := range s.pair {
		s.pair[i] = -1
	}
	return s
}

func (s *side) value(i int) (jsonl.Value, error) { return s.load.Provider(s.ms[i]) }

// alone returns the messages without a match.
func (s *side) alone() (all []int) {
	for i, p := range s.pair {
		if p < 0 {
			all = append(all, i)
		}
	}
	return all
}

// readStretch is how many messages a worker reads at a time.
const readStretch = 64

// measure reads the messages, but for those that have their match on another side as it is, in parallel.
func (s *side) measure(c *tokens.Counter, other *side) error {
	return parallel.Each((len(s.ms)+readStretch-1)/readStretch, func() func(int) error {
		l := s.r.NewReader()
		return func(k int) (err error) {
			for i := k * readStretch; i < min(len(s.ms), (k+1)*readStretch) && err == nil; i++ {
				if p := s.pair[i]; p >= 0 {
					s.digests[i] = other.digests[p]
				} else {
					s.digests[i], err = l.Measure(c, s.ms[i])
				}
			}
			return err
		}
	})
}

// Entries are the entries that only one of two paths has, schema ctxtool/diff.entries/1.
type Entries struct {
	Schema   string        `json:"schema"`
	A        Source        `json:"a"`
	B        Source        `json:"b"`
	Ancestor *outline.Row  `json:"ancestor,omitempty"` // the last common entry of both paths
	OnlyA    []outline.Row `json:"onlyA"`              // the entries on A's path only
	OnlyB    []outline.Row `json:"onlyB"`              // the entries on B's path only
}
