package diff_test

import (
	"fmt"
	"log"

	"ctxtool/internal/lens/diff"
	"ctxtool/replay"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// What a request has that the one before had not.
func Example() {
	s, err := sessionfmt.Open("../../../testdata/sessions/demo.jsonl", sessionfmt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	r := replay.New(s, replay.Options{})
	var at [2]int
	for i := range at {
		p, err := s.Point(fmt.Sprintf("request:%d", 11+i), s.Leaf())
		if err != nil {
			log.Fatal(err)
		}
		at[i] = s.LeafAt(p)
	}
	span, err := diff.Between(r, at[0], at[1])
	if err != nil {
		log.Fatal(err)
	}
	d, err := span.Diff(&tokens.Pi)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range d.Messages {
		fmt.Println(m.Change, m.Count, m.Tokens)
	}
	// Output:
	// kept 5 286
	// added 1 57
	// added 1 692
	// added 1 56
	// added 1 593
	// added 1 651
}
