package show

import (
	"bufio"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay/models"
	"ctxtool/stats/table"
	"fmt"
	"strconv"
	"strings"
)

// Models are models of the table, schema ctxtool/models/1.
type Models struct {
	Schema string      `json:"schema"`
	Date   string      `json:"date"`   // on which the source of the built-in table was published
	Source string      `json:"source"` // source of the built-in table, an npm package
	Models []ModelLine `json:"models"` // in the order of the table
}

// A ModelLine is a model of the table, with the date of the built-in table.
type ModelLine struct {
	models.Model
	Date       string `json:"date"`       // of the built-in table
	Configured bool   `json:"configured"` // the configuration sets some of it, or all
}

// A modelRow is a model of the table, or a tier of its prices.
type modelRow struct {
	name  string
	model models.Model // nothing for a tier
	rates models.Rates
}

var modelColumns = []col[*modelRow]{
	{Name: "model", Unit: table.Path, Value: func(m *modelRow) any { return m.name }, Flex: true},
	{Name: "window", Unit: table.Tokens, Value: func(m *modelRow) any { return table.Unless0(m.model.ContextWindow) }},
	{Name: "output", Unit: table.Tokens, Value: func(m *modelRow) any { return table.Unless0(m.model.MaxTokens) },
		Yields: 3},
	{Name: "$ in", Unit: table.Number, Value: func(m *modelRow) any { return price(m.rates.Input) }},
	{Name: "$ out", Unit: table.Number, Value: func(m *modelRow) any { return price(m.rates.Output) }},
	{Name: "$ read", Unit: table.Number, Value: func(m *modelRow) any { return price(m.rates.CacheRead) }, Yields: 1},
	{Name: "$ write", Unit: table.Number, Value: func(m *modelRow) any { return price(m.rates.CacheWrite) }, Yields: 2},
	{Name: "cached", Unit: table.Number, Value: func(m *modelRow) any { return lifetime(m.model.PromptCache) },
		Yields: 4},
}

// writeModels writes a row for each model, and below it one for each tier of its prices.
func writeModels(w *bufio.Writer, list Models, on Screen) {
	var rows []modelRow
	configured := false
	for _, m := range list.Models {
		configured = configured || m.Configured
		name := m.Provider + "/" + m.ID + phrase.If(m.Configured, " *")
		rows = append(rows, modelRow{name, m.Model, m.Cost.Rates})
		for _, t := range m.Cost.Tiers {
			rows = append(rows, modelRow{fmt.Sprintf("· prompts above %d", t.InputTokensAbove),
				models.Model{}, t.Rates})
		}
	}
	WriteTable(w, table.Of(rows, modelColumns), on)
	fmt.Fprintf(w, "\nWindow and output in tokens, prices in dollars per million tokens.\n")
	fmt.Fprintf(w, "The table is of %s (%s).\n", list.Date, list.Source)
	if configured {
		fmt.Fprintln(w, "* set by the configuration")
	}
}

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
