package origin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

const shop = `package shop

// Price returns what a basket costs, in pence.
func Price(basket []Item) int {
	total := 0
	for _, item := range basket {
		total += item.Pence * item.Count
	}
	return total
}
`

// shopLines are the lines of shop with an origin.
func shopLines(origin string) (all []string) {
	for line := range strings.Lines(shop) {
		all = append(all, origin+" "+strings.TrimSuffix(line, "\n"))
	}
	return all
}

// replaced replaces a line.
func replaced(all []string, at int, line string) []string {
	all[at-1] = line
	return all
}

// TestWritten: a file that a session wrote and a person committed.
func TestWritten(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.asked("one", "add a price")
	l.writes("one", "price.go", shop)
	l.commit("add a price")
	l.expect("price.go", shopLines("exact one")...)
	f := must.Get(must.Get(Open(l.repo, os.Environ())).Of(l.options(), filepath.Join(l.repo, "price.go"), 4, 5))
	c, s := f.Calls[0], f.Sessions[0]
	if len(f.Lines) != 2 || f.Counts != (Counts{Exact: 2}) || f.Lines[0].Number != 4 || f.Commits[0].Subject != "add a price" {
		t.Errorf("%+v", f)
	}
	if c.Request != 0 || c.Prompt != "add a price" || c.Tool != "write" || *c.Cost != 0.5 || c.Line != 3 || s.Title != "add a price" ||
		s.Cost != 0.5 || s.Agent != "pi" {
		t.Errorf("%+v\n%+v", c, s)
	}
}

// TestEdited: what a person, a formatter and another session change of it.
func TestEdited(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.writes("one", "price.go", shop)
	l.commit("add a price")
	text := strings.Replace(shop, "in pence", "in euro cents", 1)
	l.file("price.go", text)
	l.commit("other money")
	l.expect("price.go", replaced(shopLines("exact one"), 3, "edited one // Price returns what a basket costs, in euro cents.")...)
	l.edits("two", "price.go", "\treturn total\n", "\treturn max(total, smallest)\n")
}
