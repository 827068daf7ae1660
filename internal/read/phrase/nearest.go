package phrase

import "slices"

// Nearest returns the names that a misspelled one most likely means, in their order: those that differ in the
// fewest characters, of which at most a third and two may differ.
func Nearest(name string, all []string) (near []string) {
	most := min(2, max(1, len(name)/3))
	for _, one := range all {
		switch d := distance(name, one); {
		case d > most:
		case d < most:
			most, near = d, append(near[:0], one)
		case !slices.Contains(near, one):
			near = append(near, one)
		}
	}
	return near
}

// distance returns how many characters of a have to be inserted, removed, replaced, or swapped with the next one, to
// make b.
func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	var before, last []int // the rows for one and two characters less of a
	row := make([]int, len(to)+1)
	for k := range row {
		row[k] = k
	}
	for i := range from {
		before, last, row = last, row, make([]int, len(to)+1)
		row[0] = i + 1
		for k := range to {
			row[k+1] = min(last[k+1], row[k], last[k]) + 1
			switch {
			case from[i] == to[k]:
				row[k+1] = last[k]
			case i > 0 && k > 0 && from[i] == to[k-1] && from[i-1] == to[k]:
				row[k+1] = min(row[k+1], before[k-1]+1)
			}
		}
	}
	return row[len(to)]
}
