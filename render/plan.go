package render

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"

	"ctxtool/internal/check"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A Plan is what a command appends to a session, or has appended: schema
// ctxtool/<command>/1.
type Plan struct {
	Schema  string             `json:"schema"`
	Command string             `json:"command"`
	Session PlanSession        `json:"session"`
	Rules   string             `json:"rules"`
	Before  *check.Figures     `json:"before,omitempty"` // the context at the leaf
	After   *check.Figures     `json:"after,omitempty"`
	Append  []sessionfmt.Value `json:"-"`
	Written string             `json:"written,omitempty"` // where they are now: the session's File, another file, or - for standard output

	lines []string // what is appended, for people
}

// A PlanSession is the session that a plan is for.
type PlanSession struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
	Leaf  string `json:"leaf,omitempty"`
}

// NewPlan is the plan to append a batch to a session; after is the session with it.
func NewPlan(command, file string, s *sessionfmt.Session, b *sessionfmt.Batch, after *sessionfmt.Session) *Plan {
	p := &Plan{Schema: "ctxtool/" + command + "/1", Command: command, Session: PlanSession{File: file, Bytes: s.Size()}}
	if s.Leaf() >= 0 {
		p.Session.Leaf = sessionfmt.Quote(s.ID(s.Leaf()))
	}
	p.Rules = replay.Auto.Decide(s, s.Leaf()).String()
	for line := range bytes.Lines(b.Lines()) {
		p.Append = append(p.Append, bytes.TrimSuffix(line, []byte{'\n'}))
	}
	for k, line := range p.Append {
		i := after.Len() - len(p.Append) + k
		p.lines = append(p.lines, fmt.Sprintf("%s  %-12s %s", after.ID(i), after.Kind(i), sessionfmt.Gist(after.Kind(i), line)))
	}
	return p
}

// WritePlan writes a plan for people.
func WritePlan(w *bufio.Writer, p *Plan) error {
	entries := fmt.Sprintf("%d entries", len(p.Append))
	if len(p.Append) == 1 {
		entries = "1 entry"
	}
	file := sessionfmt.Clean(p.Session.File)
	if file == "-" {
		file = "standard input"
	}
	switch {
	case len(p.Append) == 0:
		fmt.Fprintf(w, "%s: nothing to append\n", file)
	case p.Written == "":
		fmt.Fprintf(w, "%s: would append %s\n", file, entries)
	case p.Written == "-":
		fmt.Fprintf(w, "%s with %s appended is on standard output\n", file, entries)
	case p.Written == p.Session.File:
		fmt.Fprintf(w, "%s: appended %s\n", file, entries)
	default:
		fmt.Fprintf(w, "%s with %s appended is in %s\n", file, entries, sessionfmt.Clean(p.Written))
	}
	for _, l := range p.lines {
		fmt.Fprintf(w, "  %s\n", strings.TrimRight(sessionfmt.Clean(l), " "))
	}
	if p.Before != nil && p.After != nil && *p.Before != *p.After {
		fmt.Fprintf(w, "  the context was: %s; it is then: %s\n", figures(*p.Before), figures(*p.After))
	}
	return nil
}

// WritePlanJSON writes a plan as one object, the entries as they are appended.
func WritePlanJSON(w *bufio.Writer, p *Plan) error {
	var b bytes.Buffer
	head := bufio.NewWriter(&b)
	if err := writeValue(head, p); err != nil {
		return err
	}
	head.Flush()
	w.Write(bytes.TrimSuffix(b.Bytes(), []byte{'}'}))
	return writeAppended(w, p.Append)
}
