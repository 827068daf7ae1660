package render

import (
	"bufio"
	"fmt"
	"strings"

	"ctxtool/sessionfmt"
)

// annotate writes a workflow command of GitHub Actions, which shows the text beside
// the line of a file, or where there is none, with the run. A level is error, warning
// or notice.
func annotate(w *bufio.Writer, level, file string, line int, title, text string) {
	value := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	fmt.Fprintf(w, "::%s ", level)
	if file != "" {
		fmt.Fprintf(w, "file=%s,", property.Replace(sessionfmt.Clean(file)))
	}
	if file != "" && line > 0 {
		fmt.Fprintf(w, "line=%d,", line)
	}
	fmt.Fprintf(w, "title=%s::%s\n", property.Replace(sessionfmt.Clean(title)), value.Replace(sessionfmt.Clean(text)))
}
