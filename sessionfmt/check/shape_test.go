package check

import (
	"testing"

	"ctxtool/sessionfmt/jsonl"
)

// TestIsOf: which types values are surely of.
func TestIsOf(t *testing.T) {
	all := []string{"string", "object", "array", "number", "integer", "boolean", "null", "", "any"}
	for v, types := range map[string][]string{
		`"1"`: {"string"}, `{}`: {"object"}, `[]`: {"array"}, `1`: {"number", "integer"}, `1.5`: {"number"}, `1e2`: {"number"}, `1E2`: {"number"},
		`true`: {"boolean"}, `false`: {"boolean"}, `null`: {"null"},
	} {
		for _, typ := range all {
			want := false
			for _, is := range types {
				want = want || is == typ
			}
			if isOf(jsonl.Value(v), typ) != want {
				t.Errorf("%s is of type %q: not %v", v, typ, want)
			}
		}
	}
}
