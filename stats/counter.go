package stats

import (
	"fmt"
	"strings"

	"ctxtool/replay/tokens"
)

// recordedCounter is the name of the counter that believes providers: see Options.Recorded.
const recordedCounter = "recorded"

// CounterNames are the names that SetCounter takes, the default first.
func CounterNames() []string { return append(tokens.Names(), recordedCounter) }

// SetCounter sets the counter of that name.
func (o *Options) SetCounter(name string) (err error) {
	if o.Recorded = name == recordedCounter; o.Recorded {
		o.Counter = &tokens.Pi
		return nil
	}
	if o.Counter, err = tokens.Find(name); err != nil {
		return fmt.Errorf("unknown counter %q: one of %s", name, strings.Join(CounterNames(), ", "))
	}
	return nil
}
