package origin_test

import (
	"fmt"
	"log"

	"ctxtool/replay"
	"ctxtool/replay/origin"
	"ctxtool/sessionfmt"
)

// Where the parts of a prompt come from.
func ExampleProvenanceOf() {
	s, err := sessionfmt.Open("../../testdata/sessions/good/rearranged.jsonl", sessionfmt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	e, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		log.Fatal(err)
	}
	p, err := e.Prompt()
	if err != nil {
		log.Fatal(err)
	}
	for _, part := range p.Parts {
		from := origin.ProvenanceOf(s, part.Origin)
		fmt.Println(part.Name, from.Entry, from.By)
	}
	// Output:
	// units 0b4d7fa6 {0b4d7fa6 1}
	// style 0b4d7fa6 {0b4d7fa6 1}
	// content 0b4d7fa6 {0b4d7fa6 1}
}
