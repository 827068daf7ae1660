package render

import (
	"bufio"
	"fmt"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// Entering is what a request has that the one before had not.
type Entering struct {
	Request       int
	Before, After replay.Counts
}

// An EnteringRow is a message, part or tool that entered a request, schema
// ctxtool/log.request/1.
type EnteringRow struct {
	Schema  string `json:"schema"`
	Request int    `json:"request"`
	As      string `json:"as"` // role of a message, part, or tool
	Name    string `json:"name,omitempty"`
	ID      string `json:"id,omitempty"` // of the entry that it comes from
	Line    int    `json:"line,omitempty"`
	By      string `json:"by,omitempty"` // id of the transform or edit that put it there
	Op      *int   `json:"op,omitempty"`
	Text    string `json:"text,omitempty"`
}

// entering goes through what entered: parts and tools that are new or changed,
// then messages.
func entering(now, before *replay.Envelope, request int, yield func(EnteringRow) error) error {
	s := now.Replay().Session
	row := func(as, name, text string, from replay.Origin) error {
		r := EnteringRow{Schema: "ctxtool/log.request/1", Request: request, As: as, Name: name, Text: text}
		if from.Record >= 0 {
			r.ID, r.Line = s.ID(from.Record), s.Line(from.Record)
		}
		if from.By != from.Record && from.By >= 0 {
			r.By = s.ID(from.By)
		}
		if from.Op >= 0 {
			r.By, r.Op = s.ID(from.By), &from.Op
		}
		return yield(r)
	}
	is, err := now.Prompt()
	if err != nil {
		return err
	}
	was, err := before.Prompt()
	if err != nil {
		return err
	}
	parts := map[string]string{}
	for _, p := range was.Parts {
		parts[p.Name] = p.Text
	}
	for _, p := range is.Parts {
		if text, ok := parts[p.Name]; !ok || text != p.Text {
			if err := row("part", p.Name, sessionfmt.FirstWords(p.Text), p.Origin); err != nil {
				return err
			}
		}
	}
	tools := map[string]string{}
	for _, t := range was.Tools {
		tools[t.Name] = string(t.Raw)
	}
	for _, t := range is.Tools {
		if raw, ok := tools[t.Name]; !ok || raw != string(t.Raw) {
			if err := row("tool", t.Name, sessionfmt.FirstWords(t.Raw.Get("description").Text()), t.Origin); err != nil {
				return err
			}
		}
	}
	for m, err := range now.Entered(before) {
		if err != nil {
			return err
		}
		role := m.Raw.Get("role")
		if err := row(role.Text(), "", sessionfmt.GistOfMessage(m.Raw), m.Origin); err != nil {
			return err
		}
	}
	return nil
}

// WriteEnteringJSON writes what entered a request, an object a line.
func WriteEnteringJSON(w *bufio.Writer, now, before *replay.Envelope, c Entering) error {
	return entering(now, before, c.Request, func(r EnteringRow) error {
		if err := writeValue(w, r); err != nil {
			return err
		}
		return w.WriteByte('\n')
	})
}

// WriteEntering writes what entered a request for people, cut to a width in
// columns.
func WriteEntering(w *bufio.Writer, now, before *replay.Envelope, c Entering, width int) error {
	if width == 0 {
		width = 160
	}
	since := "the start"
	if c.Request > 0 {
		since = fmt.Sprintf("request %d", c.Request-1)
	}
	fmt.Fprintf(w, "request %d: %d tokens, %+d since %s\n", c.Request, c.After.Total, c.After.Total-c.Before.Total, since)
	return entering(now, before, c.Request, func(r EnteringRow) error {
		from := orDash(sessionfmt.Quote(r.ID))
		switch {
		case r.Op != nil:
			from = fmt.Sprintf("%s op %d", sessionfmt.Quote(r.By), *r.Op)
		case r.By != "":
			from += " by " + sessionfmt.Quote(r.By)
		}
		name := ""
		if r.Name != "" {
			name = sessionfmt.Quote(r.Name) + ": "
		}
		w.WriteString(fit(fmt.Sprintf("  %-10s %-20s  %s%s", r.As, from, name, r.Text), width))
		return w.WriteByte('\n')
	})
}
