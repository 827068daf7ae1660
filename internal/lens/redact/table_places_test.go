package redact

import (
	"slices"
	"strings"
	"testing"
)

// TestPlaces: no field and no word is in a table twice; of a field, the last place would count.
func TestPlaces(t *testing.T) {
	var names []string
	for _, row := range placeTable {
		names = append(names, strings.Fields(row.names)...)
	}
	for _, all := range [][]string{names, strings.Fields(ownWords)} {
		slices.Sort(all)
		for i := range all[1:] {
			if all[i] == all[i+1] {
				t.Errorf("%s stands in a table twice", all[i])
			}
		}
	}
	signature, _ := places.get([]byte("signature"))
	text, ok := places.get([]byte("text"))
	if signature != isSealed || text != isAny || !ok || len(places.all) != len(names) {
		t.Errorf("%d places of %d fields", len(places.all), len(names))
	}
}
