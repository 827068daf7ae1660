package render

import (
	"bufio"
	"fmt"
	"strings"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A LogRow is an entry in a log, schema ctxtool/log/1.
type LogRow struct {
	Schema  string `json:"schema"`
	ID      string `json:"id"`
	Line    int    `json:"line"`
	Time    string `json:"time,omitempty"` // as it stands in the file
	Kind    string `json:"kind"`
	Text    string `json:"text,omitempty"` // the first words
	Active  bool   `json:"active"`         // on the path to the leaf
	Did     string `json:"did,omitempty"`  // to the envelope
	Tokens  *int   `json:"tokens,omitempty"`
	Context *int   `json:"context,omitempty"` // tokens of the request as it stands after the entry
	Request *int   `json:"request,omitempty"` // that the entry answers
	Mark    string `json:"mark,omitempty"`    // T: messages became smaller; C: compacted

	Boundary *LogBoundary `json:"boundary,omitempty"` // of a transform
}

// A LogBoundary says where a transform lies: behind the answer to one request, -1
// for none, and before the next.
type LogBoundary struct {
	After    int             `json:"after"`
	Before   int             `json:"before"`
	Likely   replay.Boundary `json:"likely"`
	Inferred bool            `json:"inferred"`
}

// NewLogRow is a row of what an entry of the path did.
func NewLogRow(a replay.Account, kind sessionfmt.Kind) (row LogRow, err error) {
	delta := a.After.Total - a.Before.Total
	row = LogRow{Active: true, Tokens: &delta, Context: &a.After.Total, Did: a.Did.String()}
	if a.Request >= 0 {
		row.Request = &a.Request
	}
	switch {
	case a.Did == replay.Compacted:
		row.Mark = "C"
	case a.After.Messages < a.Before.Messages:
		row.Mark = "T"
	}
	if kind == sessionfmt.Transform {
		row.Boundary = &LogBoundary{After: a.Answers - 1, Before: a.Answers, Inferred: true}
		row.Boundary.Likely, err = a.Boundary()
	}
	return row, err
}

// Entry adds what an entry says by itself.
func (r *LogRow) Entry(s *sessionfmt.Session, rec int, line sessionfmt.Value) {
	r.Schema, r.ID, r.Line, r.Kind = "ctxtool/log/1", s.ID(rec), s.Line(rec), s.Kind(rec).String()
	r.Time, r.Text = line.Get("timestamp").Text(), sessionfmt.Gist(s.Kind(rec), line)
}

// WriteLogJSON writes a row as one line of JSON.
func WriteLogJSON(w *bufio.Writer, r LogRow) error {
	if err := writeValue(w, r); err != nil {
		return err
	}
	return w.WriteByte('\n')
}

// WriteLogText writes a row as one line for people, cut to a width in columns; 0
// is what fits a page.
func WriteLogText(w *bufio.Writer, r LogRow, width int) error {
	mark := r.Mark
	if r.Request != nil {
		mark = fmt.Sprintf("#%d", *r.Request)
	}
	tokens, context := "", ""
	if r.Tokens != nil && *r.Tokens != 0 {
		tokens = fmt.Sprintf("%+d", *r.Tokens)
	}
	if r.Context != nil {
		context = short(int64(*r.Context))
	}
	text := r.Text
	if b := r.Boundary; b != nil {
		text = fmt.Sprintf("[%s#%d, %s (inferred)] %s", behind(b.After), b.Before, b.Likely, text)
	}
	active := " "
	if !r.Active {
		active = "○"
	}
	id := orDash(sessionfmt.Quote(r.ID))
	if r.Kind == sessionfmt.Header.String() {
		id = "-" // is the session's, and long
	}
	line := fmt.Sprintf("%s%-5s %s %-8s %-13s %8s %7s  %s", active, mark, clock(r.Time), id,
		shortKind(r.Kind), tokens, context, text)
	if width == 0 {
		width = 160
	}
	w.WriteString(strings.TrimRight(fit(line, width), " "))
	return w.WriteByte('\n')
}

func behind(request int) string {
	if request < 0 {
		return "before "
	}
	return fmt.Sprintf("#%d to ", request)
}

// clock is a timestamp's day and time, in the file's own zone, mostly UTC.
func clock(stamp string) string {
	if len(stamp) < 19 || stamp[10] != 'T' {
		return "              "
	}
	return sessionfmt.Clean(stamp[5:10] + " " + stamp[11:19])
}

// shortKind is a kind's name in 13 columns.
func shortKind(kind string) string {
	switch kind {
	case "thinking_level_change":
		return "thinking"
	case "context_transform":
		return "transform"
	case "branch_summary":
		return "branch"
	case "custom_message":
		return "custom_msg"
	}
	return fit(kind, 13)
}
