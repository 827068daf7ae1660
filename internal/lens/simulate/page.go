package simulate

import (
	"ctxtool/internal/read/outline"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay"
	"ctxtool/sessionfmt/jsonl"
	"maps"
	"slices"
	"strings"
)

// A Page is the data of a page that compares policies: what all of them share, and what each
// changed.
type Page struct {
	Title    string        `json:"title"`
	Optimize Goal          `json:"optimize"`
	Best     string        `json:"best,omitempty"`
	Why      []string      `json:"why"`
	Messages []PageMessage `json:"messages"` // of the path, without changes
	Answers  []int         `json:"answers"`  // the messages that answer the requests
	Runs     []PageRun     `json:"runs"`

	Acted     int          `json:"acted"`     // of several sessions, as in Store
	Differing []Difference `json:"differing"` // likewise
}

// A PageMessage is a message of the path.
type PageMessage struct {
	Kind   string `json:"kind"`
	Text   string `json:"text"` // its first words, with the call of a result
	Tokens int    `json:"tokens"`
	Entry  string `json:"entry"`
	Line   int    `json:"line"`
	Sent   bool   `json:"sent,omitempty"`
}

// A PageRun is one policy. A change is [message, what stands there, its tokens, the messages
// that it replaces]; a text of null removes the message.
type PageRun struct {
	*Run
	Sizes   []int64         `json:"sizes"`
	Costs   []float64       `json:"costs"`
	Over    []int           `json:"over"` // requests over the window
	Changes map[int][][]any `json:"changes"`
	Why     map[int]string  `json:"why"` // by request, in a few words
	Missed  []Regret        `json:"missed"`
}

// Page returns the data of a page. The report needs the rows, changes and regrets of its runs.
func (r *Report) Page(title string) (*Page, error) {
	p := &Page{Title: title, Optimize: r.Optimize, Best: r.Best, Why: r.Why, Answers: r.Answers, Runs: []PageRun{}}
	v := r.Path
	s := v.Envelope.Replay().Session
	p.Messages = make([]PageMessage, len(v.Messages))
	err := v.Envelope.Scan(func(index int, piece replay.Piece, m *jsonl.Message, _ int) {
		rec := piece.Origin().Record
		one := PageMessage{Kind: piece.Kind().String(), Entry: s.ID(rec), Line: s.Line(rec), Sent: m != nil}
		if m != nil {
			one.Text, one.Tokens = firstWords(m), v.Size(index)
		}
		p.Messages[index] = one
	})
	for _, run := range r.Runs {
		p.Runs = append(p.Runs, pageRun(run))
	}
	return p, err
}

// Page returns the data of a page that has the totals only.
func (s *Store) Page(title string) *Page {
	t := s.Total
	p := &Page{Title: title, Optimize: t.Optimize, Best: t.Best, Why: t.Why, Messages: []PageMessage{},
		Answers: []int{}, Runs: []PageRun{}, Acted: s.Acted, Differing: append([]Difference{}, s.Differing...)}
	for _, run := range t.Runs {
		p.Runs = append(p.Runs, pageRun(run))
	}
	return p
}

// firstWords returns the beginning of what a message says, or else of its calls.
func firstWords(m *jsonl.Message) string {
	var text []byte
	for i := range m.Blocks {
		if b := &m.Blocks[i]; b.Kind == jsonl.TextBlock && len(text) == 0 {
			text = b.Text.AppendText(nil)
		}
	}
	said := outline.FirstWords(string(text[:min(len(text), 2000)]))
	for call := range m.Calls {
		said += " → " + called(call.Name.Text(), call.Args)
	}
	return said
}

// longestStanding is how much of a text that stands for messages a page has, in bytes.
const longestStanding = 400

func pageRun(run *Run) PageRun {
	p := PageRun{Run: run, Sizes: []int64{}, Costs: []float64{}, Over: []int{}, Changes: map[int][][]any{},
		Why: map[int]string{}, Missed: append([]Regret{}, run.Regretted...)}
	for k := range run.Rows {
		row := &run.Rows[k]
		p.Sizes = append(p.Sizes, row.Prompt)
		p.Costs = append(p.Costs, row.Cost.Total)
		if row.Overflow > 0 {
			p.Over = append(p.Over, k)
		}
		why := map[string]int{}
		for _, c := range row.Changes {
			if c.Message < 0 {
				continue
			}
			var text any
			if c.Action != "omit" {
				text = sessionText(c.Text)
			}
			one := []any{c.Message, text, c.Now}
			if len(c.Gone) > 0 {
				one = append(one, c.Gone)
			}
			p.Changes[k] = append(p.Changes[k], one)
			why[c.Pass]++
		}
		if len(why) > 0 {
			p.Why[k] = reasons(why)
		}
	}
	run.Rows = nil
	return p
}

// sessionText returns the beginning of a text.
func sessionText(text string) string {
	if len(text) > longestStanding {
		return strings.ToValidUTF8(text[:longestStanding], "") + "…"
	}
	return text
}

// reasons returns how many changes each pass made, in words.
func reasons(passes map[string]int) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(passes)) {
		all = append(all, name+phrase.If(passes[name] > 1, " %d", passes[name]))
	}
	return strings.Join(all, ", ")
}
