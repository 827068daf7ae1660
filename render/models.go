package render

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"ctxtool/internal/phrase"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
)

// Models are models of the table, schema ctxtool/models/1.
type Models struct {
	Schema string      `json:"schema"`
	Date   string      `json:"date"`   // on which the source of the built-in table was published
	Source string      `json:"source"` // the npm package that the built-in table was taken from
	Models []ModelLine `json:"models"` // in the order of the table
}

// A ModelLine is a model of the table, with the date of the built-in table.
type ModelLine struct {
	models.Model
	Date       string `json:"date"`       // of the built-in table
	Configured bool   `json:"configured"` // the configuration sets some of it, or all
}

// writeModels writes a row for each model, and below it one for each tier of its prices.
func writeModels(w *bufio.Writer, list Models, on Screen) {
	right := func(name string) Column { return Column{Name: name, Right: true} }
	columns := []Column{{Name: "model", Flex: true}, right("window"), right("output"), right("$ in"), right("$ out"), right("$ read"), right("$ write"), right("cached")}
	prices := func(r models.Rates) []string {
		return []string{price(r.Input), price(r.Output), price(r.CacheRead), price(r.CacheWrite)}
	}
	var cells [][]string
	configured := false
	for _, m := range list.Models {
		name := m.Provider + "/" + m.ID
		if m.Configured {
			name, configured = name+" *", true
		}
		row := append([]string{sessionfmt.Clean(name), whole(m.ContextWindow), whole(m.MaxTokens)}, prices(m.Cost.Rates)...)
		cells = append(cells, append(row, lifetime(m.PromptCache)))
		for _, t := range m.Cost.Tiers {
			row := append([]string{fmt.Sprintf("· prompts above %d", t.InputTokensAbove), "", ""}, prices(t.Rates)...)
			cells = append(cells, append(row, ""))
		}
	}
	WriteTable(w, columns, cells, on)
	fmt.Fprintf(w, "\nWindow and output in tokens, prices in dollars per million tokens.\nThe table is of %s (%s).\n", list.Date, list.Source)
	if configured {
		fmt.Fprintln(w, "* set by the configuration")
	}
}

// whole returns a number of tokens, or "" if it is unknown.
func whole(n int64) string { return phrase.If(n != 0, "%d", n) }

// price returns a price, or "" for none.
func price(dollars float64) string {
	return phrase.If(dollars != 0, "%s", strconv.FormatFloat(dollars, 'f', -1, 64))
}

// lifetime returns how long a cached prompt lives: by default, and at most.
func lifetime(c models.PromptCache) string {
	var all []string
	for _, seconds := range []int64{c.Short, c.Long} {
		if seconds != 0 {
			all = append(all, duration(seconds))
		}
	}
	return strings.Join(all, "/")
}
