package check_test

import (
	"fmt"

	"ctxtool/internal/lens/check"
	"ctxtool/sessionfmt"
)

func ExampleFile() {
	r := check.File("../../../testdata/sessions/bad/orphan.jsonl", check.Options{})
	for _, f := range r.Findings {
		fmt.Println(f.Line, f.Severity, f.Code)
	}
	// Output:
	// 6 error orphan
}

// A repair is a sequence of changes, one for each line.
func ExampleNewRepair() {
	s, err := sessionfmt.Open("../../../testdata/sessions/bad/orphan.jsonl", sessionfmt.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	r, err := check.NewRepair(s)
	if err != nil {
		fmt.Println(err)
		return
	}
	for c, err := range r.Changes {
		if err != nil {
			fmt.Println(err)
			return
		}
		if !c.Same {
			fmt.Println(c.Number, c.Notes)
		}
	}
	// Output:
	// 6 [reparented to 0430c81d: the entry before it in the file, since its parent is lost]
}
