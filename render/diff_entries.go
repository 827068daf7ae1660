package render

import (
	"bufio"
	"fmt"

	"ctxtool/internal/markdown"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// WriteDiffEntries writes the entries in one of the forms of WriteDiff.
func WriteDiffEntries(w *bufio.Writer, x *replay.DiffEntries, form string, style Style, width int) error {
	switch form {
	case "json":
		return WriteJSON(w, x)
	case "stat":
		fmt.Fprintf(w, "common ancestor: %s\n", ancestor(x))
		return WriteTable(w, []Column{{Name: ""}, {Name: "entries", Right: true}}, [][]string{
			{"only a", fmt.Sprint(len(x.OnlyA))}, {"only b", fmt.Sprint(len(x.OnlyB))},
		}, width)
	case "markdown":
		return entriesMarkdown(w, x)
	}
	fmt.Fprintf(w, "common ancestor: %s\n", ancestor(x))
	for _, side := range []struct {
		mark byte
		rows []sessionfmt.Row
	}{{'-', x.OnlyA}, {'+', x.OnlyB}} {
		for _, r := range side.rows {
			text := fmt.Sprintf("%c %s %-8s %-13s %s", side.mark, clock(r.Time), orDash(sessionfmt.Quote(r.ID)), shortKind(r.Kind), r.Text)
			w.WriteString(style.mark(side.mark, fit(sessionfmt.Clean(text), lineWidth(width))) + "\n")
		}
	}
	return nil
}

func ancestor(x *replay.DiffEntries) string {
	if x.Ancestor == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s, line %d", orDash(sessionfmt.Quote(x.Ancestor.ID)), x.Ancestor.Kind, x.Ancestor.Line)
}

func entriesMarkdown(w *bufio.Writer, x *replay.DiffEntries) error {
	w.WriteString("# Entries of two paths\n\n")
	w.Write(markdown.AppendInline([]byte("Common ancestor: "), []byte(ancestor(x))))
	w.WriteByte('\n')
	for _, side := range []struct {
		name string
		of   replay.DiffSource
		rows []sessionfmt.Row
	}{{"A", x.A, x.OnlyA}, {"B", x.B, x.OnlyB}} {
		if len(side.rows) == 0 {
			continue
		}
		w.Write(markdown.AppendCode(fmt.Appendf(nil, "\n## Only %s: ", side.name), []byte(source(side.of))))
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
