package check

var severalRoots = Check{
	Code:     "several-roots",
	Group:    "tree",
	Severity: Warning,
	Title:    "several roots",
	About: "The conversation was started over, or an entry lost its parent without naming another. Only one " +
		"root leads to the leaf.",
	Pi:   "It shows several trees; what is below the other roots is in no context.",
	Help: "If it was started over on purpose, nothing. Else give the root a parent.",
	file: findRoots,
}

// findRoots finds the roots that do not lead to the leaf. An entry whose parent is
// lost is an orphan, and no root.
func findRoots(x *subject) {
	var roots []int
	for i := range x.s.Len() {
		if x.s.Kind(i).IsEntry() && x.s.Parent(i) < 0 && !x.s.Orphan(i) && !x.s.Shadowed(i) {
			roots = append(roots, i)
		}
	}
	if len(roots) < 2 {
		return
	}
	path, _ := x.s.Path(x.s.Leaf())
	tree := x.tree()
	for _, root := range roots {
		if len(path) == 0 || root != path[0] {
			below := "nothing is below it"
			if n := tree.Size(root) - 1; n > 0 {
				below = plural(n, "entry is", "entries are") + " below it"
			}
			x.add(root, "one of %d roots, and not the one that leads to the leaf: %s", len(roots), below)
		}
	}
}
