// Package abbrev shortens ids so that they can still be told apart.
package abbrev

import (
	"slices"
	"unicode/utf8"
)

// Of returns a function that returns the shortest beginning of an id by which it can be told apart
// from the others, of at least so many bytes; of an id that is not one of them, all. It may be
// called concurrently. width is the longest beginning, but for those of more than twice the least.
func Of(ids []string, least int) (short func(id string) string, width int) {
	all := slices.Sorted(slices.Values(ids))
	sizes, width := make(map[string]int, len(all)), least
	for k, id := range all {
		n := least
		for _, near := range []int{k - 1, k + 1} {
			if near >= 0 && near < len(all) {
				n = max(n, shared(id, all[near])+1)
			}
		}
		for n < len(id) && !utf8.RuneStart(id[n]) {
			n++
		}
		if n = min(n, len(id)); n <= 2*least {
			width = max(width, n)
		}
		sizes[id] = n
	}
	return func(id string) string {
		if n, ok := sizes[id]; ok {
			return id[:n]
		}
		return id
	}, width
}

// shared returns how many bytes two texts share at their beginning.
func shared(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
