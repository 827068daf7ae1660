package cache

import (
	"slices"
	"testing"
)

// TestDiffering names sections by letters, and their texts by the digits that follow.
func TestDiffering(t *testing.T) {
	t.Parallel()
	sections := func(all ...string) (s []section) {
		for _, one := range all {
			s = append(s, section{one[:1], uint64(one[1])})
		}
		return s
	}
	for _, c := range []struct {
		was, is []section
		want    []string
	}{
		{sections("a1", "b1"), sections("a1", "b1"), nil},
		{nil, sections("a1", "b1"), []string{"a", "b"}},
		{sections("a1", "b1"), nil, []string{"a", "b"}},
		{sections("a1", "b1", "c1"), sections("a1", "b2", "c1"), []string{"b"}},
		{sections("a1", "b1", "c1"), sections("a1", "c2"), []string{"b", "c"}},
		{sections("a1", "c1"), sections("a1", "b1", "c2"), []string{"b", "c"}},
		{sections("a1", "b1", "c1"), sections("a1", "b2"), []string{"b", "c"}},
		{sections("s1", "a1", "s2"), sections("s1", "a2", "s3"), []string{"a", "s"}},
		{sections("a1", "b1", "c1"), sections("a1", "c1", "b1"), []string{"c"}},
	} {
		if got := differing(c.was, c.is); !slices.Equal(got, c.want) {
			t.Errorf("from %v to %v: %q, want %q", c.was, c.is, got, c.want)
		}
	}
}
