package corpus

// Points selects numbers below n for a test: the first and the last of each kind, and others at
// even distances, at most most. If Whole it selects every step-th number.
func Points[Kind comparable](n, most, step int, kind func(i int) Kind) (points []int) {
	if Whole() {
		for i := 0; i < n; i += step {
			points = append(points, i)
		}
		return points
	}
	last := map[Kind]int{}
	for i := range n {
		last[kind(i)] = i
	}
	seen := map[Kind]bool{}
	for i := range n {
		k := kind(i)
		if !seen[k] || last[k] == i || i%(1+n/most) == 0 {
			points = append(points, i)
		}
		seen[k] = true
	}
	return points
}
