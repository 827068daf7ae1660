package simulate

import (
	"cmp"
	"slices"
)

// sampled is the number of sessions of a sample, or a few less.
const sampled = 12

// Sample returns the indexes of sessions, given their sizes, from whose time that of all sessions can be
// estimated: sorted by size, those in the middle of each twelfth of all bytes, so that sizes that take most of
// the time dominate the sample. A session with more than a fiftieth of the bytes is only in it if there is no
// other. The largest come first, so that they do not finish last.
func Sample(sizes []int64) (places []int) {
	bySize := make([]int, len(sizes))
	var total int64
	for k, n := range sizes {
		bySize[k] = k
		total += n
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return cmp.Compare(sizes[a], sizes[b]) })
	var bytes int64
	middle := total / (2 * sampled)
	for _, k := range bySize {
		if bytes += sizes[k]; bytes <= middle {
			continue
		}
		if sizes[k] <= total/50 || len(places) == 0 {
			places = append(places, k)
		}
		for middle < bytes {
			middle += max(1, total/sampled)
		}
	}
	slices.Reverse(places)
	return places
}
