package render

import (
	"fmt"
	"strings"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A Diff is two envelopes beside each other, schema ctxtool/diff/1. Texts are read when
// it is printed.
type Diff struct {
	A, B   DiffSide
	Equal  bool
	Shared DiffShared
	Model  *DiffModel // nil where it is the same
	Tokens DiffCounts
	Bytes  DiffCounts

	d *replay.Difference
}

// A DiffSource is where a side was asked for.
type DiffSource struct {
	File  string `json:"file"`
	Point string `json:"point,omitempty"` // as it was given
}

// A DiffSide says which envelope a side is.
type DiffSide struct {
	DiffSource
	Entry        string           `json:"entry,omitempty"` // the last one replayed
	Rules        string           `json:"rules"`
	Model        *replay.ModelRef `json:"model,omitempty"`
	Limit        int64            `json:"limit"`
	TurnIndex    int              `json:"turnIndex"`
	RequestIndex int              `json:"requestIndex"`
	Cached       int              `json:"cached"` // messages
	Uncached     int              `json:"uncached"`
}

// A DiffShared is how much of the beginning of both is the same, and where the first
// difference falls: system, tools or messages, nowhere if it is empty.
type DiffShared struct {
	Messages int    `json:"messages"`
	Tokens   int    `json:"tokens"`
	First    string `json:"first,omitempty"`
}

// A DiffModel is another model.
type DiffModel struct {
	A     *replay.ModelRef `json:"a,omitempty"`
	B     *replay.ModelRef `json:"b,omitempty"`
	Cause *DiffCause       `json:"cause,omitempty"`
}

// DiffCounts are sizes of both sides.
type DiffCounts struct {
	A replay.Counts `json:"a"`
	B replay.Counts `json:"b"`
}

// A DiffCause is the entry that made a difference, and the op of its patch.
type DiffCause struct {
	Entry string `json:"entry,omitempty"`
	Line  int    `json:"line"`
	Kind  string `json:"kind"`
	Op    *int   `json:"op,omitempty"`
}

// NewDiff makes a comparison ready to be printed.
func NewDiff(d *replay.Difference, a, b DiffSource) (*Diff, error) {
	out := &Diff{A: DiffSide{DiffSource: a}, B: DiffSide{DiffSource: b}, Equal: d.Equal(), d: d}
	for _, s := range []struct {
		side *DiffSide
		e    *replay.Envelope
	}{{&out.A, d.A}, {&out.B, d.B}} {
		model, limit, _, err := s.e.Model()
		if err != nil {
			return nil, err
		}
		s.side.Model, s.side.Limit, s.side.Rules = modelOf(model), limit, s.e.Replay().Rules.String()
		s.side.TurnIndex, s.side.RequestIndex = s.e.TurnIndex, s.e.RequestIndex
		s.side.Cached, s.side.Uncached = s.e.Cached(), s.e.Uncached()
		if s.e.Leaf >= 0 {
			s.side.Entry = s.e.Replay().Session.ID(s.e.Leaf)
		}
	}
	if m := d.Model; m != nil {
		out.Model = &DiffModel{modelOf(m.A), modelOf(m.B), diffCause(m.Cause)}
	}
	out.Tokens = DiffCounts{d.Tokens[0], d.Tokens[1]}
	out.Bytes = DiffCounts{d.Bytes[0], d.Bytes[1]}
	out.Shared = DiffShared{Messages: d.Shared.Messages, Tokens: d.Shared.Tokens}
	switch {
	case len(d.Parts) > 0:
		out.Shared.First = "system"
	case len(d.Tools) > 0:
		out.Shared.First = "tools"
	case d.Shared.Messages < max(out.A.Cached+out.A.Uncached, out.B.Cached+out.B.Uncached):
		out.Shared.First = "messages"
	}
	return out, nil
}

func modelOf(m replay.ModelRef) *replay.ModelRef {
	if m == (replay.ModelRef{}) {
		return nil
	}
	return &m
}

func diffCause(c replay.Cause) *DiffCause {
	if c.In == nil || c.Record < 0 {
		return nil
	}
	s := c.In.Session
	out := &DiffCause{Entry: s.ID(c.Record), Line: s.Line(c.Record), Kind: s.Kind(c.Record).String()}
	if c.Op >= 0 {
		out.Op = &c.Op
	}
	return out
}

// describe is where a side was asked for, in words.
func (s DiffSource) describe() string {
	name := s.File
	if s.Point != "" {
		name += "@" + s.Point
	}
	return sessionfmt.Clean(name)
}

func (c *DiffCause) String() string {
	if c == nil {
		return ""
	}
	text := orDash(sessionfmt.Quote(c.Entry)) + " " + strings.ReplaceAll(c.Kind, "_", " ")
	if c.Op != nil {
		text += fmt.Sprintf(", op %d", *c.Op)
	}
	return text
}
