package redact

import (
	"fmt"
	"slices"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Tally is what a run has redacted, without any of it.
type Tally struct {
	Sealed int // signatures and encrypted texts that were stripped
	Images int // that were not looked into

	r      *Redactor
	rules  []count
	number int     // of the line at hand
	line   []int32 // rules that have found something in it
}

// A count is what a rule has found.
type count struct {
	values  int // distinct ones
	places  int
	entries []string
}

// A Found is what a rule has found in a session.
type Found struct {
	Rule    string   `json:"rule"`
	Values  int      `json:"values"`            // distinct ones
	Places  int      `json:"places"`            // where they stood
	Entries []string `json:"entries,omitempty"` // ids of the entries that they were in, or their lines; at most MaxEntries
}

// maxEntries is how many entries are named for each rule.
const maxEntries = 1000

// Found is what each rule has found, in the order of the rules.
func (t *Tally) Found() (all []Found) {
	for k, c := range t.rules {
		if c.places > 0 {
			all = append(all, Found{t.r.names[k], c.values, c.places, c.entries})
		}
	}
	return all
}

// begin begins a line.
func (t *Tally) begin() { t.line = t.line[:0] }

// add counts a place with value number n of a rule.
func (t *Tally) add(rule int32, n int) {
	c := &t.rules[rule]
	c.values = max(c.values, n)
	c.places++
	if !slices.Contains(t.line, rule) {
		t.line = append(t.line, rule)
	}
}

// entry names the entry in which rules have found something, by its id as it is
// redacted.
func (t *Tally) entry(line []byte) {
	var id string
	for _, k := range t.line {
		c := &t.rules[k]
		if len(c.entries) >= maxEntries {
			continue
		}
		if id == "" {
			id = fmt.Sprintf("line %d", t.number)
			if v, err := jsonl.ParseValue(line); err == nil && !v.Get("type").Is("session") && v.Get("id").Text() != "" {
				id = sessionfmt.Quote(v.Get("id").Text())
			}
		}
		if !slices.Contains(c.entries, id) {
			c.entries = append(c.entries, id)
		}
	}
}
