package main

import (
	"cmp"
	"ctxtool/replay/tokens"
	"ctxtool/stats"
	"ctxtool/stats/table"
	"fmt"
	"math"
	"strings"
	"time"
)

// costOptions are the flags of ctxtool cost: the lens cost of ctxtool stats, over the last days.
type costOptions struct {
	statsOptions
	utc bool
}

// usualDays is the number of days that cost reports, including today.
const usualDays = 30

func (o *costOptions) define(f *flagSet) {
	o.lenses, o.counter, o.MaxIterations = []string{"cost"}, tokens.Names()[0], 1
	o.answer.flags(f, "text", "json", "csv", "markdown")
	o.filter.flags(f, "calls of models whose name contains")
	f.noSubAgents(&o.NoSubAgents)
	f.choices(&o.By, "by", []string{"day", "model"}, "group by `GROUPS`:", "--by: unknown group", stats.CostGroups)
	f.BoolVar(&o.utc, "utc", false, "take days and TIME in UTC, not in local time")
	o.redaction.flags(f)
	f.models(&o.Replay.Models)
	f.before(func() error {
		if !o.utc {
			o.Zone = f.zone
		}
		o.period.zone = o.Zone
		return o.check(f.env)
	})
}

func runCost(e *env, o *costOptions, args []string) error {
	files, err := e.families(args)
	if err != nil {
		return err
	}
	o.alone = len(args) == 1 && len(files) == 1 && !e.isDir(args[0])
	zone := cmp.Or(o.Zone, time.UTC)
	if o.since+o.until == "" && !o.alone {
		year, month, day := e.now().In(zone).Date()
		o.wider = fmt.Sprintf(" in the last %d days: ctxtool cost --since 2020 counts all", usualDays)
		o.Only.Since = time.Date(year, month, day-usualDays+1, 0, 0, 0, 0, zone).UnixMilli()
	}
	o.arrange = func(sheets []table.Sheet) []table.Sheet {
		s := &sheets[0]
		if s.Empty() && o.format != "csv" {
			return nil // a note says so
		}
		s.Above = append(s.Above, o.span(zone))
		if e.screen(o.output).Width > 0 {
			s.Table = withBars(s.Table)
		}
		return sheets
	}
	return o.report(e, byPath(files))
}

// span returns the period of the costs in words.
func (o *costOptions) span(zone *time.Location) string {
	day := func(ms int64) string { return time.UnixMilli(ms).In(zone).Format(time.DateOnly) }
	span := "of all time"
	switch only := o.Only; {
	case only.Since != 0 && only.Until != 0:
		span = day(only.Since) + " to " + day(only.Until)
	case only.Since != 0:
		span = "since " + day(only.Since)
	case only.Until != 0:
		span = "until " + day(only.Until)
	}
	if zone == time.UTC {
		return span + ", in UTC"
	}
	return span + ", in local time"
}

// widestBar is the width of the bar of the most expensive row, columns.
const widestBar = 16

// withBars returns a table of costs with bars at the end of its rows.
func withBars(t table.Table) table.Table {
	most := 0.0
	for row := range t.Rows {
		most = max(most, row.(*stats.CostRow).Cost.Total)
	}
	t.Columns = append(t.Columns[:len(t.Columns):len(t.Columns)],
		table.Column[any]{Yields: 2, Value: func(row any) any {
			share := row.(*stats.CostRow).Cost.Total / most
			if !(share > 0 && share <= 1) { // the total, or nothing
				return nil
			}
			return strings.Repeat("█", int(math.Ceil(share*widestBar)))
		}})
	return t
}
