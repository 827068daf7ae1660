package abbrev

import "testing"

func TestOf(t *testing.T) {
	t.Parallel()
	short, width := Of([]string{"019da8da-1", "019da8da-27", "abc", "twice", "twice", "ééééé1", "ééééé2"}, 4)
	for id, want := range map[string]string{
		"019da8da-1": "019da8da-1", "019da8da-27": "019da8da-2", "abc": "abc", "twice": "twice", "ééééé1": "ééééé1",
		"other": "other",
	} {
		if got := short(id); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
	if width != 5 {
		t.Errorf("width %d", width)
	}
	if short, _ := Of([]string{"éééé", "è"}, 3); short("éééé") != "éé" {
		t.Errorf("%q cuts a character", short("éééé"))
	}
}
