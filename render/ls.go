package render

import (
	"bufio"
	"fmt"
	"strings"

	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// WriteList writes rows as a table.
func WriteList(w *bufio.Writer, rows []*stats.Summary, width int) error {
	columns := []Column{
		{Name: "time"}, {Name: "project"}, {Name: "session", Flex: true}, {Name: "model"},
		{Name: "entries", Right: true}, {Name: "context", Right: true}, {Name: "cost", Right: true}, {Name: "size", Right: true}, {Name: "id"},
	}
	cells := make([][]string, len(rows))
	copied := 0.0
	for i, r := range rows {
		cells[i] = listCells(r)
		copied += r.Copied
	}
	if err := WriteTable(w, columns, cells, width); err != nil || copied == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "\n* $%.2f of the costs are of calls that another session of the list has too.\n", copied)
	return err
}

// listCells are the cells of a row.
func listCells(r *stats.Summary) []string {
	name := r.Name
	if name == "" {
		name = r.First
	}
	if r.Error != "" {
		return []string{"", "", sessionfmt.Clean(r.File) + ": " + sessionfmt.Clean(r.Error), "", "", "", "", megabytes(r.Size), ""}
	}
	if r.Findings > 0 {
		name = fmt.Sprintf("(%d findings) %s", r.Findings, name)
	}
	context := short(int64(r.Context))
	if r.Estimated {
		context = "~" + context
	}
	cost := fmt.Sprintf("$%.2f", r.Cost)
	if r.Copied > 0 {
		cost += "*"
	}
	when := ""
	if len(r.Time) >= 16 {
		when = r.Time[:10] + " " + r.Time[11:16]
	}
	return []string{
		sessionfmt.Clean(when), base(r.Project), name, fit(base(r.Model), 24),
		fmt.Sprint(r.Entries), context, cost, megabytes(r.Size), sessionfmt.Quote(r.ID[:min(len(r.ID), 13)]),
	}
}

// base is the last part of a name with slashes.
func base(name string) string {
	return sessionfmt.Clean(name[strings.LastIndexByte(name, '/')+1:])
}

// megabytes is a size for people.
func megabytes(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%.0f KB", float64(n)/1e3)
	}
	return fmt.Sprintf("%d B", n)
}
