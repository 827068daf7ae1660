package replay

import (
	"slices"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/outline"
)

// A source is where a piece of a context comes from.
type source struct {
	ID   string `json:"id,omitempty"`   // of the entry that it comes from
	Line int    `json:"line,omitempty"` // of that entry, from 1
	Kind string `json:"kind,omitempty"` // of that entry: the role of a message, else the type; as `time` not of a log
	Time string `json:"time,omitempty"` // of that entry, as it stands in the file
	By   string `json:"by,omitempty"`   // id of the transform or edit that put it there
	Op   Index  `json:"op,omitzero"`    // the operation of that transform
}

// source is an origin as it is printed; without lines it has neither kind nor time.
func (r *Replay) source(from Origin, lines *sessionfmt.Reader) (source, error) {
	s, out := r.Session, source{Op: -1}
	if from.Record < 0 {
		return out, nil
	}
	out.ID, out.Line, out.Op = s.ID(from.Record), s.Line(from.Record), Index(from.Op)
	if from.By != from.Record || from.Op >= 0 {
		out.By = s.ID(from.By)
	}
	if lines == nil {
		return out, nil
	}
	line, err := lines.Line(from.Record)
	out.Kind, out.Time = s.Kind(from.Record).String(), line.Get("timestamp").Text()
	return out, err
}

// An Item is a message, part or tool of a context, with where it comes from: a line of
// schema ctxtool/trace.blame/1, or where it is new in a request, of
// ctxtool/log.request/1.
type Item struct {
	Schema   string `json:"schema"`
	Request  Index  `json:"request,omitzero"`   // that it is new in; absent of `trace --blame`
	As       string `json:"as"`                 // `part`, `tool`, or the role that a provider gets a message as
	Name     string `json:"name,omitempty"`     // of a part or tool
	Index    Index  `json:"index,omitzero"`     // of a message, from 0; as the next only of `trace --blame`
	Uncached bool   `json:"uncached,omitempty"` // it comes behind the cached messages
	source
	Text string `json:"text,omitempty"` // first words
}

// itemList gathers items.
type itemList struct {
	r       *Replay
	lines   *sessionfmt.Reader // nil where neither kind nor time is asked for
	request Index
	all     []Item
}

func (l *itemList) add(one Item, from Origin) (err error) {
	one.Schema, one.Request = "ctxtool/trace.blame/1", l.request
	if l.request >= 0 {
		one.Schema = "ctxtool/log.request/1"
	}
	one.source, err = l.r.source(from, l.lines)
	l.all = append(l.all, one)
	return err
}

// prompt adds parts and tools.
func (l *itemList) prompt(parts []Part, tools []Tool) error {
	for _, p := range parts {
		if err := l.add(Item{As: "part", Name: p.Name, Index: -1, Text: outline.FirstWords(p.Text)}, p.Origin); err != nil {
			return err
		}
	}
	for _, t := range tools {
		about := outline.FirstWords(t.Raw.Get("description").Text())
		if err := l.add(Item{As: "tool", Name: t.Name, Index: -1, Text: about}, t.Origin); err != nil {
			return err
		}
	}
	return nil
}

func (l *itemList) message(m Message, index int, uncached bool) error {
	one := Item{As: m.Raw.Get("role").Text(), Index: Index(index), Uncached: uncached, Text: outline.MessageGist(m.Raw)}
	return l.add(one, m.Origin)
}

// Items are what a context holds: parts, tools, then messages in their order.
func (e *Envelope) Items() ([]Item, error) {
	l := itemList{r: e.r, lines: e.r.Session.NewReader(), request: -1}
	p, err := e.Prompt()
	if err != nil {
		return nil, err
	}
	if err := l.prompt(p.Parts, p.Tools); err != nil {
		return nil, err
	}
	n := 0
	for m, err := range e.Sources(func(Message) bool { return true }) {
		if err != nil {
			return nil, err
		}
		if err := l.message(m, n, n >= e.Cached()); err != nil {
			return nil, err
		}
		n++
	}
	return l.all, nil
}

