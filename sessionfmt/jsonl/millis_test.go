package jsonl

import (
	"fmt"
	"testing"
	"time"
)

// TestMillisOfPi: times spelled as pi does are read as the standard library reads
// them, on every day of a few centuries and where there is no such day.
func TestMillisOfPi(t *testing.T) {
	check := func(text string) {
		t.Helper()
		got, ok := Value(`"` + text + `"`).Millis()
		want, err := time.Parse(time.RFC3339Nano, text)
		if ok != (err == nil) || ok && got != want.UnixMilli() {
			t.Fatalf("%s: %d, %v; want %d, %v", text, got, ok, want.UnixMilli(), err)
		}
	}
	for _, year := range []int{0, 1, 4, 100, 400, 1600, 1899, 1900, 1969, 1970, 1972, 1999, 2000, 2023, 2024, 2026, 2100, 2400, 9999} {
		for month := range 14 {
			for day := range 33 {
				check(fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", year, month, day, day%24, month*4, day, day*30))
			}
		}
	}
	for _, odd := range []string{"2026-01-01T24:00:00.000Z", "2026-01-01T00:60:00.000Z", "2026-01-01T00:00:60.000Z", "2026-1-01T00:00:00.0000Z"} {
		check(odd)
	}
}

// TestMillisWithoutZone: a day and a time without a zone are UTC, with either separator.
func TestMillisWithoutZone(t *testing.T) {
	for _, text := range []string{
		"2026-01-20 08:15:31", "2026-01-20T08:15:31", "2026-01-20 08:15:31.000412", "2026-01-20T08:15:31.999999999",
		"2026-01-20 24:15:31", "2026-02-30 08:15:31", "2026-01-20x08:15:31", "2026-01-20 08:15:3Z", "2026-01-20 8:15:31",
		"2026-01-20 08:15:31,5", "2026-01-20 08:15:31.", "2026-01-20 08:15:31\\u005a",
	} {
		got, ok := Value(`"` + text + `"`).Millis()
		want, err := time.Parse("2006-01-02 15:04:05", text)
		if err != nil {
			want, err = time.Parse("2006-01-02T15:04:05", text)
		}
		if err != nil {
			want, err = time.Parse("2006-01-02 15:04:05Z07:00", Value(`"`+text+`"`).Text())
		}
		if ok != (err == nil) || ok && got != want.UnixMilli() {
			t.Errorf("%s: %d, %v; want %d, %v", text, got, ok, want.UnixMilli(), err)
		}
	}
}
