package render

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"ctxtool/internal/phrase"
	"ctxtool/replay/reuse"
	"ctxtool/sessionfmt"
)

// Compactions are those of a path, each with what was used again of what it dropped.
type Compactions struct {
	All   []reuse.Compaction
	Limit int // things a compaction that text shows, 0 for all
}

// mostRequests is how many requests are listed that used one thing.
const mostRequests = 4

func writeCompactions(w *bufio.Writer, c Compactions, on Screen) error {
	if len(c.All) == 0 {
		w.WriteString("no compactions on the path\n")
	}
	columns := []Column{{Name: "used again"}, {Name: "what", Flex: true}, {Name: "dropped with", style: always(faint)}, {Name: "used by requests"}}
	for i := range c.All {
		one := &c.All[i]
		if i > 0 {
			w.WriteByte('\n')
		}
		fmt.Fprintf(w, "%s, before request %d: %d -> %d tokens, %s dropped, %s used again\n", on.paint(heading, "compaction "+sessionfmt.Clean(one.Entry)), one.Request,
			one.Before, one.After, phrase.Count(one.Dropped, "message"), phrase.Count(len(one.Used), "thing"))
		shown := one.Used
		if c.Limit > 0 {
			shown = shown[:min(c.Limit, len(shown))]
		}
		var rows [][]string
		for _, u := range shown {
			rows = append(rows, []string{string(u.Kind), sessionfmt.Clean(u.What), sessionfmt.Clean(u.Entry), usedBy(u)})
		}
		if len(rows) > 0 {
			if err := WriteTable(w, columns, rows, on); err != nil {
				return err
			}
		}
		if more := len(one.Used) - len(shown); more > 0 {
			fmt.Fprintf(w, "and %d more: --limit 0 shows all\n", more)
		}
	}
	return nil
}

// usedBy are the requests whose answers used a thing, the first ones.
func usedBy(u reuse.Reused) string {
	var all []string
	for _, by := range u.By[:min(mostRequests, len(u.By))] {
		all = append(all, strconv.Itoa(by.Request))
	}
	if more := len(u.By) - len(all); more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return strings.Join(all, ", ")
}
