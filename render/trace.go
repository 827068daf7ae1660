package render

import (
	"bufio"
	"cmp"
	"fmt"
	"strings"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A TraceRow is a message, part or tool that has held what was looked for, or an
// entry that does and never reached a context, schema ctxtool/trace/1.
type TraceRow struct {
	Schema string         `json:"schema"`
	As     string         `json:"as"` // role of a message, part, tool, or entry
	Name   string         `json:"name,omitempty"`
	ID     string         `json:"id,omitempty"` // of the entry that it comes from
	Line   int            `json:"line,omitempty"`
	Kind   string         `json:"kind,omitempty"`
	Time   string         `json:"time,omitempty"` // of that entry, as it stands in the file
	By     string         `json:"by,omitempty"`   // id of the transform or edit that put it there
	Op     *int           `json:"op,omitempty"`
	Text   string         `json:"text,omitempty"` // the words around the first match
	Events []TraceEvent   `json:"events,omitempty"`
	Seen   []replay.Range `json:"seen,omitempty"` // requests
	Now    bool           `json:"now"`            // in the context
	Why    replay.Why     `json:"why,omitempty"`  // it never was
}

// A TraceEvent is what an entry did to it.
type TraceEvent struct {
	Did      replay.Fate `json:"did"`
	ID       string      `json:"id,omitempty"` // of the entry
	Line     int         `json:"line"`
	Time     string      `json:"time,omitempty"`
	Op       *int        `json:"op,omitempty"`
	Request  int         `json:"request"`            // the first one that shows it
	Mentions *bool       `json:"mentions,omitempty"` // what is there instead still holds it
}

// NewTraceRows are the rows of lives.
func NewTraceRows(s *sessionfmt.Session, lines *sessionfmt.Reader, lives []*replay.Life) (rows []TraceRow, err error) {
	for _, l := range lives {
		row, err := newTraceRow(s, lines, l.Origin)
		if err != nil {
			return nil, err
		}
		row.As, row.Name, row.Text, row.Seen, row.Now = l.As, l.Name, l.Text, l.Seen, l.Now
		for _, e := range l.Events {
			line, err := lines.Line(e.Record)
			if err != nil {
				return nil, err
			}
			event := TraceEvent{Did: e.Did, ID: s.ID(e.Record), Line: s.Line(e.Record), Time: line.Get("timestamp").Text(), Request: e.Request, Mentions: e.Mentions}
			if e.Op >= 0 {
				event.Op = &e.Op
			}
			row.Events = append(row.Events, event)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// NewStrayRow is the row of an entry that never reached a context.
func NewStrayRow(s *sessionfmt.Session, lines *sessionfmt.Reader, stray replay.Stray) (TraceRow, error) {
	row, err := newTraceRow(s, lines, replay.Origin{Record: stray.Record, By: stray.Record, Op: -1})
	row.As, row.Text, row.Why = "entry", stray.Text, stray.Why
	return row, err
}

// newTraceRow is a row of something with that origin.
func newTraceRow(s *sessionfmt.Session, lines *sessionfmt.Reader, from replay.Origin) (TraceRow, error) {
	row := TraceRow{Schema: "ctxtool/trace/1"}
	if from.Record < 0 {
		return row, nil
	}
	line, err := lines.Line(from.Record)
	if err != nil {
		return row, err
	}
	row.ID, row.Line, row.Kind, row.Time = s.ID(from.Record), s.Line(from.Record), s.Kind(from.Record).String(), line.Get("timestamp").Text()
	if from.By != from.Record {
		row.By = s.ID(from.By)
	}
	if from.Op >= 0 {
		row.By, row.Op = s.ID(from.By), &from.Op
	}
	return row, nil
}

// WriteTraceJSON writes rows, an object a line.
func WriteTraceJSON(w *bufio.Writer, rows []TraceRow) error {
	for _, r := range rows {
		if err := WriteJSON(w, r); err != nil {
			return err
		}
	}
	return nil
}

// WriteTrace writes rows for people, those together that came to the same end and
// first what is there now, cut to a width in columns; 0 is what fits a page.
func WriteTrace(w *bufio.Writer, rows []TraceRow, width int) error {
	if width == 0 {
		width = 160
	}
	now := (&TraceRow{Now: true}).end()
	ends := []string{now}
	of := map[string][]TraceRow{}
	for _, r := range rows {
		end := r.end()
		if of[end] == nil && end != now {
			ends = append(ends, end)
		}
		of[end] = append(of[end], r)
	}
	first := true
	for _, end := range ends {
		if of[end] == nil {
			continue
		}
		if !first {
			w.WriteByte('\n')
		}
		first = false
		fmt.Fprintf(w, "%s (%d)\n", end, len(of[end]))
		for _, r := range of[end] {
			r.write(w, width)
		}
	}
	return nil
}

// end is what has become of it, as a heading.
func (r *TraceRow) end() string {
	switch {
	case r.Now:
		return "in the context now"
	case r.Why == replay.OffPath:
		return "never in this context: on another branch"
	case r.Why == replay.Behind:
		return "not known: behind a broken patch"
	case r.Why != "":
		return "never in a context: no model gets it"
	}
	last := r.Events[len(r.Events)-1]
	return "gone: " + last.text()
}

// text is an event in words.
func (e *TraceEvent) text() string {
	at := "line " + fmt.Sprint(e.Line)
	if e.ID != "" {
		at = sessionfmt.Quote(e.ID) + ", " + at
	}
	if e.Op != nil {
		at += fmt.Sprintf(", op %d", *e.Op)
	}
	at += fmt.Sprintf(", before #%d", e.Request)
	return fmt.Sprintf("%s by %s%s", e.Did, at, e.mentioned())
}

// mentioned says whether what stands there instead holds it.
func (e *TraceEvent) mentioned() string {
	what := map[replay.Fate]string{replay.FateSummed: "the summary", replay.FateReplaced: "what replaced it"}[e.Did]
	switch {
	case e.Mentions == nil:
		return ""
	case what != "" && *e.Mentions:
		return "; " + what + " still mentions it"
	case what != "":
		return "; " + what + " does not mention it"
	case *e.Mentions:
		return "; it is still in there"
	}
	return ""
}

// write writes a row: what it is, the words, and what happened in between.
func (r *TraceRow) write(w *bufio.Writer, width int) {
	what := cmp.Or(r.Kind, r.As)
	if r.As == "part" || r.As == "tool" {
		what = r.As + " " + sessionfmt.Quote(r.Name)
	}
	head := fmt.Sprintf("  %-8s %s", orDash(sessionfmt.Quote(r.ID)), what)
	if r.Line > 0 {
		head += fmt.Sprintf(", line %d", r.Line)
	}
	if at := strings.TrimSpace(clock(r.Time)); at != "" {
		head += ", " + at
	}
	if r.Why == "" {
		head += ": " + r.seen()
	}
	put(w, head, width)
	if r.Text != "" {
		put(w, "           "+r.Text, width)
	}
	events := r.Events
	if len(events) > 0 && (events[0].Did == replay.FateEntered && events[0].ID == r.ID && r.Op == nil) {
		events = events[1:]
	}
	if !r.Now && len(events) > 0 {
		events = events[:len(events)-1] // the heading has it
	}
	for _, e := range events {
		put(w, "           "+e.text(), width)
	}
}

func put(w *bufio.Writer, line string, width int) {
	w.WriteString(fit(line, width))
	w.WriteByte('\n')
}

// seen says which requests have seen it.
func (r *TraceRow) seen() string {
	if len(r.Seen) == 0 {
		return "seen by no request"
	}
	var all []string
	for _, s := range r.Seen {
		if s.First == s.Last {
			all = append(all, fmt.Sprintf("#%d", s.First))
		} else {
			all = append(all, fmt.Sprintf("#%d to #%d", s.First, s.Last))
		}
	}
	return "seen by " + strings.Join(all, ", ")
}
