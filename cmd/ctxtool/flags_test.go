package main

import (
	"testing"
	"time"

	"ctxtool/internal/times"
)

// TestPeriod: the two ends of a period, both within it.
func TestPeriod(t *testing.T) {
	t.Parallel()
	e := testEnv("")
	e.now = func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
	const day = 24 * 60 * 60 * 1000
	first := time.Date(2026, 2, 28, 0, 0, 0, 0, time.UTC).UnixMilli()
	for o, want := range map[period][2]int64{
		{}:                                     {0, 0},
		{since: "yesterday"}:                   {first, 0},
		{until: "yesterday"}:                   {0, first + day - 1},
		{"yesterday", "today"}:                 {first, first + 2*day - 1},
		{"2026-02-28", "2026-02-28T00:00:00Z"}: {first, first},
	} {
		if since, until, err := o.check(&e); err != nil || since != want[0] || until != want[1] {
			t.Errorf("%v: %d %d %v", o, since, until, err)
		}
	}
	for o, want := range map[period]string{
		{since: "someday"}:                   `--since "someday": ` + times.Err.Error(),
		{until: "someday"}:                   `--until "someday": ` + times.Err.Error(),
		{since: "today", until: "yesterday"}: "--until yesterday is before --since today",
	} {
		if _, _, err := o.check(&e); err == nil || err.Error() != want {
			t.Errorf("%v: %v", o, err)
		}
	}
}
