package render

import (
	"testing"

	"ctxtool/internal/base/table"
	"ctxtool/replay/origin"
)

// TestCells: what a cell is in each form, by its unit.
func TestCells(t *testing.T) {
	t.Parallel()
	half := 0.5
	for _, c := range []struct {
		unit                table.Unit
		cell                any
		text, markdown, csv string
	}{
		{table.Text, nil, "", "", ""},
		{table.Text, "a*b\x1b", "a*b\ufffd", `a\*b` + "\ufffd", "a*b\ufffd"},
		{table.Text, table.Best("gsh"), "gsh *", "**gsh**", "gsh"},
		{table.Entry, "8d1e0c1e-4b1c-4f3c-9d3e-000000000000", "8d1e0c1e", "`8d1e0c1e`", "8d1e0c1e-4b1c-4f3c-9d3e-000000000000"},
		{table.Number, 12, "12", "12", "12"},
		{table.Number, 1.25, "1.250", "1.250", "1.25"},
		{table.Number, origin.Index(-1), "", "", ""},
		{table.Tokens, table.Marked(true, 1500), "~1500", `\~1500`, "1500"},
		{table.Tokens, table.Unless0(0), "", "", ""},
		{table.Short, int64(1500), "1.5k", "1.5k", "1500"},
		{table.Size, int64(2500), "2 KB", "2 KB", "2500"},
		{table.Change, 3, "+3", "+3", "3"},
		{table.Change, 0, "", "", "0"},
		{table.Share, &half, "50.0%", "50.0%", "0.5"},
		{table.Share, (*float64)(nil), "", "", ""},
		{table.Dollars, 0.0, "$0", `\$0`, "0"},
		{table.Dollars, table.About{Of: 0.25}, "~$0.2500", `\~\$0.2500`, "0.25"},
		{table.Dollars, table.Money{Dollars: 1.5, Decimals: 2, Unpriced: 3}, "$1.50+", `\$1.50+`, "1.5"},
		{table.Dollars, table.Money{Unpriced: 3}, "unknown", "unknown", ""},
		{table.Text, []int64{1, 8}, "▁█", "▁█", "1 8"},
	} {
		text, markdown, csv := Screen{}.cell(c.unit, c.cell), markdownCell(c.unit, c.cell), csvCell(c.cell)
		if text != c.text || markdown != c.markdown || csv != c.csv {
			t.Errorf("%s %v: %q, %q, %q, want %q, %q, %q", c.unit, c.cell, text, markdown, csv, c.text, c.markdown, c.csv)
		}
	}
}
