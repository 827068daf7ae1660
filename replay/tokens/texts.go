package tokens

import "encoding/json"

// Texts are plain texts that were counted, schema ctxtool/count/1.
type Texts struct {
	Schema   string        `json:"schema"`
	By       string        `json:"by,omitempty"`  // `line`, `file`, `total`
	Counters []CounterName `json:"counters"`      // in the order asked for
	Rows     []Text        `json:"rows,omitzero"` // each text; none by total
	Total    Text          `json:"total"`         // as `rows[]`, their sum; it has no `file`
}

// A CounterName is a counter that texts were counted by.
type CounterName struct {
	Name     string `json:"name"`     // of the counter
	Estimate bool   `json:"estimate"` // it is an estimate, not a tokenizer
}

// A Text is a text that was counted.
type Text struct {
	Schema string `json:"schema,omitempty"` // on a line of its own
	File   string `json:"file,omitempty"`   // as it was given, with forward slashes; `-` is standard input
	Line   int    `json:"line,omitempty"`   // from 1; absent unless by line
	Bytes  int64  `json:"bytes"`            // as they are in the file; of a line with its end
	Tokens Counts `json:"tokens"`           // tokens by the counter's name; of a line without its end
}

// Counts are tokens by counters.
type Counts []Count

// A Count is tokens by a counter.
type Count struct {
	By *Counter
	N  int64
}

// MarshalJSON writes the tokens by the counters' names.
func (all Counts) MarshalJSON() ([]byte, error) {
	named := map[string]int64{}
	for _, c := range all {
		named[c.By.Name] = c.N
	}
	return json.Marshal(named)
}

// NewTexts are not texts yet.
func NewTexts(by string, counters []*Counter) *Texts {
	t := &Texts{Schema: "ctxtool/count/1", By: by, Rows: []Text{}}
	for _, c := range counters {
		t.Counters = append(t.Counters, CounterName{c.Name, c.Estimates()})
		t.Total.Tokens = append(t.Total.Tokens, Count{By: c})
	}
	return t
}

// Add adds texts; by total they are in the sum alone.
func (t *Texts) Add(rows []Text) {
	for _, r := range rows {
		t.Total.Bytes += r.Bytes
		for i, c := range r.Tokens {
			t.Total.Tokens[i].N += c.N
		}
	}
	if t.By != "total" {
		t.Rows = append(t.Rows, rows...)
	}
}
