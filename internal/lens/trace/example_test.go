package trace_test

import (
	"fmt"
	"log"

	"ctxtool/internal/lens/trace"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// Which requests saw a text.
func Example() {
	s, err := sessionfmt.Open("../../../testdata/sessions/demo.jsonl", sessionfmt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	r := replay.New(s, replay.Options{})
	found, err := trace.Follow(r, s.Leaf(), &trace.Query{Text: "outbox_test.go"})
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range found.Lives[:min(3, len(found.Lives))] {
		fmt.Println(l.As, l.ID, l.Seen, l.Now)
	}
	// Output:
	// toolResult 4b1e920f [{1 5}] false
	// assistant bbf04179 [{2 5}] false
	// toolResult 84616aca [{3 5}] false
}
