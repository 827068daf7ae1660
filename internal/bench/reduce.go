//go:build unix

package main

// reduces plans for a store what gsh would take out of it, and for single sessions, whose
// times are to grow as their sizes do.
func (b *bench) reduces() []contest {
	plan := []string{"reduce", "--policy", "gsh", "FILE"}
	small := []string{"reduce", "--policy", "gsh", "--window", "20000", "FILE"}
	count := []string{b.ctxtool, "stats", "--lens", "context", "FILE"}
	all := []contest{
		{"reduce of a store, planned", "store", plan, "twice stats --lens context", []rival{{"ctxtool stats --lens context", count}}},
		{"reduce of a store, window 20,000", "store", small, "", []rival{{"ctxtool stats --lens context", count}}},
	}
	for _, size := range []string{"10m", "50m", "100m"} {
		all = append(all, contest{"reduce of one session, " + size, size, small, "linear in the size", []rival{{"ctxtool stats --lens context", count}}})
	}
	return all
}
