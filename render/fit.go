package render

import "github.com/clipperhouse/displaywidth"

// fit cuts a text to that many columns of a terminal, with an ellipsis in the
// last; a width of 0 or less cuts nothing.
func fit(s string, width int) string {
	if width <= 0 || displaywidth.String(s) <= width {
		return s
	}
	return displaywidth.TruncateString(s, width, "…")
}
