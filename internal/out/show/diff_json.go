package show

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"

	"ctxtool/internal/lens/diff"
	"ctxtool/internal/read/outline"
	"ctxtool/replay/origin"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/stats/table"
)

// writeDiffLine writes a comparison as a line of JSON.
func writeDiffLine(w *bufio.Writer, d *diff.Difference) error {
	if err := writeDiffJSON(w, d); err != nil {
		return err
	}
	return w.WriteByte('\n')
}

// writeDiffJSON writes a comparison as one object, with messages as they are read.
func writeDiffJSON(w *bufio.Writer, d *diff.Difference) error {
	o := object{w: w}
	o.text("schema", "ctxtool/diff/1")
	o.value("a", d.A)
	o.value("b", d.B)
	o.value("equal", d.Equal())
	o.value("shared", d.Shared)
	if len(d.Parts) > 0 {
		o.value("system", d.Parts)
	}
	if len(d.Tools) > 0 {
		o.value("tools", d.Tools)
	}
	options := map[string]any{}
	for _, c := range d.Options {
		options[c.Name] = c
	}
	if len(options) > 0 {
		o.value("options", options)
	}
	if d.Model != nil {
		o.value("model", d.Model)
	}
	if d.MessagesDiffer() {
		o.key("messages")
		if err := writeChanges(w, d); err != nil {
			return err
		}
	}
	o.value("tokens", d.Tokens)
	o.value("bytes", d.Bytes)
	o.close()
	return nil
}

// writeChanges writes the changes of messages, with B's of each that is in other letters there.
func writeChanges(w *bufio.Writer, d *diff.Difference) error {
	sep := "[\n"
	for _, c := range d.Messages {
		var value jsonl.Value
		if c.Respelt {
			var err error
			if value, err = d.ValueB(c.B); err != nil {
				return err
			}
		}
		if c.Count == 1 {
			c.Count = 0 // is left out
		}
		w.WriteString(sep)
		sep = ",\n"
		writeValue(w, struct {
			Change diff.Change  `json:"change"` // first
			A      origin.Index `json:"a,omitzero"`
			B      origin.Index `json:"b,omitzero"`
			diff.MessageChange
			Value json.RawMessage `json:"value,omitempty"`
		}{c.Change, origin.Index(c.A), origin.Index(c.B), c, json.RawMessage(value)})
	}
	_, err := w.WriteString("\n]")
	return err
}

// textOf returns a message as text to compare line by line: its texts, thinking and calls,
// and a note for each image.
func textOf(content jsonl.Value) string {
	if content.IsString() {
		return content.Text()
	}
	var text []byte
	for _, b := range content.Blocks(jsonl.Unknown) {
		switch b.Kind {
		case jsonl.TextBlock, jsonl.ThinkingBlock:
			text = b.Text.AppendText(text)
		case jsonl.CallBlock:
			text = append(text, b.Name.Text()...)
			for name, v := range b.Args.Members {
				text = append(append(append(text, "\n  "...), name...), ": "...)
				if v.IsString() {
					text = v.AppendText(text)
				} else {
					text = append(text, v...)
				}
			}
		case jsonl.ImageBlock:
			text = append(append(append(text, "[image "...), b.Mime.Text()...), ']')
		default:
			text = append(text, b.Raw...)
		}
		text = append(text, '\n')
	}
	return string(text)
}

// writeDiffStat writes a comparison as tables: sizes, then the number of changes by kind.
func writeDiffStat(w *bufio.Writer, d *diff.Difference, on Screen) {
	x := comparison{d}
	fmt.Fprintf(w, "a: %s\nb: %s\n%s\n\n", sessionfmt.Clean(sideWords(&x.A, x.Tokens.A)),
		sessionfmt.Clean(sideWords(&x.B, x.Tokens.B)), x.sharedWords())
	WriteTable(w, table.Of(x.categories(), slices.Concat([]col[*category]{
		{Name: "", Value: func(c *category) any { return c.name }},
	}, sidesColumns("tokens a", "tokens b", "", tokensOf), sidesColumns("bytes a", "bytes b", "", bytesOf))), on)
	if rows := x.tally(); len(rows) > 0 {
		w.WriteByte('\n')
		WriteTable(w, table.Of(rows, []col[*tallied]{
			{Name: "", Value: func(t *tallied) any { return t.what }},
			{Name: "number", Unit: table.Number, Value: func(t *tallied) any { return t.n }},
			{Name: "tokens", Unit: table.Tokens, Value: func(t *tallied) any { return t.tokens }},
		}), on)
	}
}

