package stats

import (
	"fmt"
	"slices"
	"strings"
)

// A Like is another system, and how it takes the context of a session.
type Like struct {
	Name  string
	About string // one line for help

	look   func(l *lensRun, to *likeness)
	plus   func(sum, one *likeness, file string)
	sheets func(k *likeness) []Sheet
}

// Likes are the systems, in the order in which they are shown.
var Likes = []*Like{&likeYAgent, &likeSWE, &likeGsh}

// FindLike is the system of that name.
func FindLike(name string) (*Like, error) {
	for _, k := range Likes {
		if k.Name == name {
			return k, nil
		}
	}
	return nil, fmt.Errorf("unknown system %q: one of %s", name, strings.Join(LikeNames(), ", "))
}

// LikeNames are the names of the systems.
func LikeNames() (names []string) {
	for _, k := range Likes {
		names = append(names, k.Name)
	}
	return names
}

// A likeness is how another system takes the contexts of sessions, one after the other.
// It has those of the system that was asked for.
type likeness struct {
	YAgent []yAgent `json:"y-agent,omitempty"`
	SWE    []swe    `json:"swe-cli,omitempty"`
	Gsh    []gsh    `json:"gsh,omitempty"`
}

// plus is a likeness with that of one more session in it.
func (k *likeness) plus(one *likeness, file string) *likeness {
	if k == nil {
		k = &likeness{}
	}
	for _, like := range Likes {
		like.plus(k, one, file)
	}
	return k
}

// sheets are the tables of a likeness; nil has none.
func (k *likeness) sheets() (all []Sheet) {
	if k == nil {
		return nil
	}
	for _, like := range Likes {
		for _, s := range like.sheets(k) {
			s.Title = strings.TrimSuffix("like "+like.Name+", "+s.Title, ", ")
			all = append(all, s)
		}
	}
	return all
}

// fullest are the largest of a list, which are shown where there are many, and a note
// on the others.
func fullest[T any](list []T, size func(T) int) (some []T, notes []string) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b T) int { return size(b) - size(a) })
	if n := len(list) - most; n > 0 {
		return list[:most], []string{fmt.Sprintf("%d more sessions are in -f json.", n)}
	}
	return list, nil
}
