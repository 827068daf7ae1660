package render

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// fit cuts a text to that many columns of a terminal, with an ellipsis in the
// last; a width of 0 or less cuts nothing.
func fit(s string, width int) string {
	if width <= 0 || displaywidth.String(s) <= width {
		return s
	}
	return displaywidth.TruncateString(s, width, "…")
}

// lineWidth is how many columns a line for people may have where a terminal has width; 0
// is none, and what fits a page.
func lineWidth(width int) int { return cmp.Or(width, 160) }

// put writes a line, cut to the width of a terminal.
func put(w *bufio.Writer, line string, width int) {
	w.WriteString(fit(line, lineWidth(width)))
	w.WriteByte('\n')
}

// count is so many things in words.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if stem, ok := strings.CutSuffix(thing, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// indented is JSON on lines, or as it is where it is nested deeper than the library goes.
func indented(text []byte) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return text
	}
	return out.Bytes()
}
