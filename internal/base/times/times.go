// Package times reads times as people say them.
package times

import (
	"errors"
	"strconv"
	"time"
)

// Forms are the forms of a time, for errors.
const Forms = "today, yesterday, this week, last month, 7d, 2026, 2026-11, 2026-11-05, 2026-11-05 14:30 or RFC 3339"

// Err is the error of a text that is not a time.
var Err = errors.New("must be a time: " + Forms)

// A Span is a stretch of time in milliseconds since 1970, from its first one to the one
// after its last. The zero value is none.
type Span struct{ From, To int64 }

// Parse reads a time, in the zone of now unless it says otherwise. Years, months, weeks and days are
// whole; every other time is a millisecond.
func Parse(text string, now time.Time) (Span, error) {
	year, month, day := now.Date()
	zone := now.Location()
	today := time.Date(year, month, day, 0, 0, 0, 0, zone)
	monday := today.AddDate(0, 0, -int(today.Weekday()+6)%7)
	first := time.Date(year, month, 1, 0, 0, 0, 0, zone)
	switch text {
	case "today":
		return days(today, 0, 0, 1), nil
	case "yesterday":
		return days(today.AddDate(0, 0, -1), 0, 0, 1), nil
	case "this week":
		return days(monday, 0, 0, 7), nil
	case "last week":
		return days(monday.AddDate(0, 0, -7), 0, 0, 7), nil
	case "this month":
		return days(first, 0, 1, 0), nil
	case "last month":
		return days(first.AddDate(0, -1, 0), 0, 1, 0), nil
	}
	if ago, ok := parseAgo(text); ok {
		return instant(now.Add(-ago)), nil
	}
	for layout, length := range map[string][3]int{"2006": {1, 0, 0}, "2006-01": {0, 1, 0}, time.DateOnly: {0, 0, 1}} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return days(at, length[0], length[1], length[2]), nil
		}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04",
		"2006-01-02 15:04"} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return instant(at), nil
		}
	}
	return Span{}, Err
}

// days returns the span of so many years, months and days from a time on.
func days(from time.Time, years, months, days int) Span {
	return Span{from.UnixMilli(), from.AddDate(years, months, days).UnixMilli()}
}

// instant returns the span of a millisecond.
func instant(at time.Time) Span { return Span{at.UnixMilli(), at.UnixMilli() + 1} }

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
