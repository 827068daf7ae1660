package dialect

import (
	_ "embed"
	"fmt"
	"strings"
)

// comparedTable has, for versions of agents, how many requests that the program itself sent were
// compared with what is replayed, and how many are equal. Tests hold it to their comparisons.
//
//go:embed compared.txt
var comparedTable string

// A Comparison counts the requests of one version of an agent.
type Comparison struct {
	Agent, Version  string
	Requests, Equal int
}

// Compared yields the comparisons, in order.
func Compared(yield func(Comparison) bool) {
	for line := range strings.Lines(comparedTable) {
		var c Comparison
		if _, err := fmt.Sscan(line, &c.Agent, &c.Version, &c.Requests, &c.Equal); err == nil && !yield(c) {
			return
		}
	}
}

// Exact reports whether all compared requests of a version of the dialect are equal.
func (d *Dialect) Exact(version string) bool {
	for c := range Compared {
		if c.Agent == d.Name && c.Version == version {
			return c.Requests == c.Equal
		}
	}
	return false
}
