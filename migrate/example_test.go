package migrate_test

import (
	"fmt"
	"io"
	"log"

	"ctxtool/migrate"
	"ctxtool/sessionfmt"
)

func ExampleNew() {
	s, err := sessionfmt.Open("../testdata/sessions/good/v2.jsonl", sessionfmt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	plan, err := migrate.New(s, migrate.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("version", plan.From, "to", plan.To)
	fmt.Println(sessionfmt.Rewrite(plan.Changes, io.Discard, io.Discard))
	// Output:
	// version 2 to 3
	// <nil>
}
