package render

import (
	"bufio"
	"fmt"
	"math"
	"strconv"
	"strings"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

var summaryFormat = Format{
	Name:  "summary",
	About: "tokens by category, as /context shows them",
	Need:  sessionfmt.NeedModel,
	write: writeSummary,
}

// writeSummary is the text of spec/pi-format.md 8.2; its last line names our own
// commands.
func writeSummary(w *bufio.Writer, r Report) error {
	e := r.Envelope
	prompt, err := e.Prompt()
	if err != nil {
		return err
	}
	n, err := e.Count(&tokens.Pi)
	if err != nil {
		return err
	}
	model, limit, _, err := e.Model()
	if err != nil {
		return err
	}
	share := func(tokens int) string {
		if limit <= 0 {
			return ""
		}
		return " (" + oneDecimal(float64(tokens)/float64(limit)*100) + "%)"
	}
	used := 0
	if limit > 0 {
		used = int(min(100, math.Floor(float64(n.Total)/float64(limit)*100+0.5)))
	}
	fmt.Fprintf(w, "# Context Usage\n\n[%s] %s/%s · ~%s/%s tokens (%d%%)\n\n",
		bar(n.Total, limit), model.Provider, model.ID, short(int64(n.Total)), short(limit), used)
	fmt.Fprintf(w, "- system: ~%s%s\n", short(int64(n.System)), share(n.System))
	fmt.Fprintf(w, "- tools (%d): ~%s%s", len(prompt.Tools), short(int64(n.Tools)), share(n.Tools))
	for i, t := range prompt.Tools {
		switch {
		case i == 0:
			fmt.Fprintf(w, " — %s", t.Name)
		case i < 12:
			fmt.Fprintf(w, ", %s", t.Name)
		case i == 12:
			w.WriteString(", …")
		}
	}
	fmt.Fprintf(w, "\n- messages: ~%s%s (cached %d", short(int64(n.Messages)), share(n.Messages), e.Cached())
	if u := e.Uncached(); u > 0 {
		fmt.Fprintf(w, ", uncached %d", u)
	}
	w.WriteString(")\n")
	if u := e.Uncached(); r.Ephemeral && u > 0 {
		fmt.Fprintf(w, "- ephemerals: yes (%d message%s)\n", u, strings.Repeat("s", min(1, u-1)))
	}
	_, err = w.WriteString("\nUse `ctxtool replay -f context` for message history. Use `ctxtool replay -f full` for the full envelope.\n")
	return err
}

// bar shows how full the window is in 20 cells.
func bar(used int, limit int64) string {
	filled := 0
	if limit > 0 {
		filled = int(max(0, min(20, math.Floor(float64(used)/float64(limit)*20+0.5))))
	}
	return strings.Repeat("█", filled) + strings.Repeat("░", 20-filled)
}

// short is a number of tokens as pi prints it: 950, 1.3k, 2m.
func short(n int64) string {
	unit := func(div float64, suffix string) string {
		return strings.TrimSuffix(oneDecimal(float64(n)/div), ".0") + suffix
	}
	switch {
	case n >= 1_000_000:
		return unit(1_000_000, "m")
	case n >= 1_000:
		return unit(1_000, "k")
	}
	return strconv.FormatInt(n, 10)
}

// oneDecimal prints with one decimal as JavaScript does: an exact tie goes up,
// where Go takes the even digit.
func oneDecimal(x float64) string {
	if twenty := x * 20; math.FMA(x, 20, -twenty) == 0 && math.Mod(twenty, 2) == 1 {
		x = math.Nextafter(x, math.Inf(1))
	}
	return strconv.FormatFloat(x, 'f', 1, 64)
}
