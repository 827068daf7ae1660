// Package lazy makes values when they are first used, so that no start waits for them.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a valid expression, which is compiled when it is first asked for.
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
