package report

import (
	"fmt"
	"strings"

	"ctxtool/sessionfmt"
)

// An Index is what is known of each entry before its row is read: columns, a value an
// entry. Up is how far above it its parent stands, 0 for a root; Time the milliseconds
// since the entry before it that has a time.
type Index struct {
	IDs    string  `json:"ids"` // one a line
	Up     []int32 `json:"up"`
	Kind   []int32 `json:"kind"`
	Time   []int64 `json:"time"`
	Has    []int32 `json:"has"` // a sum of the numbers below
	Tokens []int32 `json:"tokens"`
	// What answers recorded: tokens of output, and dollars in all.
	Output []int64   `json:"output"`
	Cost   []float64 `json:"cost"`
	// Labels are [entry, target, label], in the order of the file; an empty label
	// clears. Edits are [entry, target].
	Labels []label    `json:"labels,omitempty"`
	Edits  [][2]int32 `json:"edits,omitempty"`

	times []int64
	notes []note
}

// What an entry has.
const (
	hasText = 1 << iota
	hasThinking
	hasCalls
	hasImages
	hasError
	noTime
)

// A note is what an entry says of others, or of the session.
type note struct{ target, text string }

// A label is what an entry says of another one.
type label struct {
	entry, target int32
	text          string
}

// MarshalJSON is [entry, target, text].
func (l label) MarshalJSON() ([]byte, error) {
	return append(sessionfmt.AppendQuoted(fmt.Appendf(nil, "[%d,%d,", l.entry, l.target), l.text), ']'), nil
}

func (x *Index) start(s *sessionfmt.Session) {
	n := s.Len()
	x.Up, x.Kind, x.Time = make([]int32, n), make([]int32, n), make([]int64, n)
	x.Has, x.Tokens = make([]int32, n), make([]int32, n)
	x.Output, x.Cost = make([]int64, n), make([]float64, n)
	x.times, x.notes = make([]int64, n), make([]note, n)
}

// take takes down what a row has. Rows may be taken at the same time.
func (x *Index) take(s *sessionfmt.Session, i int, f *facts) {
	if up := s.Parent(i); up >= 0 {
		x.Up[i] = int32(i - up)
	}
	x.Kind[i], x.Has[i], x.times[i] = int32(s.Kind(i)), int32(f.has), f.time
	x.Output[i], x.Cost[i] = int64(f.output), f.cost
	if f.target != "" || f.text != "" {
		x.notes[i] = note{f.target, f.text}
	}
}

// Finish puts the index together, once all rows have been read.
func (p *Report) Finish() {
	x := &p.Index
	var ids strings.Builder
	var last int64
	for i := range p.s.Len() {
		if i > 0 {
			ids.WriteByte('\n')
		}
		ids.WriteString(strings.ReplaceAll(p.s.ID(i), "\n", "\uFFFD"))
		if x.Has[i]&noTime == 0 {
			x.Time[i], last = x.times[i]-last, x.times[i]
		}
		n := &x.notes[i]
		switch p.s.Kind(i) {
		case sessionfmt.Label:
			if target := p.s.Find(n.target); target >= 0 {
				x.Labels = append(x.Labels, label{int32(i), int32(target), n.text})
			}
		case sessionfmt.ContextEdit:
			if target := p.s.Find(n.target); target >= 0 {
				x.Edits = append(x.Edits, [2]int32{int32(i), int32(target)})
			}
		case sessionfmt.SessionInfo:
			p.Head.Name = sessionfmt.TrimJS(n.text)
		case sessionfmt.Header:
			if i == p.s.Header() {
				p.Head.Cwd = n.text
			}
		}
	}
	x.IDs = ids.String()
}
