package render

import (
	"bufio"
	"bytes"
	"fmt"
	"iter"

	"ctxtool/internal/check"
	"ctxtool/sessionfmt"
)

// A Remake is what making a file anew does to it, or did: the plan of ctxtool
// repair and ctxtool migrate, schemas ctxtool/repair/1 and ctxtool/migrate/1.
type Remake struct {
	Schema      string          `json:"schema"`
	File        string          `json:"file"`
	From        int             `json:"from,omitempty"` // versions, of a migration
	To          int             `json:"to,omitempty"`
	Compactions string          `json:"compactions,omitempty"` // how a migration stores them
	Grown       *int            `json:"grown,omitempty"`       // tokens by which pi's context grows, where patches alone are left
	Before      *check.Figures  `json:"before,omitempty"`      // the context at the leaf
	After       *check.Figures  `json:"after,omitempty"`
	Left        []check.Finding `json:"left,omitempty"`  // what checking the new file still finds
	Notes       []string        `json:"notes,omitempty"` // beside the changes
	Changed     int             `json:"changed"`         // lines that others stand in the place of
	Added       int             `json:"added"`           // lines that are new
	Removed     int             `json:"removed"`         // lines that are gone, to the quarantine or elsewhere
	Quarantined int             `json:"quarantined"`     // lines of which the quarantine has all or a part
	Written     string          `json:"written,omitempty"`
	Kept        string          `json:"kept,omitempty"`       // the original
	Quarantine  string          `json:"quarantine,omitempty"` // the file of what is no entry
	Error       string          `json:"error,omitempty"`

	// Changes are what becomes of the lines; of several files together they are not
	// printed.
	Changes iter.Seq2[sessionfmt.Change, error] `json:"-"`
	Same    bool                                `json:"-"` // nothing changes
	ID      func(rec int) string                `json:"-"` // of an entry
}

// Counted goes through the changes, and counts them on the way.
func (r *Remake) Counted(yield func(sessionfmt.Change, error) bool) {
	r.Changed, r.Added, r.Removed, r.Quarantined = 0, 0, 0, 0
	for c, err := range r.Changes {
		switch {
		case err != nil || c.Same:
		case len(c.New) == 0:
			r.Removed++
		case c.Raw != nil:
			r.Changed++
			r.Added += len(c.New) - 1
		default:
			r.Added += len(c.New)
		}
		if c.Out != nil {
			r.Quarantined++
		}
		if !yield(c, err) {
			return
		}
	}
}

// A RemakeForm is a form in which a plan is printed.
type RemakeForm struct {
	Name  string
	Write func(w *bufio.Writer, r *Remake) error
}

// RemakeForms are the forms of a plan, the default first.
var RemakeForms = []RemakeForm{
	{"text", writeRemakeText},
	{"json", writeRemakeJSON},
	{"diff", writeDiff},
}

// A remadeLine is a change of a line in JSON.
type remadeLine struct {
	Line       int      `json:"line"`
	Entry      string   `json:"entry,omitempty"`
	New        int      `json:"new"` // lines in its place
	Quarantine bool     `json:"quarantine,omitempty"`
	Notes      []string `json:"notes"`
}

func (r *Remake) line(c sessionfmt.Change) remadeLine {
	l := remadeLine{Line: c.Number, New: len(c.New), Quarantine: c.Out != nil, Notes: c.Notes}
	if c.Record >= 0 {
		l.Entry = sessionfmt.Quote(r.ID(c.Record))
	}
	return l
}

// writeRemakeText writes the plan line by line. What is done to more than three
// lines is said once with the number of lines.
func writeRemakeText(w *bufio.Writer, r *Remake) error {
	fmt.Fprintf(w, "%s\n", sessionfmt.Clean(r.headline()))
	times := map[string]int{}
	for c, err := range r.Changes {
		if err != nil {
			return err
		}
		for _, n := range c.Notes {
			times[n]++
		}
	}
	for c, err := range r.Changes {
		if err != nil {
			return err
		}
		l := r.line(c)
		for _, n := range c.Notes {
			more := ""
			if times[n] == 0 {
				continue
			} else if times[n] > 3 {
				more = fmt.Sprintf(" (and %d more like it)", times[n]-1)
				times[n] = 0
			}
			fmt.Fprintf(w, "  %6d  %-8s  %s%s\n", l.Line, l.Entry, sessionfmt.Clean(n), more)
		}
	}
	r.writeEnd(w)
	return nil
}

// headline is what is done, in a line.
func (r *Remake) headline() string {
	s := r.File + ": "
	if r.From != r.To {
		s += fmt.Sprintf("version %d to %d, ", r.From, r.To)
	}
	if r.Same {
		return s + "nothing to do"
	}
	return s + fmt.Sprintf("%s changed, %d added, %d removed, %d in quarantine", count(r.Changed, "line"), r.Added, r.Removed, r.Quarantined)
}

