package tokens

import "encoding/json"

// Texts are the counts of plain texts, schema ctxtool/count/1.
type Texts struct {
	Schema   string        `json:"schema"`
	By       string        `json:"by,omitempty"`  // `line`, `file`, `total`
	Counters []CounterName `json:"counters"`      // in the given order
	Rows     []Text        `json:"rows,omitzero"` // each text; absent by total
	Total    Text          `json:"total"`         // the sum, as `rows[]`, without `file`
}

// A CounterName is a counter used for a count.
type CounterName struct {
	Name     string `json:"name"`     // of the counter
	Estimate bool   `json:"estimate"` // it is an estimate, not a tokenizer
}

// A Text is a text with its counts.
type Text struct {
	Schema string `json:"schema,omitempty"` // if printed as a line of its own
	File   string `json:"file,omitempty"`   // as given, with forward slashes; `-` is standard input
	Line   int    `json:"line,omitempty"`   // from 1; absent unless by line
	Bytes  int64  `json:"bytes"`            // as in the file; of a line including its line end
	Tokens Counts `json:"tokens"`           // tokens by the counter's name; of a line without its line end
}

// Counts are tokens by counters.
type Counts []Count

// A Count is the number of tokens by one counter.
type Count struct {
	By *Counter
	N  int64
}

// MarshalJSON returns an object with the counters' names as keys.
func (all Counts) MarshalJSON() ([]byte, error) {
	named := map[string]int64{}
	for _, c := range all {
		named[c.By.Name] = c.N
	}
	return json.Marshal(named)
}

// NewTexts returns an empty Texts.
func NewTexts(by string, counters []*Counter) *Texts {
	t := &Texts{Schema: "ctxtool/count/1", By: by, Rows: []Text{}}
	for _, c := range counters {
		t.Counters = append(t.Counters, CounterName{c.Name, c.Estimates()})
		t.Total.Tokens = append(t.Total.Tokens, Count{By: c})
	}
	return t
}

// Add adds texts. By total, only the sum has them.
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
