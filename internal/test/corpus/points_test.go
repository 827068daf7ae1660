package corpus

import (
	"slices"
	"testing"
)

func TestPoints(t *testing.T) {
	kind := func(i int) byte { return "haabbbbbbbxbb"[i] }
	t.Setenv("CTXTOOL_WHOLE", "")
	if got := Points(13, 2, 1, kind); !slices.Equal(got, []int{0, 1, 2, 3, 7, 10, 12}) {
		t.Errorf("%v", got)
	}
	t.Setenv("CTXTOOL_WHOLE", "1")
	if got := Points(13, 2, 5, kind); !slices.Equal(got, []int{0, 5, 10}) {
		t.Errorf("whole: %v", got)
	}
}

// TestUnchanged: nothing that a test does to a list of sessions changes the next list.
func TestUnchanged(t *testing.T) {
	all := Generated(t)
	first := all[0].Name
	all[0].Name = "another"
	if again := Generated(t)[0].Name; again != first {
		t.Errorf("the first is %s, and was %s", again, first)
	}
}
