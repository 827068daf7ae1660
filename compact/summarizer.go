package compact

import (
	"fmt"
	"strings"
)

// A Summarizer is a way to get summaries.
type Summarizer struct {
	Name  string
	About string
	// New makes one that stays within so many tokens.
	New func(budget int) func(Request) (string, error)
}

// summarizers are all summarizers, the default first.
var summarizers = []*Summarizer{&Extract}

// Summarizers are all summarizers, the default first.
func Summarizers() []*Summarizer { return summarizers }

// FindSummarizer is the summarizer of that name.
func FindSummarizer(name string) (*Summarizer, error) {
	var names []string
	for _, s := range summarizers {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return nil, fmt.Errorf("unknown summarizer %q: one of %s", name, strings.Join(names, ", "))
}