// NewItems are what a request has that an earlier envelope had not: parts and tools that
// are new or changed, then messages. They have neither kind nor time.
func (e *Envelope) NewItems(earlier *Envelope) ([]Item, error) {
	is, err := e.Prompt()
	if err != nil {
		return nil, err
	}
	was, err := earlier.Prompt()
	if err != nil {
		return nil, err
	}
	l := itemList{r: e.r, request: Index(e.RequestIndex)}
	if err := l.prompt(differing(was.Parts, is.Parts, Part.said), differing(was.Tools, is.Tools, Tool.said)); err != nil {
		return nil, err
	}
	for m, err := range e.entered(earlier) {
		if err != nil {
			return nil, err
		}
		if err := l.message(m, -1, false); err != nil {
			return nil, err
		}
	}
	return l.all, nil
}

func (p Part) said() (name, text string) { return p.Name, p.Text }

func (t Tool) said() (name, text string) { return t.Name, string(t.Raw) }

// differing are those of is that was has not, or not so.
func differing[T any](was, is []T, said func(T) (name, text string)) []T {
	had := map[string]string{}
	for _, x := range was {
		name, text := said(x)
		had[name] = text
	}
	return slices.DeleteFunc(slices.Clone(is), func(x T) bool {
		name, text := said(x)
		before, ok := had[name]
		return ok && before == text
	})
}

// An EntryEffect is what an entry did to the envelope on its own path.
type EntryEffect struct {
	Before       Counts   `json:"before"`                 // tokens of the request before it
	After        Counts   `json:"after"`                  // tokens of the request behind it
	Entered      int      `json:"entered"`                // messages that the request before it had not
	Parts        []string `json:"parts,omitempty"`        // names of the parts that it set
	PartsRemoved []string `json:"partsRemoved,omitempty"` // and that it removed
	Tools        []string `json:"tools,omitempty"`        // names of the tools that it set
	ToolsRemoved []string `json:"toolsRemoved,omitempty"` // and that it removed
	Broken       string   `json:"broken,omitempty"`       // why a provider's cache of the request before cannot serve behind some point; absent where it can
}

// Effect is what makes an earlier envelope of the same replay this one.
func (e *Envelope) Effect(earlier *Envelope, c *tokens.Counter) (*EntryEffect, error) {
	n, err := counts(c, earlier, e)
	if err != nil {
		return nil, err
	}
	out := &EntryEffect{Before: n[0], After: n[1]}
	for _, err := range e.entered(earlier) {
		if err != nil {
			return nil, err
		}
		out.Entered++
	}
	was, err := earlier.Prompt()
	if err != nil {
		return nil, err
	}
	is, err := e.Prompt()
	if err != nil {
		return nil, err
	}
	out.Parts, out.PartsRemoved = changedNames(was.Parts, is.Parts, Part.said)
	out.Tools, out.ToolsRemoved = changedNames(was.Tools, is.Tools, Tool.said)
	out.Broken, err = e.broken(earlier)
	return out, err
}

// changedNames are the names of what is new or different, and of what is gone.
func changedNames[T any](was, is []T, said func(T) (name, text string)) (set, gone []string) {
	here := map[string]bool{}
	for _, x := range is {
		name, _ := said(x)
		here[name] = true
	}
	for _, x := range differing(was, is, said) {
		name, _ := said(x)
		set = append(set, name)
	}
	for _, x := range was {
		if name, text := said(x); !here[name] && text != "" {
			gone = append(gone, name)
		}
	}
	return set, gone
}

// A Piece is a message of a request, known without its text.
type Piece struct {
	Origin
	Kind   jsonl.Kind // by its role in the session
	Plain  bool       // it is what its entry says, as it stands there
	Hash   uint64     // of what it says, good for one run only
	Tokens int        // that it counts for

	m message
}

// At is message i of the request.
func (p *Prefix) At(i int) Piece { return pieceOf(p.sums[i], p.tokens(i+1)-p.tokens(i)) }

