// Package entry describes what entries are, what they did to a context, and which part of a
// context comes from which entry, as rows that log, show, trace --blame and replay print.
package entry

import (
	"fmt"
	"iter"
	"slices"

	"ctxtool/internal/read/outline"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// An Item is a message, part or tool of a context and its origin: a line of schema
// ctxtool/trace.blame/1, or of ctxtool/log.request/1 if new in a request.
type Item struct {
	Schema  string       `json:"schema"`
	Request origin.Index `json:"request,omitzero"` // the request that added it; absent in `trace --blame`
	// `part`, `tool`, or the role of the message for the provider
	As       string       `json:"as"`
	Name     string       `json:"name,omitempty"`     // of a part or tool
	Index    origin.Index `json:"index,omitzero"`     // of a message, from 0; only in `trace --blame`, as is the next
	Uncached bool         `json:"uncached,omitempty"` // it follows the cached messages
	origin.Source
	Text string `json:"text,omitempty"` // first words
}

// itemList collects items.
type itemList struct {
	r       *replay.Replay
	lines   *sessionfmt.Reader // nil to leave out kind and time
	request origin.Index
	all     []Item
}

func (l *itemList) add(one Item, from origin.Origin) (err error) {
	one.Schema, one.Request = "ctxtool/trace.blame/1", l.request
	if l.request >= 0 {
		one.Schema = "ctxtool/log.request/1"
	}
	one.Source, err = origin.From(l.r.Session, from, l.lines)
	l.all = append(l.all, one)
	return err
}

// prompt adds parts and tools.
func (l *itemList) prompt(parts []prompt.Part, tools []prompt.Tool) error {
	for _, p := range parts {
		if err := l.add(Item{As: "part", Name: p.Name, Index: -1, Text: outline.FirstWords(jsonl.UTF8(p.Text))},
			p.Origin); err != nil {
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

func (l *itemList) message(m replay.Message, index int, uncached bool) error {
	one := Item{As: m.Raw.Get("role").Text(), Index: origin.Index(index), Uncached: uncached,
		Text: outline.MessageGist(m.Raw)}
	return l.add(one, m.Origin)
}

// Items returns what a context holds: parts, tools, then messages, in order.
func Items(e *replay.Envelope) ([]Item, error) {
	l := itemList{r: e.Replay(), lines: e.Replay().Session.NewReader(), request: -1}
	p, err := e.Prompt()
	if err != nil {
		return nil, err
	}
	if err := l.prompt(prompt.Split(p.Parts), p.Tools); err != nil {
		return nil, err
	}
	n := 0
	for m, err := range e.Sources(func(replay.Message) bool { return true }) {
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

// NewItems returns what a request has that an earlier envelope did not: new or changed parts
// and tools, then messages, without kind and time.
func NewItems(e, earlier *replay.Envelope) ([]Item, error) {
	is, err := e.Prompt()
	if err != nil {
		return nil, err
	}
	was, err := earlier.Prompt()
	if err != nil {
		return nil, err
	}
	l := itemList{r: e.Replay(), request: origin.Index(e.RequestIndex)}
	if err := l.prompt(differing(prompt.Split(was.Parts), prompt.Split(is.Parts), partText),
		differing(was.Tools, is.Tools, toolText)); err != nil {
		return nil, err
	}
	for m, err := range e.Entered(earlier) {
		if err != nil {
			return nil, err
		}
		if err := l.message(m, -1, false); err != nil {
			return nil, err
		}
	}
	return l.all, nil
}

func partText(p prompt.Part) (name, text string) { return p.Name, p.Text }

func toolText(t prompt.Tool) (name, text string) { return t.Name, string(t.Raw) }

// differing returns the elements of is that are new or differ from was.
func differing[T any](was, is []T, said func(T) (name, text string)) []T {
	type item struct{ name, text string }
	had := map[item]bool{}
	for _, x := range was {
		name, text := said(x)
		had[item{name, text}] = true
	}
	return slices.DeleteFunc(slices.Clone(is), func(x T) bool {
		name, text := said(x)
		return had[item{name, text}]
	})
}

// An Effect is the change that an entry made to the envelope on its own path.
type Effect struct {
	Before  weigh.Counts `json:"before"`        // tokens of the request before it
	After   weigh.Counts `json:"after"`         // tokens of the request after it
	Was     weigh.Size   `json:"contextBefore"` // the size of the context before it, as in `meta` of a replay
	Is      weigh.Size   `json:"contextAfter"`  // likewise after it
	Entered int          `json:"entered"`       // messages that the request before it did not have
	// names of parts that it set, or of their sections; each once
	Parts        []string `json:"parts,omitempty"`
	PartsRemoved []string `json:"partsRemoved,omitempty"` // names of parts or sections that it removed
	Tools        []string `json:"tools,omitempty"`        // names of tools that it set
	ToolsRemoved []string `json:"toolsRemoved,omitempty"` // names of tools that it removed
	// why the cache of the previous request ends early
	Broken string `json:"broken,omitempty"`
}

// EffectOf returns the difference between an earlier envelope of a replay and e.
func EffectOf(earlier, e *replay.Envelope, c *tokens.Counter) (*Effect, error) {
	out := &Effect{}
	var err error
	if out.Before, err = earlier.Count(c); err != nil {
		return nil, err
	}
	if out.After, err = e.Count(c); err != nil {
		return nil, err
	}
	if out.Was, err = earlier.Size(); err != nil {
		return nil, err
	}
	if out.Is, err = e.Size(); err != nil {
		return nil, err
	}
	for _, err := range e.Entered(earlier) {
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
	out.Parts, out.PartsRemoved = changedNames(prompt.Split(was.Parts), prompt.Split(is.Parts), partText)
	out.Tools, out.ToolsRemoved = changedNames(was.Tools, is.Tools, toolText)
	switch same := func(a, b prompt.Tool) bool { return string(a.Raw) == string(b.Raw) }; {
	case was.Compiled != "" && is.Compiled != was.Compiled:
		out.Broken = "the system prompt changed"
	case len(was.Tools) > 0 && !slices.EqualFunc(is.Tools, was.Tools, same):
		out.Broken = "the tools changed"
	default:
		out.Broken = broken(sent(earlier), sent(e))
	}
	return out, nil
}

// changedNames returns the names of new or changed elements, and of removed ones, each once.
func changedNames[T any](was, is []T, said func(T) (name, text string)) (set, gone []string) {
	here := map[string]bool{}
	for _, x := range is {
		name, _ := said(x)
		here[name] = true
	}
	for _, x := range differing(was, is, said) {
		if name, _ := said(x); !slices.Contains(set, name) {
			set = append(set, name)
		}
	}
	for _, x := range was {
		if name, text := said(x); !here[name] && text != "" && !slices.Contains(gone, name) {
			gone = append(gone, name)
		}
	}
	return set, gone
}

// A Row is an entry in a log, schema ctxtool/log/1.
type Row struct {
	Schema string `json:"schema"`
	ID     string `json:"id"`             // as the next four as in a tree
	Line   int    `json:"line"`           // in the file, from 1
	Time   string `json:"time,omitempty"` // as it stands in the file
	Kind   string `json:"kind"`           // the role of a message, else the type
	Text   string `json:"text,omitempty"` // the first words
	Active bool   `json:"active"`         // on the path to the leaf
	// effect on the envelope: `nothing`, `added`, `edited`, `compacted`, `patched`, `settings`; like the
	// next two, absent off the path and after a broken patch
	Did string `json:"did,omitempty"`
	// tokens added to the request; negative if removed
	Tokens *int `json:"tokens,omitempty"`
	// size of the context after the entry in tokens ([figures](figures.md))
	Context   *int         `json:"context,omitempty"`
	Estimated int          `json:"estimated,omitempty"` // of these, those that no provider has recorded
	Request   *int         `json:"request,omitempty"`   // number of the request that the entry answers, from 0
	Mark      string       `json:"mark,omitempty"`      // `T`: messages became smaller; `C`: the history was compacted
	Boundary  *logBoundary `json:"boundary,omitempty"`  // for a transform that a hook of pi made
}

// A logBoundary is the position of a transform between requests.
type logBoundary struct {
	After    int      `json:"after"`    // number of the request whose answer precedes it, -1 for none
	Before   int      `json:"before"`   // number of the request that follows it
	Likely   boundary `json:"likely"`   // the likely hook in the agent's loop, `before_request` or `turn_end`
	Inferred bool     `json:"inferred"` // the file does not record it
}

// RowOf returns the log row of a step at an index of a path, without what the entry itself
// contains, given the tokens of the context before and after it, and its size then.
func RowOf(s *sessionfmt.Session, step replay.Step, before, after weigh.Counts, size weigh.Size, path []int,
	at int) (row Row, err error) {
	delta := after.Total - before.Total
	row = Row{Active: true, Tokens: &delta, Context: &size.Tokens, Estimated: size.Estimated, Did: step.Did.String()}
	if n := step.Answers(); n >= 0 {
		row.Request = &n
	}
	switch {
	case step.Did == replay.Compacted:
		row.Mark = "C"
	case after.Messages < before.Messages:
		row.Mark = "T"
	}
	if s.Kind(step.Record) == jsonl.Transform && s.Dialect() == nil {
		n := step.Requests()
		row.Boundary = &logBoundary{After: n - 1, Before: n, Inferred: true}
		row.Boundary.Likely, err = boundaryOf(s, path, at)
	}
	return row, err
}

// A Shown is a complete entry with its effect on the envelope on its own path: an entry of
// schema ctxtool/show/1.
type Shown struct {
	ID     string      `json:"id,omitempty"`     // of the entry
	Line   int         `json:"line"`             // in the file, from 1
	Parent string      `json:"parent,omitempty"` // its id; absent for a root
	Kind   string      `json:"kind"`             // the role of a message, else the type
	Label  string      `json:"label,omitempty"`  // its label at the end of the file
	Active bool        `json:"active"`           // on the path to the leaf
	Effect *Effect     `json:"effect,omitempty"` // on its own path; absent after a broken patch
	Entry  jsonl.Value `json:"-"`                // as in the file
}

// A boundary is the hook in the agent's loop from which a transform probably comes. The file
// does not record it; it is inferred from the entries around the transform.
type boundary string

// The two hooks that make transforms (docs/session-format.md 6.5): before a request, and after
// its answer.
const (
	beforeRequest boundary = "before_request"
	turnEnd       boundary = "turn_end"
)

// boundaryOf infers the boundary of a transform at an index of a path. Messages reach the file
// late: a transform made before a request is written before the prompt that caused it, right
// after an earlier answer. Between an answer and a prompt, the nearer one in time decides.
func boundaryOf(session *sessionfmt.Session, path []int, k int) (boundary, error) {
	before, after := ofTurn(session, slices.Backward(path[:k])), ofTurn(session, slices.All(path[k+1:]))
	if before < 0 || session.Kind(before) != jsonl.Assistant {
		return beforeRequest, nil
	}
	if after < 0 || session.Kind(after) != jsonl.User {
		return turnEnd, nil
	}
	var at [3]int64
	lines := session.NewReader()
	for i, rec := range []int{before, path[k], after} {
		line, err := lines.Line(rec)
		if err != nil {
			return "", err
		}
		ms, ok := line.Get("timestamp").Millis()
		if !ok {
			return turnEnd, nil
		}
		at[i] = ms
	}
	if at[2]-at[1] < at[1]-at[0] {
		return beforeRequest, nil
	}
	return turnEnd, nil
}

// ofTurn returns the first record that is part of a turn, -1 for none.
func ofTurn(session *sessionfmt.Session, records iter.Seq2[int, int]) int {
	for _, rec := range records {
		switch session.Kind(rec) {
		case jsonl.User, jsonl.Assistant, jsonl.ToolResult:
			return rec
		}
	}
	return -1
}

// broken returns why a provider's cache of the messages of an earlier request cannot serve a request
// beyond some point: one was changed or removed. It is empty if all of them are there.
func broken(was, is []replay.Piece) string {
	for n, m := range was {
		switch {
		case n >= len(is):
			return fmt.Sprintf("message %d and what followed it was removed", n)
		case is[n].Place() != m.Place():
			return fmt.Sprintf("message %d changed", n)
		}
	}
	return ""
}

// sent returns the cached messages of a request.
func sent(e *replay.Envelope) (all []replay.Piece) {
	for i := range e.Listed() {
		if m := e.Piece(i); m.Sent() {
			all = append(all, m)
		}
	}
	return all
}

// A Meta describes an envelope: meta of schema ctxtool/replay/1.
type Meta struct {
	Model        models.Ref `json:"model,omitzero"` // from `--model`, else the path, else the baseline
	Limit        int64      `json:"limit"`          // context window in tokens, 0 if unknown
	TurnIndex    int        `json:"turnIndex"`      // prompts so far, minus one
	RequestIndex int        `json:"requestIndex"`   // answers so far: the number of the next request
	// as in pi's `/context`: UTF-16 units divided by four, rounded up per message; wherever these four
	// appear, `system` or `tools` is null if no record of the session has it
	Tokens weigh.Counts `json:"tokens"`
	Rules  replay.Rules `json:"rules"`          // the rules used, `pi` or `envelope`
	Leaf   string       `json:"leaf,omitempty"` // id of the last entry replayed; absent for the empty state
	// the size of the context ([figures](figures.md)), `{tokens, percent, estimated, hidden}`: the usage
	// of the last answer plus an estimate of what follows; the estimated part; the percentage of the
	// window, null if unknown; the estimated tokens of prompt and tools that the file does not record,
	// absent for 0
	Usage weigh.Size `json:"contextUsage"`
}

// MetaOf returns the description of an envelope, with its tokens counted.
func MetaOf(e *replay.Envelope, c *tokens.Counter) (m Meta, err error) {
	n, err := e.Count(c)
	if err != nil {
		return m, err
	}
	size, err := e.Size()
	if err != nil {
		return m, err
	}
	return NewMeta(e, n, size)
}

// NewMeta returns the description of an envelope whose tokens were counted.
func NewMeta(e *replay.Envelope, n weigh.Counts, size weigh.Size) (m Meta, err error) {
	m = Meta{TurnIndex: e.TurnIndex, RequestIndex: e.RequestIndex, Rules: e.Replay().Rules, Tokens: n}
	if e.Leaf >= 0 {
		m.Leaf = e.Replay().Session.ID(e.Leaf)
	}
	m.Model, m.Limit, _, err = e.Model()
	size.Window = m.Limit
	m.Usage = size.Of(size.Tokens)
	return m, err
}
