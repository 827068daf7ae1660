package render_test

import (
	"bufio"
	"log"
	"os"

	"ctxtool/render"
	"ctxtool/stats"
)

// A value is computed by the package that knows it, and written by render.
func ExampleWrite() {
	s, err := stats.Options{}.Summarize("../testdata/sessions/good/linear.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	w := bufio.NewWriter(os.Stdout)
	defer w.Flush()
	if err := render.Write(w, render.Sessions{Rows: []*stats.Summary{s}}, "text", render.Screen{Width: 80}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// time              title                        context use   cost  id
	// 2026-10-05 08:31  What does the Makefile's c…   1%    1.5k  $0.01  01a10b2f-1fb8
	//
	// 1 session, $0.01
}
