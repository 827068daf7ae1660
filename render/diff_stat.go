package render

import (
	"bufio"
	"fmt"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// stat writes a comparison as tables: sizes, then what became of the messages.
func (x diff) stat(w *bufio.Writer, width int) error {
	fmt.Fprintf(w, "a: %s\nb: %s\n%s\n\n", sessionfmt.Clean(sideWords(&x.A, x.Tokens.A.Total)), sessionfmt.Clean(sideWords(&x.B, x.Tokens.B.Total)), x.sharedWords())
	var rows [][]string
	for _, c := range x.categories() {
		rows = append(rows, append([]string{c.name}, c.cells()...))
	}
	right := func(names ...string) (columns []Column) {
		columns = []Column{{Name: ""}}
		for _, n := range names {
			columns = append(columns, Column{Name: n, Right: true})
		}
		return columns
	}
	if err := WriteTable(w, right("tokens a", "tokens b", "", "bytes a", "bytes b", ""), rows, width); err != nil {
		return err
	}
	if rows = x.tally(); len(rows) == 0 {
		return nil
	}
	w.WriteByte('\n')
	return WriteTable(w, right("number", "tokens"), rows, width)
}

func (c category) cells() []string {
	return []string{
		fmt.Sprint(c.tokens[0]), fmt.Sprint(c.tokens[1]), signed(c.tokens[1] - c.tokens[0]),
		fmt.Sprint(c.bytes[0]), fmt.Sprint(c.bytes[1]), signed(c.bytes[1] - c.bytes[0]),
	}
}

func signed(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%+d", n)
}

// changeOrder is the order in which changes are counted.
var changeOrder = [...]replay.Change{
	replay.ChangeKept, replay.ChangeMoved, replay.ChangeEdited, replay.ChangeTruncated, replay.ChangeReplaced, replay.ChangeSummarised,
	replay.ChangeRemoved, replay.ChangeAdded, replay.ChangeChanged,
}

// tally counts the changes: how many messages, parts and tools, and their tokens.
func (x diff) tally() (rows [][]string) {
	for _, change := range changeOrder {
		n, tokens := 0, 0
		for _, c := range x.Messages {
			if c.Change == change {
				n, tokens = n+c.Count, tokens+c.Tokens
			}
		}
		if n > 0 {
			rows = append(rows, []string{"messages " + string(change), fmt.Sprint(n), fmt.Sprint(tokens)})
		}
	}
	for _, items := range []struct {
		name string
		all  []replay.ItemChange
	}{{"parts", x.Parts}, {"tools", x.Tools}} {
		for _, change := range changeOrder {
			n := 0
			for _, c := range items.all {
				if c.Change == change {
					n++
				}
			}
			if n > 0 {
				rows = append(rows, []string{items.name + " " + string(change), fmt.Sprint(n), ""})
			}
		}
	}
	if n := len(x.Options); n > 0 {
		rows = append(rows, []string{"options changed", fmt.Sprint(n), ""})
	}
	if x.Model != nil {
		rows = append(rows, []string{"model changed", "1", ""})
	}
	return rows
}
