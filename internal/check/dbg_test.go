package check

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"ctxtool/sessionfmt"
)

func TestDbg(t *testing.T) {
	ch, _ := Choose(nil, nil)
	names, _ := filepath.Glob("../../testdata/sessions/*/*")
	names = append(names, "../../testdata/sessions/demo.jsonl")
	for _, n := range names {
		rr := File(n, Options{Choice: ch})
		for _, f := range rr.Findings {
			if f.Hides != nil {
				fmt.Println(filepath.Base(n), f.Line, f.Code, *f.Hides)
			}
		}
		if rr.Mended != nil {
			fmt.Println(filepath.Base(n), *rr.Context, *rr.Mended)
		}
		continue
		s, err := sessionfmt.Open(n, sessionfmt.Options{})
		if err != nil {
			continue
		}
		r, err := NewRepair(s)
		if err != nil {
			fmt.Println(n, err)
			continue
		}
		if !r.Sound() {
			for c, err := range r.Changes {
				if err != nil {
					t.Fatal(err)
				}
				if !c.Same {
					fmt.Println(filepath.Base(n), c.Number, c.Notes, len(c.New), c.Out != nil)
				}
			}
			s2, err := r.Repaired()
			if err != nil {
				t.Fatal(n, err)
			}
			f, _ := os.Create("/tmp/rep.jsonl")
			sessionfmt.Rewrite(r.Changes, f, os.Stdout)
			f.Close()
			fmt.Println("   ", s2, s2.Findings)
			for _, f := range File("/tmp/rep.jsonl", Options{Choice: ch}).Findings {
				fmt.Println("    left", f.Line, f.Code, f.Text)
			}
		}
		r.Close()
	}
}
