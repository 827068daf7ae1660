// Package origin records which entry a part of a context comes from, and what put it there.
package origin

import "ctxtool/sessionfmt"

// An Origin states where a part of an envelope comes from.
type Origin struct {
	Record int // record of the entry, -1 for the baseline
	By     int // record that put it there: Record itself, a transform, or an edit
	Op     int // op of the transform By, -1 for none
	Line   int // line of the agent's record of the request, if the part comes from that; else 0
}

// Baseline is the origin of everything that a baseline supplies.
var Baseline = Origin{Record: -1, By: -1, Op: -1}

// An Index is a number from 0, or -1 for none, which JSON omits.
type Index int

// IsZero reports whether the index is absent.
func (i Index) IsZero() bool { return i < 0 }

// A Source is where a part of a context comes from.
type Source struct {
	ID   string `json:"id,omitempty"`   // id of the entry
	Line int    `json:"line,omitempty"` // line of that entry, from 1
	// of that entry: a message's role, else the type; like `time`, absent in a log
	Kind string `json:"kind,omitempty"`
	Time string `json:"time,omitempty"` // of that entry, as in the file
	By   string `json:"by,omitempty"`   // id of the transform or edit that put it there
	Op   Index  `json:"op,omitzero"`    // the op of that transform
}

// From returns an origin in printable form. Without lines it has neither kind nor time.
func From(s *sessionfmt.Session, from Origin, lines *sessionfmt.Reader) (Source, error) {
	out := Source{Op: -1}
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

// A Provenance is the origin of a part of an envelope: an element of the lists in provenance of schema
// ctxtool/replay/1.
type Provenance struct {
	Entry string `json:"entry,omitempty"` // id of the entry that has the text
	Line  Index  `json:"line,omitzero"`   // its line in the file, from 1
	By    any    `json:"by"`              // "entry", "baseline", "record" of the request, or a putBy
}

// A putBy names the transform whose op added a part, or the edit that did.
type putBy struct {
	Entry string `json:"entry"`
	Op    Index  `json:"op,omitzero"`
}

// ProvenanceOf returns an origin as a Provenance.
func ProvenanceOf(s *sessionfmt.Session, from Origin) Provenance {
	switch {
	case from.Line != 0:
		return Provenance{Line: Index(max(-1, from.Line)), By: "record"}
	case from.Record < 0:
		return Provenance{Line: -1, By: "baseline"}
	}
	out := Provenance{Entry: s.ID(from.Record), Line: Index(s.Line(from.Record)), By: "entry"}
	if from.By != from.Record || from.Op >= 0 {
		out.By = putBy{s.ID(from.By), Index(from.Op)}
	}
	return out
}
