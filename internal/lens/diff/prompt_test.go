package diff

import (
	"maps"
	"slices"
	"testing"

	"ctxtool/replay/origin"
	"ctxtool/replay/prompt"
)

// TestSetBy: what was removed has what removed it, and not what stays.
func TestSetBy(t *testing.T) {
	var f prompt.Fold
	f.Start([]prompt.Part{{Name: "a", Text: "1"}, {Name: "b", Text: "2"}, {Name: "c", Text: "3"}}, nil)
	was := f.Kept()
	f.RemoveParts("b")
	set := map[string]origin.Origin{}
	by := origin.Origin{Record: 1, By: 2, Op: 3}
	was.PartsDiffer(&f.State, setBy(set, by, func(p *prompt.Part) string { return p.Name }))
	if got := slices.Collect(maps.Keys(set)); !slices.Equal(got, []string{"b"}) || set["b"] != by {
		t.Errorf("%v", set)
	}
}
