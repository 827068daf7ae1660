package render

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// A ListRow is a session in a list, schema ctxtool/ls/1. One that could not be
// read has an Error and little else.
type ListRow struct {
	Schema    string  `json:"schema"`
	File      string  `json:"file"`
	ID        string  `json:"id,omitempty"`
	Name      string  `json:"name,omitempty"`
	First     string  `json:"first,omitempty"`
	Project   string  `json:"project,omitempty"`
	Model     string  `json:"model,omitempty"` // provider/id
	Entries   int     `json:"entries"`
	Context   int     `json:"context"` // tokens
	Estimated bool    `json:"estimated,omitempty"`
	Cost      float64 `json:"cost"`             // US dollars
	Copied    float64 `json:"copied,omitempty"` // of it for calls that another session of the list has too, and is listed with
	Size      int64   `json:"size"`             // bytes
	Time      string  `json:"time,omitempty"`
	Findings  int     `json:"findings,omitempty"`
	Error     string  `json:"error,omitempty"`

	Summary stats.Summary `json:"-"`
}

// NewListRow is the row of a session that was read.
func NewListRow(file string, s stats.Summary, findings int) ListRow {
	r := ListRow{
		Schema: "ctxtool/ls/1", File: file, ID: s.ID, Name: s.Name, First: s.First, Project: s.Project, Entries: s.Entries,
		Context: s.Context, Estimated: s.Estimated, Cost: s.Cost, Size: s.Size, Time: s.Time, Findings: findings, Summary: s,
	}
	if s.Model.Provider != "" || s.Model.ID != "" {
		r.Model = s.Model.Provider + "/" + s.Model.ID
	}
	return r
}

// WriteListJSON writes rows, an object a line.
func WriteListJSON(w *bufio.Writer, rows []ListRow) error {
	for _, r := range rows {
		if err := writeValue(w, r); err != nil {
			return err
		}
		w.WriteByte('\n')
	}
	return nil
}

// WriteList writes rows as a table.
func WriteList(w *bufio.Writer, rows []ListRow, width int) error {
	columns := []Column{
		{Name: "time"}, {Name: "project"}, {Name: "session", Flex: true}, {Name: "model"},
		{Name: "entries", Right: true}, {Name: "context", Right: true}, {Name: "cost", Right: true}, {Name: "size", Right: true}, {Name: "id"},
	}
	cells := make([][]string, len(rows))
	copied := 0.0
	for i, r := range rows {
		cells[i] = r.cells()
		copied += r.Copied
	}
	if err := WriteTable(w, columns, cells, width); err != nil || copied == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "\n* $%.2f of the costs are of calls that another session of the list has too.\n", copied)
	return err
}

// MarkCopies says of each row which part of its cost is of calls that another row has
// too: the first by the names of files has them itself.
func MarkCopies(rows []ListRow) {
	var seen stats.Copies
	order := make([]*ListRow, len(rows))
	for i := range rows {
		order[i] = &rows[i]
	}
	slices.SortStableFunc(order, func(a, b *ListRow) int { return strings.Compare(a.File, b.File) })
	for _, r := range order {
		r.Copied = seen.Cost(&r.Summary)
	}
}

func (r ListRow) cells() []string {
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
