package render_test

import (
	"bufio"
	"log"
	"os"

	"ctxtool/render"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// A value is computed by the package that knows it, and written by render.
func ExampleWrite() {
	s, err := stats.Summarize("../testdata/sessions/good/linear.jsonl", sessionfmt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	if err := render.Write(w, []*stats.Summary{s}, "text", render.Screen{Width: 80}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// time              project  session       model              entries  context   cost  size  id
	// 2026-10-05 08:31  parcel   What does t…  claude-sonnet-4-5        6     1.5k  $0.01  2 KB  01a10b2f-1fb8
}
