package show

import (
	"bufio"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/stats/table"
)

// TestCSVHasNoFormulas: a text of a session is no formula of a spreadsheet, and numbers stay
// numbers.
func TestCSVHasNoFormulas(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	w := bufio.NewWriter(&out)
	cells := []any{`=HYPERLINK("http://x","y")`, "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1", "-5", "+1.5e3", -5, -0.25, "a=b", "", nil}
	want := []string{`'=HYPERLINK("http://x","y")`, "'+1+cmd|' /C calc'!A0", "'-2+3", "'@SUM(A1)", "�=1", "�=1", "�=1", "'＝1+1", "-5", "+1.5e3", "-5", "-0.25", "a=b", "", ""}
	columns := make([]col[[]any], len(cells))
	for i := range columns {
		columns[i].Value = func(row []any) any { return row[i] }
	}
	columns[0].Name = "=1+1"
	must.Do(writeCSV(w, table.Stream(slices.Values([][]any{cells}), columns)))
	must.Do(w.Flush())
	rows := must.Get(csv.NewReader(strings.NewReader(out.String())).ReadAll())
	if rows[0][0] != "'=1+1" {
		t.Errorf("heading %q", rows[0][0])
	}
	for i, got := range rows[1] {
		if got != want[i] {
			t.Errorf("%q: %q, want %q", cells[i], got, want[i])
		}
	}
}