// writeEnd writes what follows the changes.
func (r *Remake) writeEnd(w *bufio.Writer) {
	for _, n := range r.Notes {
		fmt.Fprintf(w, "  %s\n", sessionfmt.Clean(n))
	}
	switch {
	case r.Before == nil || r.After == nil:
	case *r.Before == *r.After:
		fmt.Fprintf(w, "  the context keeps its size: %s\n", figures(*r.Before))
	default:
		fmt.Fprintf(w, "  %s; it is then: %s\n", context("the context was: ", *r.Before), figures(*r.After))
	}
	for _, f := range r.Left {
		if f.Severity > check.Info {
			fmt.Fprintf(w, "  left as it is: %s\n", sessionfmt.Clean(placed(f)))
		}
	}
	if r.Written != "" {
		fmt.Fprintf(w, "  written to %s\n", sessionfmt.Clean(r.Written))
	}
	if r.Kept != "" {
		fmt.Fprintf(w, "  the original is kept as %s\n", sessionfmt.Clean(r.Kept))
	}
	if r.Quarantine != "" {
		fmt.Fprintf(w, "  what could not stay is in %s\n", sessionfmt.Clean(r.Quarantine))
	}
}

// placed is a finding with its place.
func placed(f check.Finding) string {
	text := f.Code + ": " + f.Text
	if f.Entry != "" {
		text = "entry " + f.Entry + ": " + text
	}
	if f.Line > 0 {
		text = fmt.Sprintf("line %d: %s", f.Line, text)
	}
	return text
}

// writeRemakeJSON writes the plan and its changes as one object.
func writeRemakeJSON(w *bufio.Writer, r *Remake) error {
	var b bytes.Buffer
	head := bufio.NewWriter(&b)
	if err := writeValue(head, r); err != nil {
		return err
	}
	head.Flush()
	w.Write(bytes.TrimSuffix(b.Bytes(), []byte{'}'}))
	w.WriteString(`,"changes":[`)
	begun := false
	for c, err := range r.Changes {
		if err != nil {
			return err
		}
		if c.Same {
			continue
		}
		if begun {
			w.WriteByte(',')
		}
		begun = true
		if err := writeValue(w, r.line(c)); err != nil {
			return err
		}
	}
	_, err := w.WriteString("]}\n")
	return err
}

// writeDiff writes the changes as a unified diff without context, which patch
// applies. Nothing has to be guessed: each line says what stands in its place.
func writeDiff(w *bufio.Writer, r *Remake) error {
	fmt.Fprintf(w, "--- %s\n+++ %s\n", sessionfmt.Clean(r.File), sessionfmt.Clean(r.File))
	old, fresh := 0, 0 // lines before
	var mark, kept []byte
	for c, err := range r.Changes {
		if err != nil {
			return err
		}
		if !c.Ended && c.Record < 0 && bytes.Equal(c.Raw, byteOrderMark) {
			if mark = byteOrderMark; c.Same { // it is no line, but the beginning of the next one
				kept = mark
			}
			continue
		}
		took, lines := 1, c.New
		switch {
		case c.Same && len(mark) == len(kept):
			old, fresh, mark, kept = old+1, fresh+1, nil, nil
			continue
		case c.Same:
			lines = [][]byte{c.Raw}
		case c.Record < 0 && c.Raw == nil:
			took = 0 // lines that are appended
		}
		fmt.Fprintf(w, "@@ -%s +%s @@\n", span(old, took), span(fresh, len(lines)))
		if took == 1 {
			fmt.Fprintf(w, "-%s%s\n", mark, c.Raw)
			if !c.Ended {
				w.WriteString("\\ No newline at end of file\n")
			}
		}
		for _, line := range lines {
			fmt.Fprintf(w, "+%s%s\n", kept, line)
			kept = nil
		}
		old, fresh, mark, kept = old+took, fresh+len(lines), nil, nil
	}
	return nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// span is a range of lines as a hunk names it: after so many lines, so many.
func span(after, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", after)
	case 1:
		return fmt.Sprint(after + 1)
	}
	return fmt.Sprintf("%d,%d", after+1, n)
}

// WriteRemakes writes several plans as a table, schema of each as alone.
func WriteRemakes(w *bufio.Writer, all []*Remake, width int) error {
	columns := []Column{
		{Name: "file", Flex: true}, {Name: "version"}, {Name: "changed", Right: true}, {Name: "added", Right: true}, {Name: "removed", Right: true},
		{Name: "quarantine", Right: true}, {Name: "what"},
	}
	var rows [][]string
	for _, r := range all {
		version := ""
		if r.From > 0 {
			version = fmt.Sprint(r.To)
			if r.From != r.To {
				version = fmt.Sprintf("%d to %d", r.From, r.To)
			}
		}
		rows = append(rows, []string{
			sessionfmt.Clean(r.File), version, fmt.Sprint(r.Changed), fmt.Sprint(r.Added), fmt.Sprint(r.Removed), fmt.Sprint(r.Quarantined), sessionfmt.Clean(r.outcome()),
		})
	}
	return WriteTable(w, columns, rows, width)
}

// outcome is what came of a file in a few words, and how much is left as it is.
func (r *Remake) outcome() string {
	if r.Error != "" {
		return r.Error
	}
	left := 0
	for _, f := range r.Left {
		if f.Severity > check.Info {
			left++
		}
	}
	if left == 0 {
		return r.done()
	}
	return fmt.Sprintf("%s; %s left", r.done(), count(left, "finding"))
}

func (r *Remake) done() string {
	switch {
	case r.Kept != "":
		return "written, original kept"
	case r.Written != "":
		return "written"
	case r.Same:
		return "nothing to do"
	}
	return "planned"
}

// WriteRemakesJSON writes several plans as one object.
func WriteRemakesJSON(w *bufio.Writer, schema string, all []*Remake) error {
	return writeLine(w, struct {
		Schema string    `json:"schema"`
		Files  []*Remake `json:"files"`
	}{schema, all})
}
