package render

import (
	"bufio"
	"fmt"
	"strings"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A BlameRow is a message, part or tool of a context with where it comes from, schema
// ctxtool/trace.blame/1.
type BlameRow struct {
	Schema   string `json:"schema"`
	As       string `json:"as"` // role of a message, part, or tool
	Name     string `json:"name,omitempty"`
	Index    *int   `json:"index,omitempty"`    // of a message, from 0
	Uncached bool   `json:"uncached,omitempty"` // behind the cached messages
	ID       string `json:"id,omitempty"`       // of the entry that it comes from
	Line     int    `json:"line,omitempty"`
	Kind     string `json:"kind,omitempty"`
	Time     string `json:"time,omitempty"`
	By       string `json:"by,omitempty"` // id of the transform or edit that put it there
	Op       *int   `json:"op,omitempty"`
	Text     string `json:"text,omitempty"` // first words
}

// Blame goes through a context: parts, tools, then messages.
func Blame(e *replay.Envelope, yield func(BlameRow) error) error {
	s := e.Replay().Session
	lines := s.NewReader()
	row := func(r BlameRow, from replay.Origin) error {
		at, err := newTraceRow(s, lines, from)
		if err != nil {
			return err
		}
		r.Schema, r.ID, r.Line, r.Kind, r.Time, r.By, r.Op = "ctxtool/trace.blame/1", at.ID, at.Line, at.Kind, at.Time, at.By, at.Op
		return yield(r)
	}
	p, err := e.Prompt()
	if err != nil {
		return err
	}
	for _, part := range p.Parts {
		if err := row(BlameRow{As: "part", Name: part.Name, Text: sessionfmt.FirstWords(part.Text)}, part.Origin); err != nil {
			return err
		}
	}
	for _, t := range p.Tools {
		if err := row(BlameRow{As: "tool", Name: t.Name, Text: sessionfmt.FirstWords(t.Raw.Get("description").Text())}, t.Origin); err != nil {
			return err
		}
	}
	n := 0
	for m, err := range e.Sources(func(replay.Message) bool { return true }) {
		if err != nil {
			return err
		}
		index := n
		r := BlameRow{As: m.Raw.Get("role").Text(), Index: &index, Uncached: n >= e.Cached(), Text: sessionfmt.GistOfMessage(m.Raw)}
		if err := row(r, m.Origin); err != nil {
			return err
		}
		n++
	}
	return nil
}

// WriteBlameJSON writes where a context comes from, an object a line.
func WriteBlameJSON(w *bufio.Writer, e *replay.Envelope) error {
	return Blame(e, func(r BlameRow) error { return WriteJSON(w, r) })
}

// WriteBlame writes where a context comes from for people, a line a message, cut to a
// width in columns; 0 is what fits a page.
func WriteBlame(w *bufio.Writer, e *replay.Envelope, width int) error {
	if width == 0 {
		width = 160
	}
	return Blame(e, func(r BlameRow) error {
		by := ""
		if r.By != "" {
			by = sessionfmt.Quote(r.By)
		}
		if r.Op != nil {
			by += fmt.Sprintf(" op %d", *r.Op)
		}
		what := r.As
		if r.Index != nil {
			what = fmt.Sprintf("%d %s", *r.Index, r.As)
		}
		if r.Uncached {
			what += "*"
		}
		line := ""
		if r.Line > 0 {
			line = fmt.Sprint(r.Line)
		}
		name := ""
		if r.Name != "" {
			name = sessionfmt.Quote(r.Name) + ": "
		}
		put(w, strings.TrimRight(fmt.Sprintf("%-8s %5s %s %-13s %-13s %-14s  %s%s", orDash(sessionfmt.Quote(r.ID)), line, clock(r.Time),
			shortKind(r.Kind), by, sessionfmt.Quote(what), name, r.Text), " "), width)
		return nil
	})
}
