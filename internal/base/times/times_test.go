package times

import (
	"errors"
	"testing"
	"time"
)

// TestTimes: what people call a time, as the first and the last second of it.
func TestTimes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 1, 30, 15, 0, time.FixedZone("", 2*60*60)) // 23:30:15 the day before
	for text, want := range map[string]string{
		"today":                     "2026-02-28T00:00:00Z 2026-02-28T23:59:59Z",
		"yesterday":                 "2026-02-27T00:00:00Z 2026-02-27T23:59:59Z",
		"this week":                 "2026-02-23T00:00:00Z 2026-03-01T23:59:59Z",
		"last week":                 "2026-02-16T00:00:00Z 2026-02-22T23:59:59Z",
		"this month":                "2026-02-01T00:00:00Z 2026-02-28T23:59:59Z",
		"last month":                "2026-01-01T00:00:00Z 2026-01-31T23:59:59Z",
		"2024":                      "2024-01-01T00:00:00Z 2024-12-31T23:59:59Z",
		"2024-02":                   "2024-02-01T00:00:00Z 2024-02-29T23:59:59Z",
		"2026-11-05":                "2026-11-05T00:00:00Z 2026-11-05T23:59:59Z",
		"2026-11-05 14:30":          "2026-11-05T14:30:00Z 2026-11-05T14:30:00Z",
		"2026-11-05 14:30:05":       "2026-11-05T14:30:05Z 2026-11-05T14:30:05Z",
		"2026-11-05T14:30":          "2026-11-05T14:30:00Z 2026-11-05T14:30:00Z",
		"2026-11-05T14:30:05+02:00": "2026-11-05T12:30:05Z 2026-11-05T12:30:05Z",
		"30m":                       "2026-02-28T23:00:15Z 2026-02-28T23:00:15Z",
		"24h":                       "2026-02-27T23:30:15Z 2026-02-27T23:30:15Z",
		"0d":                        "2026-02-28T23:30:15Z 2026-02-28T23:30:15Z",
		"7d":                        "2026-02-21T23:30:15Z 2026-02-21T23:30:15Z",
		"2w":                        "2026-02-14T23:30:15Z 2026-02-14T23:30:15Z",
	} {
		at, err := Parse(text, now.UTC())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		second := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }
		if got := second(at.From) + " " + second(at.To-1); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]string{ // by the clock of the zone
		"today": "2026-03-01T00:00:00+02:00", "last month": "2026-02-01T00:00:00+02:00", "2026-02": "2026-02-01T00:00:00+02:00",
		"last week": "2026-02-16T00:00:00+02:00", "7d": "2026-02-22T01:30:15+02:00", "2026-02-01T00:00:00Z": "2026-02-01T02:00:00+02:00",
	} {
		at, err := Parse(text, now)
		if got := time.UnixMilli(at.From).In(now.Location()).Format(time.RFC3339); err != nil || got != want {
			t.Errorf("%s in the zone: %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "7", "7s", "-7d", "+7d", "7.5d", "12345d", "1234567d", "Today", "tomorrow", "2026-13", "2026-02-30", "26-01-01", "20261105", "12:30"} {
		if at, err := Parse(text, now); !errors.Is(err, Err) {
			t.Errorf("%s: %v, %v", text, at, err)
		}
	}
}
