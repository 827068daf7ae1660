package ledger_test

import (
	"fmt"
	"log"

	"ctxtool/replay"
	"ctxtool/replay/ledger"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// What each of the first requests had, and what it no longer had.
func ExampleRead() {
	s, err := sessionfmt.Open("../../testdata/sessions/demo.jsonl", sessionfmt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	l, err := ledger.Read(replay.New(s, replay.Options{}), ledger.Options{Leaf: s.Leaf(), Counter: &tokens.Pi})
	if err != nil {
		log.Fatal(err)
	}
	for k := range l.Requests[:3] {
		added, gone := l.Apart(int32(k))
		fmt.Println(s.ID(int(l.Requests[k].Record)), len(added), len(gone))
	}
	// Output:
	// 9ef3ac99 1 0
	// bbf04179 2 0
	// e28e290a 3 0
}
