package diff

import (
	"testing"

	"ctxtool/replay"
)

// TestNoCause: a difference without a session or a record was made by no entry; the first record is one.
func TestNoCause(t *testing.T) {
	for _, c := range []struct {
		c    Cause
		want bool
	}{{Cause{}, true}, {Cause{Record: 3}, true}, {Cause{In: &replay.Replay{}, Record: -1}, true}, {Cause{In: &replay.Replay{}}, false}, {Cause{In: &replay.Replay{}, Record: 1}, false}} {
		if c.c.IsZero() != c.want {
			t.Errorf("record %d: %v", c.c.Record, !c.want)
		}
	}
}
