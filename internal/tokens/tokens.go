// Package tokens counts the tokens of plain text. What a message's text is, and
// what images and tool calls count for, is the business of package replay.
package tokens

import (
	"fmt"
	"strings"
)

// A Counter counts tokens its own way.
type Counter struct {
	Name  string
	About string // one line for help
	// Units counts a message by the length of its text in UTF-16 code units,
	// for counters that look at nothing else.
	Units func(n int) int
}

// counters are all counters, the default first.
var counters = []*Counter{&Pi}

// Pi counts as pi estimates: a token for each four UTF-16 code units of a
// message, rounded up once a message (spec/pi-format.md 7.1, 8.1).
var Pi = Counter{
	Name:  "pi",
	About: "a quarter of the length in UTF-16 units, rounded up once a message",
	Units: func(n int) int { return (n + 3) / 4 },
}

// Find is the counter of that name.
func Find(name string) (*Counter, error) {
	var names []string
	for _, c := range counters {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return nil, fmt.Errorf("unknown counter %q: one of %s", name, strings.Join(names, ", "))
}
