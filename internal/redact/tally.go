package redact

import (
	"fmt"
	"slices"

	"ctxtool/sessionfmt"
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
	Rule    string   `json:"rule"`              // gitleaks' id of it or one's own; `value`, `email`, `home`
	Values  int      `json:"values"`            // distinct values
	Places  int      `json:"places"`            // places where they stood
	Entries []string `json:"entries,omitempty"` // ids of the entries that they were in, `line N` where there is none; at most 1,000
}

// ReportSchema is that of a Report.
const ReportSchema = "ctxtool/redact/1"

// A Report is what redacting a session takes out of it, or took. None of that is in
// here.
type Report struct {
	Schema   string  `json:"schema"`
	File     string  `json:"file"`              // as it was given, redacted itself; `-` for standard input
	Found    []Found `json:"found"`             // what each rule has found, in the order of the rules
	Stripped int     `json:"stripped"`          // signatures and encrypted texts, which cannot be redacted
	Images   int     `json:"images"`            // those that nobody has looked into
	Written  string  `json:"written,omitempty"` // the new file; absent for a plan
	Error    string  `json:"error,omitempty"`   // of one among several: why it could not be redacted
}

// Total is how many values stood in how many places.
func (r *Report) Total() (values, places int) {
	for _, f := range r.Found {
		values, places = values+f.Values, places+f.Places
	}
	return values, places
}

// Reports are those of several sessions.
type Reports struct {
	Schema string    `json:"schema"`
	Files  []*Report `json:"files"`
}

// MaxEntries is how many entries are named for each rule.
const MaxEntries = 1000

// Report is what was redacted in a file.
func (t *Tally) Report(file string) *Report {
	r := &Report{Schema: ReportSchema, File: file, Found: []Found{}, Stripped: t.Sealed, Images: t.Images}
	for k, c := range t.rules {
		if c.places > 0 {
			r.Found = append(r.Found, Found{t.r.names[k], c.values, c.places, c.entries})
		}
	}
	return r
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
		if len(c.entries) >= MaxEntries {
			continue
		}
		if id == "" {
			id = fmt.Sprintf("line %d", t.number)
			if v, err := sessionfmt.ParseValue(line); err == nil && !v.Get("type").Is("session") && v.Get("id").Text() != "" {
				id = sessionfmt.Quote(v.Get("id").Text())
			}
		}
		if !slices.Contains(c.entries, id) {
			c.entries = append(c.entries, id)
		}
	}
}
