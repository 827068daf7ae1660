package report

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// An Index describes each entry for use before its row is read: columns with a value per entry.
// Up is the distance to its parent in rows, 0 for a root. Time is milliseconds since the
// previous entry with a time.
type Index struct {
	IDs    string // one per line
	Up     []int32
	Kind   []int32
	Time   []int64
	Has    []int32 // a sum of the constants below
	Tokens []int32
	// Of calls: recorded output tokens, and the cost in dollars, as recorded or by the table.
	Output []int64
	Cost   []float64
	// Labels are [entry, target, label], in file order; an empty label clears. Edits are
	// [entry, target].
	Labels []label
	Edits  [][2]int32

	times []int64
	notes []note
	keys  []uint64 // of calls; see models.CallKey
	calls []call   // each once
}

// A call is what a call of a model cost, in dollars, by its key.
type call struct {
	key  uint64
	cost float64
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

// A note is what an entry records about another one, or about the session.
type note struct{ target, text string }

type label struct {
	entry, target int32
	text          string
}

// MarshalJSON returns [entry, target, text].
func (l label) MarshalJSON() ([]byte, error) {
	return append(jsonl.AppendQuoted(fmt.Appendf(nil, "[%d,%d,", l.entry, l.target), l.text), ']'), nil
}

// WriteJSON writes the index in pieces, to avoid a copy.
func (x *Index) WriteJSON(w io.Writer) error {
	ids, err := json.Marshal(x.IDs)
	if err != nil {
		return err
	}
	fmt.Fprint(w, `{"ids":`)
	w.Write(ids)
	err = errors.Join(column(w, "up", x.Up), column(w, "kind", x.Kind), column(w, "time", x.Time), column(w, "has", x.Has),
		column(w, "tokens", x.Tokens), column(w, "output", x.Output), column(w, "cost", x.Cost))
	if len(x.Labels) > 0 {
		err = errors.Join(err, column(w, "labels", x.Labels))
	}
	if len(x.Edits) > 0 {
		err = errors.Join(err, column(w, "edits", x.Edits))
	}
	_, failed := io.WriteString(w, "}")
	return errors.Join(err, failed)
}

// column writes a field that is a list.
func column[T any](w io.Writer, name string, list []T) error {
	fmt.Fprintf(w, ",%q:[", name)
	first := true
	for piece := range slices.Chunk(list, 4096) {
		data, err := json.Marshal(piece)
		if err != nil {
			return err
		}
		if !first {
			fmt.Fprint(w, ",")
		}
		first = false
		if _, err := w.Write(data[1 : len(data)-1]); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "]")
	return err
}

func (x *Index) start(s *sessionfmt.Session) {
	n := s.Len()
	x.Up, x.Kind, x.Time = make([]int32, n), make([]int32, n), make([]int64, n)
	x.Has, x.Tokens = make([]int32, n), make([]int32, n)
	x.Output, x.Cost, x.keys = make([]int64, n), make([]float64, n), make([]uint64, n)
	x.times, x.notes = make([]int64, n), make([]note, n)
}

// take records what a row contains. It may be called concurrently for different rows.
func (x *Index) take(s *sessionfmt.Session, i int, f *facts) {
	if up := s.Parent(i); up >= 0 {
		x.Up[i] = int32(i - up)
	}
	x.Kind[i], x.Has[i], x.times[i] = int32(s.Kind(i)), int32(f.has), f.time
	x.Output[i], x.Cost[i] = int64(f.output), f.cost
	if x.keys != nil { // else the index is complete
		x.keys[i] = f.key
	}
	if x.notes != nil && (f.target != "" || f.text != "") {
		x.notes[i] = note{f.target, f.text}
	}
}

// Finish completes the index, once all rows have been read.
func (p *Report) Finish() {
	x := &p.Index
	if x.notes == nil {
		return // already finished
	}
	var ids strings.Builder
	var last int64
	counted := map[uint64]bool{}
	for i := range p.s.Len() {
		if key := x.keys[i]; key != 0 && !counted[key] {
			counted[key] = true
			x.calls = append(x.calls, call{key, x.Cost[i]})
			p.Head.Cost += x.Cost[i]
		}
		if at := x.times[i]; p.s.Kind(i).IsMessage() && x.Has[i]&noTime == 0 {
			p.Head.From, p.Head.To = min(cmp.Or(p.Head.From, at), at), max(p.Head.To, at)
		}
		if i > 0 {
			ids.WriteByte('\n')
		}
		ids.WriteString(strings.ReplaceAll(p.s.ID(i), "\n", "\uFFFD"))
		if x.Has[i]&noTime == 0 {
			x.Time[i], last = x.times[i]-last, x.times[i]
		}
		n := &x.notes[i]
		switch p.s.Kind(i) {
		case jsonl.Label:
			if target := p.s.Find(n.target); target >= 0 {
				x.Labels = append(x.Labels, label{int32(i), int32(target), n.text})
			}
		case jsonl.ContextEdit:
			if target := p.s.Find(n.target); target >= 0 {
				x.Edits = append(x.Edits, [2]int32{int32(i), int32(target)})
			}
		case jsonl.SessionInfo:
			p.Head.Name = jsonl.TrimJS(n.text)
		case jsonl.Header:
			if i == p.s.Header() {
				p.Head.Cwd = n.text
			}
		}
	}
	x.IDs, x.notes, x.keys = ids.String(), nil, nil
	sizes, _ := p.path()
	p.Head.Over = p.Head.Window > 0 && len(sizes) > 0 && int64(sizes[len(sizes)-1]) > p.Head.Window
}