// Gone are the messages that the request before had in place of those from Same on.
// They stay as they are until the next request of the same path.
func (p *Prefix) Gone() []Piece {
	gone := make([]Piece, len(p.gone))
	before := p.tokens(p.Same)
	for i, s := range p.gone {
		gone[i] = pieceOf(s, s.tokens-before)
		before = s.tokens
	}
	return gone
}

func pieceOf(s sum, tokens int) Piece {
	m := s.place
	plainly := m.form == plain && m.edit < 0
	switch m.kind {
	case jsonl.User, jsonl.Assistant, jsonl.ToolResult:
	default:
		plainly = false
	}
	return Piece{Origin: m.origin(), Kind: m.kind, Plain: plainly, Hash: s.one, Tokens: tokens, m: m}
}

// Pieces are the messages of an envelope's request, cached then uncached, with what
// the whole counts for. What other requests of p's asking had is not read again; p may
// be nil.
func (e *Envelope) Pieces(p *Prefix, c *tokens.Counter) (all []Piece, n Counts, err error) {
	whole := Prefix{}
	if p != nil {
		whole.says = p.says
	} else {
		whole.says = newSayings(e.r, c)
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
	n = countPrompt(c, prompt.Parts, prompt.Tools)
	n.Messages = whole.tokens(whole.Len())
	n.Total = n.System + n.Tools + n.Messages
	return all, n, nil
}

// A Speaker reads what pieces say. It is not safe for concurrent use.
type Speaker struct{ load *loader }

// NewSpeaker returns a Speaker of r's session.
func (r *Replay) NewSpeaker() *Speaker { return &Speaker{r.newLoader()} }

// Value is a piece as a provider gets it, valid until the next call.
func (s *Speaker) Value(p Piece) (jsonl.Value, error) { return s.load.provider(&p.m) }

// A LogRow is an entry in a log, schema ctxtool/log/1.
type LogRow struct {
	Schema   string       `json:"schema"`
	ID       string       `json:"id"`                 // as the next four as in a tree
	Line     int          `json:"line"`               // in the file, from 1
	Time     string       `json:"time,omitempty"`     // as it stands in the file
	Kind     string       `json:"kind"`               // the role of a message, else the type
	Text     string       `json:"text,omitempty"`     // the first words
	Active   bool         `json:"active"`             // on the path to the leaf
	Did      string       `json:"did,omitempty"`      // to the envelope: `nothing`, `added`, `edited`, `compacted`, `patched`, `settings`; absent off the path and behind a broken patch, as are the next two
	Tokens   *int         `json:"tokens,omitempty"`   // that it added to the request, below 0 where it took some away
	Context  *int         `json:"context,omitempty"`  // tokens of the request as it stands after the entry: prompt, tools and messages
	Request  *int         `json:"request,omitempty"`  // that the entry is the answer to, from 0
	Mark     string       `json:"mark,omitempty"`     // `T`: messages became smaller; `C`: the history was compacted
	Boundary *logBoundary `json:"boundary,omitempty"` // where a transform lies
}

// A logBoundary says where a transform lies.
type logBoundary struct {
	After    int      `json:"after"`    // the request whose answer it lies behind, -1 for none
	Before   int      `json:"before"`   // the request that it lies before
	Likely   boundary `json:"likely"`   // where in the agent's loop it was likely made, `before_request` or `turn_end`
	Inferred bool     `json:"inferred"` // the file does not say it
}

// Row is what the log says of a step, but for what its entry says by itself.
func (a *Account) Row() (row LogRow, err error) {
	delta := a.After.Total - a.Before.Total
	row = LogRow{Active: true, Tokens: &delta, Context: &a.After.Total, Did: a.Did.String()}
	if a.Request >= 0 {
		row.Request = &a.Request
	}
	switch {
	case a.Did == Compacted:
		row.Mark = "C"
	case a.After.Messages < a.Before.Messages:
		row.Mark = "T"
	}
	if a.m.r.Session.Kind(a.Record) == jsonl.Transform {
		row.Boundary = &logBoundary{After: a.Answers - 1, Before: a.Answers, Inferred: true}
		row.Boundary.Likely, err = a.boundary()
	}
	return row, err
}

// DiffEntries are the entries that only one of two paths has, schema
// ctxtool/diff.entries/1.
type DiffEntries struct {
	Schema   string        `json:"schema"`
	A        DiffSource    `json:"a"`
	B        DiffSource    `json:"b"`
	Ancestor *outline.Row  `json:"ancestor,omitempty"` // the last entry that both paths have
	OnlyA    []outline.Row `json:"onlyA"`              // the entries that only the one has
	OnlyB    []outline.Row `json:"onlyB"`              // and the other
}

// A ShownEntry is an entry, whole, with what it did to the envelope on its own path: an
// entry of schema ctxtool/show/1.
type ShownEntry struct {
	ID     string       `json:"id,omitempty"`     // of the entry
	Line   int          `json:"line"`             // in the file, from 1
	Parent string       `json:"parent,omitempty"` // its id; absent for a root
	Kind   string       `json:"kind"`             // the role of a message, else the type
	Label  string       `json:"label,omitempty"`  // that it has at the end of the file
	Active bool         `json:"active"`           // on the path to the leaf
	Effect *EntryEffect `json:"effect,omitempty"` // what it did on its own path; absent behind a broken patch
	Entry  jsonl.Value  `json:"-"`                // as it stands in the file
}

// A Meta is what an envelope says of itself, meta of schema ctxtool/replay/1.
type Meta struct {
	Model        ModelRef `json:"model,omitzero"`         // `--model`, else the path's, else the baseline's
	Limit        int64    `json:"limit"`                  // tokens: the context window, 0 where nobody knows it
	TurnIndex    int      `json:"turnIndex"`              // user prompts so far, less one
	RequestIndex int      `json:"requestIndex"`           // answers so far: the number of the next request, from 0
	Tokens       Counts   `json:"tokens"`                 // as pi's `/context` counts them: UTF-16 units by four, rounded up a message
	Rules        Rules    `json:"rules"`                  // `pi` or `envelope`: what `--rules` came to
	Leaf         string   `json:"leaf,omitempty"`         // id of the last entry replayed; absent for the empty state
	Usage        *Shown   `json:"contextUsage,omitempty"` // what pi's indicator shows: the last answer's recorded usage and an estimate of what came after it, which is `estimated`; absent where no recorded usage tells of the context as it is
}

// Meta is what the envelope says of itself, its tokens counted.
func (e *Envelope) Meta(c *tokens.Counter) (m Meta, err error) {
	m = Meta{TurnIndex: e.TurnIndex, RequestIndex: e.RequestIndex, Rules: e.r.Rules}
	if e.Leaf >= 0 {
		m.Leaf = e.r.Session.ID(e.Leaf)
	}
	if m.Model, m.Limit, _, err = e.Model(); err != nil {
		return m, err
	}
	if m.Tokens, err = e.Count(c); err != nil {
		return m, err
	}
	m.Usage, err = e.RecordedUsage(c)
	return m, err
}

// A Provenance is where a piece of an envelope comes from, an element of the lists in
// provenance of schema ctxtool/replay/1.
type Provenance struct {
	Entry string `json:"entry,omitempty"` // id of the entry that the text comes from
	Line  Index  `json:"line,omitzero"`   // its line in the file, from 1
	By    any    `json:"by"`              // "entry", "baseline", or a maker
}

// A maker is the transform whose op put a piece there, or the edit that did.
type maker struct {
	Entry string `json:"entry"`
	Op    Index  `json:"op,omitzero"`
}

// Provenance is where a piece with that origin comes from.
func (r *Replay) Provenance(from Origin) Provenance {
	if from.Record < 0 {
		return Provenance{Line: -1, By: "baseline"}
	}
	s := r.Session
	out := Provenance{Entry: s.ID(from.Record), Line: Index(s.Line(from.Record)), By: "entry"}
	if from.By != from.Record || from.Op >= 0 {
		out.By = maker{s.ID(from.By), Index(from.Op)}
	}
	return out
}
