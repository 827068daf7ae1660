package stats

import (
	"cmp"
	"fmt"
)

// contextSheets are the tables of the context lens.
func contextSheets(r *Report) []Sheet {
	p := cmp.Or(r.Context, &ContextPart{})
	all := []Sheet{p.categorySheet()}
	if len(p.Sessions) > 1 {
		all = append(all, p.sessionSheet())
	}
	if len(p.Largest) > 0 {
		all = append(all, p.largestSheet())
	}
	if p.Rereads.Files > 0 {
		all = append(all, p.rereadSheet())
	}
	return append(all, p.Like.sheets()...)
}

// tokens is a number of tokens as a cell.
func (p *ContextPart) tokens(n int) any {
	if p.Estimates {
		return About(n)
	}
	return int64(n)
}

// unit is what a column of tokens is called: where some of them are calibrated, so.
func (p *ContextPart) unit() string {
	if p.calibrated() {
		return "calibrated"
	}
	return "tokens"
}

// categorySheet is what is in the contexts. The shares are those of the window, or of
// all tokens where there are several contexts.
func (p *ContextPart) categorySheet() Sheet {
	s := Sheet{Columns: []sheetColumn{
		{Name: "what"}, {Name: "name", Flex: true}, {Name: p.unit(), Unit: Tokens}, {Name: "window", Unit: Share},
		{Name: "bytes", Unit: Bytes}, {Name: "messages", Unit: Number},
	}}
	var all contextCategory
	for _, c := range p.Sessions {
		all.plus(contextCategory{Tokens: c.Tokens, Bytes: c.Bytes, Messages: c.Messages})
	}
	of := int64(all.Tokens)
	if len(p.Sessions) == 1 {
		s.Title, s.Notes = p.Sessions[0].headline(), p.Sessions[0].notes()
		of = p.Sessions[0].Window
	} else {
		s.Title, s.Columns[3].Name = fmt.Sprintf("%d sessions", len(p.Sessions)), "share"
		s.Notes = calibratedNotes(len(p.Sessions), func(i int) *calibrated { return p.Sessions[i].Calibrated })
	}
	row := func(c contextCategory) []any {
		return []any{c.Category, c.Name, p.tokens(c.Tokens), ratio(share(c.Tokens, of)), orNil(c.Bytes), orNil(int64(c.Messages))}
	}
	all.Category = "total"
	summed := false
	for _, c := range p.Categories {
		outside := c.Category == inEphemeral || c.Category == inHidden // the last ones
		if outside && !summed {
			s.Rows = append(s.Rows, row(all))
			summed = true
		}
		if c.Category == inHidden {
			s.Rows = append(s.Rows, []any{inHidden, "", About(c.Tokens), ratio(share(c.Tokens, of)), nil, nil})
			continue
		}
		s.Rows = append(s.Rows, row(c))
	}
	return s
}

// headline is what the context of one session is.
func (c *contextOf) headline() string {
	s := c.where()
	if c.Model.ID != "" {
		s += ", " + c.Model.Provider + "/" + c.Model.ID
	}
	if c.Window > 0 {
		from := c.WindowFrom
		if from != "given" && from != "baseline" {
			from = "models table, " + from
		}
		s += fmt.Sprintf(", window of %d tokens (%s)", c.Window, from)
	}
	return s
}

// notes are what else is to be said of the context of one session.
func (c *contextOf) notes() (notes []string) {
	if c.Window == 0 {
		notes = append(notes, "The window of the model is not known: --window gives it.")
	}
	notes = append(notes, c.Usage.String()+".")
	if u := c.Usage; u.Tokens != nil && *u.Tokens > u.Estimated && *u.Tokens > 0 && c.Calibrated == nil {
		notes = append(notes, fmt.Sprintf("The counter finds %d of them, and about %d are hidden: it is off by %+.1f%%.", c.Tokens, c.Hidden, 100*(float64(c.Tokens+c.Hidden)/float64(*u.Tokens)-1)))
	}
	if !c.PromptKnown {
		notes = append(notes, "Prompt and tools are not in this file: they are in the row hidden, and --baseline gives them.")
	}
	if c.Calibrated != nil {
		notes = append(notes, c.Calibrated.String())
	}
	return notes
}

