package diff

import (
	"maps"
	"slices"
	"testing"

	"ctxtool/replay/prompt"
)

// TestChanges: the names of what has come, gone or changed in a list are told, and not
// of what has only moved.
func TestChanges(t *testing.T) {
	parts := func(all ...string) (list []prompt.Part) {
		for i := 0; i < len(all); i += 2 {
			list = append(list, prompt.Part{Name: all[i], Text: all[i+1]})
		}
		return list
	}
	for _, c := range []struct {
		was, is []prompt.Part
		want    []string
	}{
		{parts("a", "1", "b", "2"), parts("a", "1", "b", "2"), nil},
		{parts("a", "1", "b", "2"), parts("a", "1", "b", "2", "c", "3"), []string{"c"}},
		{parts("a", "1", "b", "2", "c", "3"), parts("a", "1", "c", "3"), []string{"b"}},
		{parts("a", "1", "b", "2", "c", "3"), parts("a", "1", "b", "4", "c", "3"), []string{"b"}},
		{parts("a", "1", "b", "2", "c", "3"), parts("c", "3", "b", "2", "a", "1"), nil},
		{parts("a", "1"), parts("b", "1"), []string{"a", "b"}},
		{nil, parts("a", "1"), []string{"a"}},
		{parts("a", "1"), nil, []string{"a"}},
	} {
		var was, is prompt.Fold
		was.Start(c.was, nil)
		is.Start(c.is, nil)
		names := changedNames(func(see func(at int, was, is *prompt.Part)) { was.PartsDiffer(&is.State, see) }, samePart, partName)
		if got := slices.Sorted(maps.Keys(names)); !slices.Equal(got, c.want) {
			t.Errorf("%v to %v: %v, want %v", c.was, c.is, got, c.want)
		}
	}
}
