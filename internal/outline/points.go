package outline

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"ctxtool/sessionfmt"
)

// Points returns the labels and the ids of a session's path that begin with a text, each with
// the first words of its entry: labels in alphabetical order, then ids from the leaf up.
func Points(s *sessionfmt.Session, prefix string) iter.Seq2[string, string] {
	return func(yield func(point, about string) bool) {
		lines := s.NewReader()
		about := func(i int) string {
			line, err := lines.Line(i)
			if err != nil {
				return ""
			}
			return sessionfmt.Quote(s.Kind(i).String() + " " + Gist(s.Kind(i), line))
		}
		labels, err := s.Labels()
		if err != nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(labels)) {
			if strings.HasPrefix(name, prefix) && !yield(name, about(labels[name])) {
				return
			}
		}
		path, _ := s.Path(s.Leaf())
		for _, i := range slices.Backward(path) {
			if id := s.ID(i); strings.HasPrefix(id, prefix) && !yield(id, about(i)) {
				return
			}
		}
	}
}
