package sorting_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"ctxtool/internal/base/sorting"
)

// TestBy: lists are sorted as by slices.SortStableFunc.
func TestBy(t *testing.T) {
	type row struct{ key, place int }
	byKey := func(a, b row) int { return cmp.Compare(a.key, b.key) }
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		list := make([]row, n)
		for i := range list {
			list[i] = row{random.IntN(1 + n/3), i}
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, byKey)
		if sorting.By(list, byKey); !slices.Equal(list, want) {
			t.Fatalf("%d rows: %v, want %v", n, list, want)
		}
	}
}
