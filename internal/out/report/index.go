package report

import (
	"cmp"
	"encoding/json"
	"strings"

	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// An Index describes each entry for use before its row is read: columns with a value per entry.
// Up is the distance to its parent in rows, 0 for a root. Time is milliseconds since the
// previous entry with a time.
type Index struct {
	IDs    string  `json:"ids"` // one per line
	Up     []int32 `json:"up"`
	Kind   []int32 `json:"kind"`
	Time   []int64 `json:"time"`
	Has    []int32 `json:"has"` // a sum of the constants below
	Tokens []int32 `json:"tokens"`
	// Of calls: recorded output tokens, and the cost in dollars, as recorded or by the table.
	Output []int64   `json:"output"`
	Cost   []float64 `json:"cost"`
	// Labels are [entry, target, label], in file order; an empty label clears. Edits are
	// [entry, target].
	Labels [][3]any   `json:"labels,omitempty"`
	Edits  [][2]int32 `json:"edits,omitempty"`

	times []int64
	ids   []models.CallID // of calls
	calls []call          // each once
}

// A call is what a call of a model cost, in dollars.
type call struct {
	id   models.CallID
	cost float64
}

// What an entry has.
const (
	hasText = 1 << iota
	hasError
	noTime
	computed // the cost is by the table
)

func (x *Index) start(s *sessionfmt.Session) {
	n := s.Len()
	x.Up, x.Kind, x.Time = make([]int32, n), make([]int32, n), make([]int64, n)
	x.Has, x.Tokens = make([]int32, n), make([]int32, n)
	x.Output, x.Cost, x.ids = make([]int64, n), make([]float64, n), make([]models.CallID, n)
	x.times = make([]int64, n)
}

// take records what a row contains. It may be called concurrently for different rows.
func (x *Index) take(s *sessionfmt.Session, i int, kind jsonl.Kind, f *facts) {
	if up := s.Parent(i); up >= 0 {
		x.Up[i] = int32(i - up)
	}
	x.Kind[i], x.Has[i], x.times[i] = int32(kind), int32(f.has), f.time
	x.Output[i], x.Cost[i] = int64(f.output), f.cost
	if x.ids != nil { // else the index is complete
		x.ids[i] = f.id
	}
}

// Finish completes the index, once all rows have been read.
func (p *Report) Finish() error {
	x, lines := &p.Index, p.s.NewReader()
	if x.ids == nil {
		return nil // already finished
	}
	header, err := p.s.HeaderLine()
	if err != nil {
		return err
	}
	records := p.s.Origins(header)
	of := records.Calls()
	var ids strings.Builder
	var last int64
	var counted models.CallSet
	p.Head.Cost, p.Head.Recorded = p.Subs.Cost, p.Subs.Recorded
	for i := range p.s.Len() {
		if id := x.ids[i]; id.Record != 0 && !(p.Subs.Without && p.s.Delegated(i)) {
			of.Complete(&id, i)
			if counted.Add(id) {
				x.calls = append(x.calls, call{id, x.Cost[i]})
				p.Head.Cost += x.Cost[i]
				if x.Has[i]&computed == 0 {
					p.Head.Recorded += x.Cost[i]
				}
			}
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
		kind := p.s.Kind(i)
		if kind != jsonl.Label && kind != jsonl.ContextEdit {
			continue
		}
		line, err := lines.Line(i)
		if err != nil {
			return err
		}
		switch target := p.s.Find(line.Get("targetId").Text()); {
		case target < 0:
		case kind == jsonl.Label:
			text := json.RawMessage(jsonl.AppendQuoted(nil, line.Get("label").Text()))
			x.Labels = append(x.Labels, [3]any{i, target, text})
		default:
			x.Edits = append(x.Edits, [2]int32{int32(i), int32(target)})
		}
	}
	x.IDs, x.ids = ids.String(), nil
	p.Head.Over = p.Head.Window > 0 && int64(p.Head.Usage.Tokens) > p.Head.Window
	return nil
}
