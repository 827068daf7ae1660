package show

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ctxtool/internal/lens/reuse"
	"ctxtool/internal/read/phrase"
	"ctxtool/stats/table"
)

// Compactions are those of a path, each with what it dropped that mattered.
type Compactions struct {
	All    []reuse.Compaction
	Limit  int    // rows that text has for a compaction, 0 for all
	Folder string // of the session: paths in text are relative to it
}

// mostRequests is the number of requests listed for one thing.
const mostRequests = 2

func compactionSheets(c Compactions) (all []table.Sheet) {
	if len(c.All) == 0 {
		return []table.Sheet{{Above: []string{"no compactions on the path"}}}
	}
	for i := range c.All {
		one := &c.All[i]
		kind, lost := "compaction ", "not in the summary: "+lostKinds(one.Lost)
		if one.Reset {
			kind, lost = "reset ", "no summary"+phrase.If(len(one.Lost) > 0, "; dropped: %s", lostKinds(one.Lost))
		}
		s := table.Sheet{
			Title: fmt.Sprintf("%s%s, before request %d: %d to %d tokens", kind, entryID(one.Entry), one.Request,
				one.Before, one.After),
			Above: []string{
				fmt.Sprintf("%s dropped, %s used again", phrase.Count(one.Dropped, "message"),
					phrase.Count(len(one.Used), "thing")), lost,
			},
		}
		rows := c.rows(one)
		if more := len(rows) - c.Limit; c.Limit > 0 && more > 0 {
			rows = rows[:c.Limit]
			s.Notes = []string{fmt.Sprintf("and %d more: --limit 0 shows all", more)}
		}
		s.Table = table.Of(rows, droppedColumns)
		all = append(all, s)
	}
	return all
}

// lostKinds counts what the summary does not have, by kind.
func lostKinds(all []reuse.Lost) string {
	var counts []string
	for _, some := range grouped(all, func(l reuse.Lost) string { return l.Kind }) {
		counts = append(counts, phrase.Count(len(some), some[0].Kind))
	}
	return cmp.Or(strings.Join(counts, ", "), "nothing")
}

// A dropped is something that a compaction dropped.
type dropped struct {
	kind, what, entry string
	used              string // by which requests
}

var droppedColumns = []col[*dropped]{
	{Name: "kind", Value: func(d *dropped) any { return d.kind }},
	{Name: "what", Value: func(d *dropped) any { return d.what }, Flex: true},
	{Name: "entry", Unit: table.Entry, Value: func(d *dropped) any { return d.entry }, Style: always(faint)},
	{Name: "used by requests", Value: func(d *dropped) any { return d.used }},
}

// rows returns what a compaction dropped, the most important first: demands, failures, what
// was used again, then other paths and commands.
func (c Compactions) rows(one *reuse.Compaction) (rows []dropped) {
	short := func(what string) string {
		if c.Folder != "" {
			what = strings.ReplaceAll(what, c.Folder+"/", "")
			what = strings.TrimPrefix(what, strings.TrimPrefix(c.Folder, "/")+"/") // as paths are found in texts
		}
		return what
	}
	last := 0 // number of rows before those used again
	for k, l := range one.Lost {
		if l.Kind == "constraint" || l.Kind == "failure" {
			last = k + 1
		}
		if !l.Used {
			rows = append(rows, dropped{l.Kind, short(l.What), l.Entry, ""})
		}
	}
	var used []dropped
	for _, u := range one.Used {
		used = append(used, dropped{string(u.Kind), short(u.What), u.Entry, usedBy(u)})
	}
	return slices.Insert(rows, last, used...)
}

// usedBy returns the first requests whose answers used a thing, and the number of others.
func usedBy(u reuse.Reused) string {
	var all []string
	for _, by := range u.By[:min(mostRequests, len(u.By))] {
		all = append(all, strconv.Itoa(by.Request))
	}
	if more := len(u.By) - len(all); more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", ")
}
