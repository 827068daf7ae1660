package render

import (
	"bufio"
	"fmt"

	"ctxtool/internal/markdown"
	"ctxtool/sessionfmt"
)

// DiffEntries are the entries that only one of two paths has, schema
// ctxtool/diff.entries/1.
type DiffEntries struct {
	Schema   string      `json:"schema"`
	A        DiffSource  `json:"a"`
	B        DiffSource  `json:"b"`
	Ancestor *DiffEntry  `json:"ancestor,omitempty"` // the last entry that both have
	OnlyA    []DiffEntry `json:"onlyA"`
	OnlyB    []DiffEntry `json:"onlyB"`
}

// A DiffEntry is an entry of a path.
type DiffEntry struct {
	ID   string `json:"id,omitempty"`
	Line int    `json:"line"`
	Time string `json:"time,omitempty"` // as it stands in the file
	Kind string `json:"kind"`
	Text string `json:"text,omitempty"` // the first words
}

// NewDiffEntry is an entry by what it says itself.
func NewDiffEntry(s *sessionfmt.Session, rec int, line sessionfmt.Value) DiffEntry {
	var row LogRow
	row.Entry(s, rec, line)
	return DiffEntry{row.ID, row.Line, row.Time, row.Kind, row.Text}
}

// WriteDiffEntries writes the entries in one of the forms of WriteDiff.
func WriteDiffEntries(w *bufio.Writer, x DiffEntries, form string, style Style, width int) error {
	switch form {
	case "json":
		x.Schema = "ctxtool/diff.entries/1"
		return writeLine(w, x)
	case "stat":
		fmt.Fprintf(w, "common ancestor: %s\n", x.ancestor())
		return WriteTable(w, []Column{{Name: ""}, {Name: "entries", Right: true}}, [][]string{
			{"only a", fmt.Sprint(len(x.OnlyA))}, {"only b", fmt.Sprint(len(x.OnlyB))},
		}, width)
	case "markdown":
		return x.markdown(w)
	}
	if width == 0 {
		width = 160
	}
	fmt.Fprintf(w, "common ancestor: %s\n", x.ancestor())
	for _, side := range []struct {
		mark byte
		rows []DiffEntry
	}{{'-', x.OnlyA}, {'+', x.OnlyB}} {
		for _, r := range side.rows {
			text := fmt.Sprintf("%c %s %-8s %-13s %s", side.mark, clock(r.Time), orDash(sessionfmt.Quote(r.ID)), shortKind(r.Kind), r.Text)
			w.WriteString(style.mark(side.mark, fit(sessionfmt.Clean(text), width)) + "\n")
		}
	}
	return nil
}

func (x DiffEntries) ancestor() string {
	if x.Ancestor == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s, line %d", orDash(sessionfmt.Quote(x.Ancestor.ID)), x.Ancestor.Kind, x.Ancestor.Line)
}

func (x DiffEntries) markdown(w *bufio.Writer) error {
	w.WriteString("# Entries of two paths\n\n")
	w.Write(markdown.AppendInline([]byte("Common ancestor: "), []byte(x.ancestor())))
	w.WriteByte('\n')
	for _, side := range []struct {
		name string
		of   DiffSource
		rows []DiffEntry
	}{{"A", x.A, x.OnlyA}, {"B", x.B, x.OnlyB}} {
		if len(side.rows) == 0 {
			continue
		}
		w.Write(markdown.AppendCode(fmt.Appendf(nil, "\n## Only %s: ", side.name), []byte(side.of.describe())))
		w.WriteString("\n\n")
		for _, r := range side.rows {
			line := append(markdown.AppendCode([]byte("- "), []byte(orDash(r.ID))), " "+r.Kind...)
			if r.Text != "" {
				line = markdown.AppendInline(append(line, ": "...), []byte(r.Text))
			}
			w.Write(append(line, '\n'))
		}
	}
	return nil
}
