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
	list := struct {
		List []int  `json:"list"`
		Zero int    `json:"zero"`
		None string `json:"none"`
		Name string `json:"name"`
	}{List: []int{3, 4}, Name: "n"}
	cells := []any{}
	other := Column[*row]{Name: "other"}
	for _, column := range Fields[struct {
		List []int  `json:"list"`
		Zero int    `json:"zero"`
		None string `json:"none"`
		Name string `json:"name"`
	}]("list n=none|name first=name|none zero~ zero?!3") {
		cells = append(cells, column.Value(&list), column.Yields)
	}
	if got := fmt.Sprint(cells); got != "[2 0 n 0 n 0 {0} 0 <nil> 3]" {
		t.Errorf("cells %s", got)
	}
	if all := Fields("name $ agent", other); len(all) != 3 || all[1].Name != "other" {
		t.Errorf("columns %+v", all)
	}
	defer func() {
		if recover() == nil {
			t.Error("a word that names no field is accepted")
		}
	}()
	Fields[row]("part_weight")
}
