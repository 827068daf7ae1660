package show

import (
	"cmp"
	"ctxtool/internal/base/sorting"
	"ctxtool/internal/read/keep"
	"ctxtool/internal/read/phrase"
	"ctxtool/stats/table"
	"fmt"
	"strings"
	"time"
)

var keptColumns = []col[*keep.Row]{
	{Name: "deleted", Value: func(r *keep.Row) any { return r.Deletes[:min(len(time.DateOnly), len(r.Deletes))] }},
	{Name: "state", Value: func(r *keep.Row) any { return r.State }},
	{Name: "size", Unit: table.Size, Value: func(r *keep.Row) any { return table.Unless0(r.Size) }},
	{Name: "file", Unit: table.Path, Value: func(r *keep.Row) any { return r.File }, Flex: true},
}

// soon is how long before a session is deleted it is listed although it is kept.
const soon = 7 * 24 * time.Hour

// keptSheets returns what was kept in a sentence. Without writing it is a table of what would be kept or is
// deleted soon, what is deleted first at its top.
func keptSheets(r keep.Report) []table.Sheet {
	var listed []keep.Row
	var broken []string
	var size, packed int64
	states, due, safe := map[string]int{}, 0, 0
	for _, f := range r.Files {
		if f.Error != "" {
			broken = append(broken, f.File+": "+f.Error)
			continue
		}
		states[f.State]++
		deletes, err := time.Parse(time.RFC3339, f.Deletes)
		isDue := err == nil && deletes.Before(r.Now.Add(soon))
		if isDue {
			if due++; f.State == keep.Unchanged {
				safe++
			}
		}
		if f.State != keep.Unchanged {
			size, packed = size+f.Size, packed+f.Packed
		}
		if r.Dry && (isDue || f.State != keep.Unchanged) {
			listed = append(listed, f)
		}
	}
	sorting.By(listed, func(a, b keep.Row) int {
		return cmp.Compare(cmp.Or(a.Deletes, "~"), cmp.Or(b.Deletes, "~"))
	})
	sheet := table.Sheet{Table: table.Of(listed, keptColumns)}
	if len(listed) > 0 {
		sheet.Notes = []string{""}
	}
	var parts []string
	for _, state := range []string{keep.New, keep.Grown, keep.Rewritten, keep.Unchanged} {
		if states[state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", states[state], state))
		}
	}
	what := phrase.Count(len(r.Files)-len(broken), "file") +
		phrase.If(len(parts) > 0, ": %s", strings.Join(parts, ", "))
	switch {
	case r.Dry:
		what += fmt.Sprintf("; nothing is written to %s", r.Archive)
	case packed > 0:
		what += fmt.Sprintf("; copied %s as %s to %s", megabytes(size), megabytes(packed), r.Archive)
	}
	sheet.Notes = append(sheet.Notes, what)
	if r.Dry && due > 0 {
		const next = "agents delete %s within 7 days, when they start next; the archive has %d of them"
		sheet.Notes = append(sheet.Notes, fmt.Sprintf(next, phrase.Count(due, "file"), safe))
	}
	for _, f := range r.Files {
		if f.Older != "" {
			lost := fmt.Sprintf("%s has lost something: its older state is %s", f.File, f.Older)
			sheet.Notes = append(sheet.Notes, lost)
		}
	}
	return appendBroken([]table.Sheet{sheet}, "copied", broken)
}
