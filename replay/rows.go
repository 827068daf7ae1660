package replay

import (
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

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
	if a.m.r.Session.Kind(a.Record) == sessionfmt.Transform {
		row.Boundary = &logBoundary{After: a.Answers - 1, Before: a.Answers, Inferred: true}
		row.Boundary.Likely, err = a.boundary()
	}
	return row, err
}

// DiffEntries are the entries that only one of two paths has, schema
// ctxtool/diff.entries/1.
type DiffEntries struct {
	Schema   string           `json:"schema"`
	A        DiffSource       `json:"a"`
	B        DiffSource       `json:"b"`
	Ancestor *sessionfmt.Row  `json:"ancestor,omitempty"` // the last entry that both paths have
	OnlyA    []sessionfmt.Row `json:"onlyA"`              // the entries that only the one has
	OnlyB    []sessionfmt.Row `json:"onlyB"`              // and the other
}

// A ShownEntry is an entry, whole, with what it did to the envelope on its own path: an
// entry of schema ctxtool/show/1.
type ShownEntry struct {
	ID     string           `json:"id,omitempty"`     // of the entry
	Line   int              `json:"line"`             // in the file, from 1
	Parent string           `json:"parent,omitempty"` // its id; absent for a root
	Kind   string           `json:"kind"`             // the role of a message, else the type
	Label  string           `json:"label,omitempty"`  // that it has at the end of the file
	Active bool             `json:"active"`           // on the path to the leaf
	Effect *EntryEffect     `json:"effect,omitempty"` // what it did on its own path; absent behind a broken patch
	Entry  sessionfmt.Value `json:"-"`                // as it stands in the file
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
