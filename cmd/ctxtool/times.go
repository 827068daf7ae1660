package main

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"time"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"

	"github.com/spf13/cobra"
)

// timesHelp says what a TIME may be, for help texts.
const timesHelp = "A TIME is today, yesterday, a span before now (30m, 12h, 7d, 2w), a year (2026),\n" +
	"a month (2026-11), a day (2026-11-05), a day and time (2026-11-05 14:30) or RFC\n" +
	"3339, in UTC unless it says otherwise. --since takes its beginning, --until its\n" +
	"end.\n"

// timeForms are the forms of a TIME, for errors.
const timeForms = "today, yesterday, 7d, 2026, 2026-11, 2026-11-05, 2026-11-05 14:30 or RFC 3339"

// errTime is the error of a text that is no TIME.
var errTime = errors.New("want a time: " + timeForms)

// A span is a stretch of time in milliseconds since 1970, from its first one to the one
// after its last. The zero value is none.
type span struct{ from, to int64 }

// parseTime reads a TIME. Years, months and days are whole; every other time is a
// millisecond.
func (e *env) parseTime(text string) (span, error) {
	now := e.now().UTC()
	today := now.Truncate(24 * time.Hour)
	switch text {
	case "today":
		return days(today, 0, 0, 1), nil
	case "yesterday":
		return days(today.AddDate(0, 0, -1), 0, 0, 1), nil
	}
	if ago, ok := parseAgo(text); ok {
		return instant(now.Add(-ago)), nil
	}
	for layout, length := range map[string][3]int{"2006": {1, 0, 0}, "2006-01": {0, 1, 0}, time.DateOnly: {0, 0, 1}} {
		if at, err := time.Parse(layout, text); err == nil {
			return days(at, length[0], length[1], length[2]), nil
		}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			return instant(at), nil
		}
	}
	return span{}, errTime
}

// days is the span of so many years, months and days from a time on.
func days(from time.Time, years, months, days int) span {
	return span{from.UnixMilli(), from.AddDate(years, months, days).UnixMilli()}
}

// instant is the span of a millisecond.
func instant(at time.Time) span { return span{at.UnixMilli(), at.UnixMilli() + 1} }

// agoUnits are the units of a span before now.
var agoUnits = map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}

// parseAgo reads a span before now: up to four digits, so that no whole id is one, and a
// unit.
func parseAgo(text string) (ago time.Duration, ok bool) {
	last := len(text) - 1
	if last < 1 || last > 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(text[:last], 10, 16)
	unit := agoUnits[text[last]]
	return time.Duration(n) * unit, err == nil && unit > 0
}

// A period is flags that say from when on, and up to when.
type period struct{ since, until string }

func (o *period) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.since, "since", "", "only sessions with an entry, and only calls, from this `TIME` on")
	f.StringVar(&o.until, "until", "", "only sessions with an entry, and only calls, up to the end of this `TIME`")
}

// check reads the flags as milliseconds since 1970, both within the period; 0 where one
// was not given.
func (o *period) check(e *env) (since, until int64, err error) {
	from, err := e.timeFlag("since", o.since)
	to, wrong := e.timeFlag("until", o.until)
	switch err = cmp.Or(err, wrong); {
	case err != nil || o.until == "":
		return from.from, 0, err
	case to.to <= from.from:
		return 0, 0, o.reversed()
	}
	return from.from, to.to - 1, nil
}

// reversed is the error of a period that ends before it begins.
func (o *period) reversed() error {
	return fmt.Errorf("--until %s is before --since %s", sessionfmt.Quote(o.until), sessionfmt.Quote(o.since))
}

// timeFlag is the TIME of a flag, the zero span where it was not given.
func (e *env) timeFlag(name, text string) (span, error) {
	if text == "" {
		return span{}, nil
	}
	at, err := e.parseTime(text)
	if err != nil {
		return span{}, fmt.Errorf("--%s %q: %w", name, sessionfmt.Quote(text), err)
	}
	return at, nil
}

// nowFlag is the time of --now, which one batch of entries has; now if it was not
// given.
func (e *env) nowFlag(text string) (time.Time, error) {
	if text == "" {
		return e.now(), nil
	}
	at, err := e.timeFlag("now", text)
	return time.UnixMilli(at.from), err
}

// A limit is one end of a part of a session: a point, or a time. The zero value limits
// nothing.
type limit struct {
	sessionfmt.Point // where there is no time
	time             span
	set              bool
}

// newLimit reads a TIME or a POINT. What can be both is a time, whatever the session has:
// a label of that name has its entry's id.
func (e *env) newLimit(s *sessionfmt.Session, text string, leaf int) (limit, error) {
	if text == "" {
		return limit{}, nil
	}
	if at, err := e.parseTime(text); err == nil {
		return limit{time: at, set: true}, nil
	}
	at, err := findPoint(s, text, leaf)
	if errors.As(err, new(*sessionfmt.PointError)) {
		err = usage(&sessionfmt.Error{Err: err, Hint: "want a point, or a time: " + timeForms})
	}
	return limit{Point: at, set: true}, err
}

// before reports whether a limit ends what another begins before it has begun, as far as
// the two can be compared.
func (l limit) before(from limit) bool {
	switch timed := l.time != (span{}); {
	case !l.set || !from.set || timed != (from.time != (span{})):
		return false
	case timed:
		return l.time.to <= from.time.from
	}
	return l.Record < from.Record
}

// from reports whether a record is not before the limit.
func (l limit) from(rec int, line jsonl.Value) bool {
	if l.time == (span{}) {
		return rec >= l.Record
	}
	ms, ok := line.Get("timestamp").Millis()
	return ok && ms >= l.time.from
}

// to reports whether a record is not after the limit.
func (l limit) to(rec int, line jsonl.Value) bool {
	if l.time == (span{}) {
		return !l.set || rec < l.Record || rec == l.Record && !l.Before
	}
	ms, ok := line.Get("timestamp").Millis()
	return ok && ms < l.time.to
}
