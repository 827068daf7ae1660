package show

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"ctxtool/stats/table"
)

// ofCells returns the table of cells that are there already.
func ofCells(columns []col[[]string], rows [][]string) table.Table {
	for i := range columns {
		columns[i].Value = func(row []string) any { return row[i] }
	}
	return table.Stream(slices.Values(rows), columns)
}

// TestTableWidths: columns stand under each other, whatever the characters, and
// the flexible one gives way.
func TestTableWidths(t *testing.T) {
	rows := func() [][]string {
		return [][]string{
			{"1", "plain", "end"},
			{"22", "漢字 and テスト", "end"},
			{"333", "👨‍👩‍👧 🇳🇴 👍🏽 🙂", "end"},
			{"4", "e\u0301 combining, שלום", "end"},
			{"5", strings.Repeat("long ", 30), "end"},
			{"6", "\uE000 a stand-in of its own", "end"},
			{"7", "", "end"},
		}
	}
	columns := []col[[]string]{{Name: "n", Unit: table.Number}, {Name: "text", Flex: true}, {Name: "last"}}
	for _, width := range []int{0, 60, 30, 5} {
		var b strings.Builder
		WriteTable(&b, ofCells(columns, rows()), Screen{Width: width})
		out := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(out) != len(rows())+1 {
			t.Fatalf("width %d: %d lines\n%s", width, len(out), b.String())
		}
		for _, line := range out {
			if w := displaywidth.String(line); width > 0 && w > width {
				t.Errorf("width %d: a line of %d columns: %q", width, w, line)
			}
		}
		last := strings.Index(out[0], "last")
		if last < 0 { // has been left out
			continue
		}
		at := displaywidth.String(out[0][:last])
		for _, line := range out[1:] {
			if got := displaywidth.String(strings.TrimSuffix(line, "end")); got != at {
				t.Errorf("width %d: the last column begins at %d, not %d: %q", width, got, at, line)
			}
		}
	}
}

// TestYields: the columns that yield are left out one by one, and only where the flexible
// one has little room; colours take none.
func TestYields(t *testing.T) {
	columns := []col[[]string]{{Name: "a", Yields: 1}, {Name: "text", Flex: true}, {Name: "b", Yields: 2}, {Name: "end"}}
	long := strings.Repeat("x", 40)
	for width, want := range map[int]string{
		0:  "a text b end",
		60: "a text b end",
		45: "a text b end",
		39: "a text end",
		35: "text end",
		20: "text end",
		17: "text",
		10: "text",
	} {
		rows := [][]string{{"1", long, "22", "end"}}
		var b strings.Builder
		WriteTable(&b, ofCells(columns, rows), Screen{Width: width})
		head, row, _ := strings.Cut(b.String(), "\n")
		if got := strings.Join(strings.Fields(head), " "); got != want || width > 0 && measure.String(strings.TrimSuffix(row, "\n")) > width {
			t.Errorf("width %d: %s, want %s: %q", width, got, want, row)
		}
	}
	var b strings.Builder
	WriteTable(&b, ofCells(columns, [][]string{{"1", "short", "22", "end"}}), Screen{Width: 20})
	if !strings.HasPrefix(b.String(), "a  text") {
		t.Errorf("a text that has room leaves the others theirs:\n%s", &b)
	}
}

// TestTableColours: colours take no columns, and are closed where a text is cut.
func TestTableColours(t *testing.T) {
	columns := []col[[]string]{{Name: "kind", Style: kindStyle}, {Name: "text", Flex: true, Style: always(failure)}, {Name: "last"}}
	rows := func() [][]string {
		return [][]string{{"user", strings.Repeat("long ", 30), "end"}, {"assistant", "短い", "end"}}
	}
	var plain, coloured strings.Builder
	for _, on := range []struct {
		b *strings.Builder
		Screen
	}{{&plain, Screen{Width: 40}}, {&coloured, Screen{Width: 40, Colour: true}}} {
		WriteTable(on.b, ofCells(columns, rows()), on.Screen)
	}
	if !strings.Contains(coloured.String(), "\x1b[1;36muser\x1b[0m") {
		t.Errorf("no colour: %q", coloured.String())
	}
	if got := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(coloured.String(), ""); got != plain.String() {
		t.Errorf("without its colours it is\n%s\nand not\n%s", got, plain.String())
	}
}
