package replay

import "testing"

// TestShare: of nothing, nothing was served.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		part, whole int64
		want        float64
	}{{0, 0, 0}, {0, 4, 0}, {1, 4, 0.25}, {4, 4, 1}} {
		if got := share(c.part, c.whole); got != c.want {
			t.Errorf("%d of %d: %v, want %v", c.part, c.whole, got, c.want)
		}
	}
}