// cell is how many tokens the context takes, as a cell: an estimate is marked.
func (c *contextOf) cell(p *ContextPart) any {
	if n := c.inUse(p.Counter); c.Usage.Tokens != nil && c.Usage.Estimated == 0 && n == *c.Usage.Tokens {
		return int64(n)
	}
	return p.tokens(c.inUse(p.Counter))
}

// sessionSheet is the fullest contexts of several sessions.
func (p *ContextPart) sessionSheet() Sheet {
	s := Sheet{Title: "the fullest", Columns: []sheetColumn{
		{Name: "session", Flex: true}, {Name: "entry"}, {Name: p.unit(), Unit: Tokens}, {Name: "window", Unit: Share},
		{Name: "of", Unit: Tokens}, {Name: "hidden", Unit: Tokens}, {Name: "messages", Unit: Number},
	}}
	some, notes := fullest(p.Sessions, func(c contextOf) int { return c.inUse(p.Counter) })
	for _, c := range some {
		s.Rows = append(s.Rows, []any{
			cmp.Or(c.File, c.Session), c.Entry, c.cell(p), ratio(share(c.inUse(p.Counter), c.Window)), orNil(c.Window), About(c.Hidden), orNil(int64(c.Messages)),
		})
	}
	s.Notes = notes
	return s
}

// largestSheet is the largest messages.
func (p *ContextPart) largestSheet() Sheet {
	s := Sheet{Title: "the largest", Columns: []sheetColumn{
		{Name: "entry"}, {Name: "line", Unit: Number}, {Name: "kind"}, {Name: "tool", Flex: true}, {Name: p.unit(), Unit: Tokens}, {Name: "bytes", Unit: Bytes},
	}}
	for _, e := range p.Largest {
		s.Rows = append(s.Rows, []any{e.Entry, int64(e.Line), e.Kind, e.Tool, p.tokens(e.Tokens), int64(e.Bytes)})
	}
	all := 0
	for _, c := range p.Sessions {
		all += c.Messages
	}
	if more := all - len(p.Largest); more > 0 {
		s.Notes = []string{fmt.Sprintf("%d more messages are smaller.", more)}
	}
	return inFiles(s, len(p.Sessions), func(i int) string { return p.Largest[i].File })
}

// rereadSheet is the files that were read more than once.
func (p *ContextPart) rereadSheet() Sheet {
	s := Sheet{Title: "read more than once", Columns: []sheetColumn{
		{Name: "path", Flex: true}, {Name: "times", Unit: Number}, {Name: "tokens of the older", Unit: Tokens}, {Name: "newest"},
	}}
	for _, r := range p.Rereads.Largest {
		s.Rows = append(s.Rows, []any{r.Path, int64(r.Times), p.tokens(r.Tokens), r.Entry})
	}
	if n := p.Rereads.Files - len(s.Rows); n > 0 {
		s.Notes = []string{fmt.Sprintf("With %d more files it is %d tokens.", n, p.Rereads.Tokens)}
	}
	return inFiles(s, len(p.Sessions), func(i int) string { return p.Rereads.Largest[i].File })
}

// inFiles puts the session's file in front of each row, where there are several.
func inFiles(s Sheet, sessions int, file func(row int) string) Sheet {
	if sessions < 2 {
		return s
	}
	s.Columns = append([]sheetColumn{{Name: "session", Flex: true}}, s.Columns...)
	for i := range s.Rows {
		s.Rows[i] = append([]any{file(i)}, s.Rows[i]...)
	}
	return s
}

// ratio is a share as a cell, nothing for none.
func ratio(x *float64) any {
	if x == nil {
		return nil
	}
	return *x
}
