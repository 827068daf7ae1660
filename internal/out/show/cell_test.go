package show

import (
	"testing"

	"ctxtool/replay/origin"
	"ctxtool/stats/table"
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

// TestTerminalCells: on a terminal numbers are rounded, and the path of a session is its project and
// short id.
func TestTerminalCells(t *testing.T) {
	t.Parallel()
	const id = "019da84b-b5b8-7d3e-9a51-0c2f5e7d1a10"
	for _, c := range []struct {
		unit table.Unit
		cell any
		want string
	}{
		{table.Tokens, table.Marked(true, 177_700), "~177.7k"},
		{table.Tokens, 950, "950"},
		{table.Number, 177_700, "177700"},
		{table.Bytes, 1_250_000, "1.2 MB"},
		{table.Dollars, 12.4512, "$12.45"},
		{table.Dollars, 0.0287, "$0.0287"},
		{table.Dollars, table.Money{Dollars: 1.3819, Decimals: 4, Unpriced: 1}, "$1.38+"},
		{table.Dollars, table.Money{Decimals: 4}, "$0.00"},
		{table.Path, "--home-me-parcel--/2026-04-20T00-30-30_" + id + ".jsonl", "home-me-parcel 019da84b-b5b8"},
		{table.Path, "2026/11/03/rollout-2026-11-03T10-00-00-" + id + ".jsonl", "019da84b-b5b8"},
		{table.Path, id, "019da84b-b5b8"},
		{table.Path, "good/demo.jsonl", "good/demo.jsonl"},
		{table.Text, id, id},
	} {
		if got := (Screen{Width: 80}).cell(c.unit, c.cell); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.unit, c.cell, got, c.want)
		}
	}
}

// TestFitCell: a path keeps its end, other texts their beginning, ids and figures all of it.
func TestFitCell(t *testing.T) {
	for _, c := range []struct {
		unit       table.Unit
		cell, want string
	}{
		{table.Path, "home-me-parcel 019da84b-b5b8", "…l 019da84b-b5b8"},
		{table.Text, "Why does track not build?", "Why does track …"},
		{table.Entry, "an-id-of-twenty-bytes", "an-id-of-twenty-bytes"},
		{table.Number, "12345678901234567", "12345678901234567"},
		{table.Text, "short", "short"},
	} {
		if got := fitCell(c.unit, c.cell, 16); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.unit, c.cell, got, c.want)
		}
	}
}
