package show

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"ctxtool/stats/table"

	"github.com/clipperhouse/displaywidth"
)

func chart(c *table.Chart, width int) string {
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	writeChart(w, c, Screen{Width: width})
	w.Flush()
	return out.String()
}

// TestChart: bars under a limit that they come near, with marks.
func TestChart(t *testing.T) {
	c := &table.Chart{Limit: 800, Bars: []table.Bar{{Size: 0}, {Size: 1}, {Size: 400}, {Size: 799, Mark: 'E'}, {Size: 150, Mark: 'C'}}}
	want := `
  800 ┬┄┄┄┄┄┄┄┄┄┄ window
      │      ██
      │      ██
  600 ┤      ██
      │      ██
  400 ┤    ████
      │    ████
  200 ┤    ████▄▄
      │  ▁▁██████
    0 ┴──────────
             E C
       0        4
`
	got := "\n" + chart(c, 18)
	if got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// TestChartFits: a chart is as wide as it may be, whatever it shows; where the width is
// not known it is that of others who do not.
func TestChartFits(t *testing.T) {
	for _, n := range []int{1, 2, 40, 71, 72, 73, 500} {
		c := &table.Chart{Bars: make([]table.Bar, n)}
		for i := range c.Bars {
			c.Bars[i].Size = int64(i * 1000)
		}
		c.Bars[n/2].Mark = 'T'
		text := chart(c, 80)
		if text != chart(c, 0) {
			t.Errorf("%d bars: a pipe gets another chart", n)
		}
		if strings.Count(text, "T") != 1 {
			t.Errorf("%d bars: the mark is lost\n%s", n, text)
		}
		for line := range strings.Lines(text) {
			if displaywidth.String(strings.TrimRight(line, "\n")) > 80 {
				t.Errorf("%d bars: %q", n, line)
			}
		}
	}
}

// TestChartTop: the limit where the bars come near it, else a round number.
func TestChartTop(t *testing.T) {
	for _, c := range []struct{ size, limit, top int64 }{
		{0, 0, 8}, {8, 0, 8}, {9, 0, 16}, {41_770, 735_000, 48_000}, {100_000, 200_000, 200_000}, {99_999, 200_000, 160_000}, {200_001, 200_000, 240_000},
	} {
		if got := chartTop(&table.Chart{Bars: []table.Bar{{Size: c.size}}, Limit: c.limit}); got != c.top {
			t.Errorf("%d of %d: %d, want %d", c.size, c.limit, got, c.top)
		}
	}
}

// TestSparkline: the largest of those that share a column is seen.
func TestSparkline(t *testing.T) {
	many := make([]int64, 1000)
	many[500] = 5
	for _, c := range []struct {
		sizes []int64
		want  string
	}{{nil, ""}, {[]int64{0}, " "}, {[]int64{1, 50, 100}, "▁▄█"}, {many, strings.Repeat(" ", 12) + "█" + strings.Repeat(" ", 11)}} {
		if got := sparkline(c.sizes); got != c.want {
			t.Errorf("%d sizes: %q, want %q", len(c.sizes), got, c.want)
		}
	}
}
