package table_test

import (
	"fmt"

	"ctxtool/stats/table"
)

// The cells of two rows. A column is a name, a unit and a function of a row.
func Example() {
	type use struct {
		tool  string
		calls int
	}
	t := table.Of([]use{{"read", 12}, {"bash", 3}}, []table.Column[*use]{
		{Name: "tool", Value: func(u *use) any { return u.tool }},
		{Name: "calls", Unit: table.Number, Value: func(u *use) any { return u.calls }},
	})
	for cells := range t.Cells {
		fmt.Println(cells...)
	}
	// Output:
	// read 12
	// bash 3
}
