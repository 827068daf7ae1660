package table

import (
	"fmt"
	"slices"
	"testing"
)

// TestFields: a column has the field that its word names, none of what a row does not have.
func TestFields(t *testing.T) {
	type part struct {
		Size int    `json:"size"`
		Of   string `json:"of,omitempty"`
	}
	type embedded struct {
		Agent string `json:"agent"`
	}
	type row struct {
		embedded
		Name string  `json:"name"`
		Part *part   `json:"part"`
		Cost float64 `json:"cost"`
	}
	columns := Fields[row]("agent name* cost:dollars? part_size all+of=part.of:path?")
	var names []string
	for _, c := range columns {
		names = append(names, fmt.Sprint(c.Name, " ", c.Unit, c.Flex))
	}
	if want := []string{"agent text false", "name text true", "cost dollars false", "part_size number false", "all of text false"}; !slices.Equal(names, want) {
		t.Errorf("columns %q, want %q", names, want)
	}
	for _, c := range []struct {
		row  row
		want string
	}{
		{row{embedded{"pi"}, "a", &part{0, "b"}, 1.5}, "[pi a 1.5 0 b]"},
		{row{embedded{"pi"}, "", &part{2, ""}, 0}, "[pi  <nil> 2 <nil>]"},
		{row{Name: "a"}, "[ a <nil> <nil> <nil>]"},
	} {
		var cells []any
		for _, column := range columns {
			cells = append(cells, column.Value(&c.row))
		}
		if got := fmt.Sprint(cells); got != c.want {
			t.Errorf("%+v: %s, want %s", c.row, got, c.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a word that names no field is accepted")
		}
	}()
	Fields[row]("part_weight")
}
