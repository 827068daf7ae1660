package corpus

// Points are some of the numbers below n that stand for all of them: the first and the
// last of each kind, and others at even distances, most of them. Where whole matrices
// are asked for they are every number at a distance of step.
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
