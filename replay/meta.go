package replay

import "ctxtool/replay/tokens"

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
