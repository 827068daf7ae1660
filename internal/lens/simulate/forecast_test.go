package simulate

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSample: a sample has sessions of the sizes that have most of the bytes, and a small part
// of all bytes.
func TestSample(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var many []int64
	for range 1000 {
		many = append(many, r.Int64N(100_000))
	}
	for _, test := range []struct {
		sizes []int64
		want  int
	}{
		{nil, 0}, {[]int64{0, 0}, 0}, {[]int64{5}, 1}, {[]int64{9, 9, 9}, 1}, {slices.Repeat([]int64{7}, 100), 12}, {many, 12}, {append(many, 1<<30), 1},
	} {
		places := Sample(test.sizes)
		if len(places) != test.want {
			t.Errorf("%d of %d sessions", len(places), len(test.sizes))
		}
		var total, bytes int64
		for _, n := range test.sizes {
			total += n
		}
		for i, k := range places {
			if i > 0 && test.sizes[k] > test.sizes[places[i-1]] {
				t.Errorf("%v: not the largest first", places)
			}
			bytes += test.sizes[k]
		}
		if len(test.sizes) >= 100 && bytes > total/8 {
			t.Errorf("the sample has %d of %d bytes", bytes, total)
		}
	}
}