func tokensOf(c *category) [2]amount { return c.tokens }

func bytesOf(c *category) [2]amount { return c.bytes }

// sidesColumns returns the columns of a size on both sides, and of its change.
func sidesColumns(a, b, change string, of func(*category) [2]amount) []col[*category] {
	return []col[*category]{
		{Name: a, Unit: table.Number, Value: func(c *category) any { return of(c)[0].cell() }},
		{Name: b, Unit: table.Number, Value: func(c *category) any { return of(c)[1].cell() }},
		{Name: change, Unit: table.Change, Value: func(c *category) any {
			was, is := of(c)[0], of(c)[1]
			if !was.known || !is.known {
				return nil
			}
			return is.n - was.n
		}},
	}
}

// changeOrder is the order in which changes are counted.
var changeOrder = [...]diff.Change{
	diff.Kept, diff.Moved, diff.Edited, diff.Truncated, diff.Replaced, diff.Summarised,
	diff.Removed, diff.Added, diff.Changed,
}

// A tallied is the number of changes of a kind, and of messages their tokens.
type tallied struct {
	what   string
	n      int
	tokens any
}

// tally counts the changes: how many messages, parts and tools.
func (x comparison) tally() (rows []tallied) {
	for _, change := range changeOrder {
		n, tokens := 0, 0
		for _, c := range x.Messages {
			if c.Change == change {
				n, tokens = n+c.Count, tokens+c.Tokens
			}
		}
		rows = append(rows, tallied{"messages " + string(change), n, tokens})
	}
	for k, all := range [][]diff.ItemChange{x.Parts, x.Tools} {
		times := map[diff.Change]int{}
		for _, c := range all {
			times[c.Change]++
		}
		for _, change := range changeOrder {
			rows = append(rows, tallied{[]string{"parts ", "tools "}[k] + string(change), times[change], nil})
		}
	}
	rows = append(rows, tallied{"options changed", len(x.Options), nil})
	if x.Model != nil {
		rows = append(rows, tallied{"model changed", 1, nil})
	}
	return slices.DeleteFunc(rows, func(t tallied) bool { return t.n == 0 })
}

func writeEntriesStat(w *bufio.Writer, x *diff.Entries, on Screen) {
	fmt.Fprintf(w, "common ancestor: %s\n", ancestor(x))
	sides := []tallied{{"only a", len(x.OnlyA), nil}, {"only b", len(x.OnlyB), nil}}
	WriteTable(w, table.Of(sides, []col[*tallied]{
		{Name: "", Value: func(t *tallied) any { return t.what }},
		{Name: "entries", Unit: table.Number, Value: func(t *tallied) any { return t.n }},
	}), on)
}

// writeEntries writes the entries that only one of two paths has, a line each.
func writeEntries(w *bufio.Writer, x *diff.Entries, on Screen) error {
	p := proseOn(w, on)
	p.line("common ancestor: %v", ancestor(x))
	for _, side := range []struct {
		mark string
		as   style
		rows []outline.Row
	}{{"- ", removed, x.OnlyA}, {"+ ", added, x.OnlyB}} {
		for _, r := range side.rows {
			p.line("%v", p.paint(side.as, p.fitted(side.mark, clock(r.Time),
				fmt.Sprintf(" %-8s %-13s ", orDash(entryID(r.ID)), shortKind(r.Kind)), r.Text)))
		}
	}
	return nil
}

func writeEntriesMarkdown(w *bufio.Writer, x *diff.Entries, _ Screen) {
	p := markdownProse(w)
	p.line("# Entries of two paths\n")
	p.line("Common ancestor: %v", ancestor(x))
	for _, side := range []struct {
		name string
		of   diff.Source
		rows []outline.Row
	}{{"A", x.A, x.OnlyA}, {"B", x.B, x.OnlyB}} {
		if len(side.rows) == 0 {
			continue
		}
		p.line("\n## Only %v: %v\n", side.name, p.code(source(side.of)))
		for _, r := range side.rows {
			text := ""
			if r.Text != "" {
				text = ": " + p.text(r.Text)
			}
			p.line("- %v %v%v", p.code(orDash(r.ID)), r.Kind, markup(text))
		}
	}
}

func ancestor(x *diff.Entries) string {
	if x.Ancestor == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s, line %d", orDash(entryID(x.Ancestor.ID)), x.Ancestor.Kind, x.Ancestor.Line)
}
