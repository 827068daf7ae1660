package ledger

import (
	"math"
	"testing"

	"ctxtool/sessionfmt/jsonl"
)

// TestTime: an answer's time is its message's, unless that is later than the
// entry's, and so one wrong clock does not hide all pauses after it.
func TestTime(t *testing.T) {
	for _, c := range []struct {
		line string
		want int64
	}{
		{`{"timestamp":"1970-01-01T00:00:02.000Z","message":{"timestamp":1500}}`, 1500},
		{`{"timestamp":"1970-01-01T00:00:02.000Z","message":{"timestamp":99999999999999}}`, 2000},
		{`{"timestamp":"1970-01-01T00:00:02.000Z","message":{"timestamp":1e300}}`, 2000},
		{`{"timestamp":"1970-01-01T00:00:02.000Z","message":{}}`, 2000},
		{`{"timestamp":"never","message":{"timestamp":1500}}`, 1500},
		{`{"message":{}}`, 0},
	} {
		line := jsonl.Value(c.line)
		written, dated := line.Get("timestamp").Millis()
		q := Request{Setting: new(Setting)}
		if q.answered(written, dated, [5]jsonl.Value{4: line.First("message", "timestamp")}, named{}); q.At != c.want {
			t.Errorf("%s: %d, want %d", c.line, q.At, c.want)
		}
	}
}

// TestLarge: a usage with numbers of any size, of what is kept for any time, is kept as it is.
func TestLarge(t *testing.T) {
	for _, n := range []int64{0, 1, math.MaxUint32, math.MaxUint32 + 1, jsonl.MostUsage} {
		for _, hour := range []int64{0, 1, n} {
			q, want := Request{Setting: new(Setting)}, Usage{Input: 1, CacheRead: n, CacheWrite: n, CacheWrite1h: hour}
			if q.keep(want); q.Usage() != want || q.Size() != 1+2*n {
				t.Errorf("%d, %d: %+v, of size %d", n, hour, q.Usage(), q.Size())
			}
		}
	}
}
