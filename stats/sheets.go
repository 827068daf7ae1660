package stats

import (
	"cmp"
	"fmt"
)

// sheets are the compactions, and what their summaries lost.
func (p *CompactionsPart) sheets() []Sheet {
	several := p.files() > 1
	if p.Count == 0 {
		return []Sheet{{Columns: located(several, compactionColumns...), Notes: []string{"no compactions on the path"}}}
	}
	main := Sheet{Columns: located(several, compactionColumns...), Few: mostListed}
	for i := range p.List {
		main.Rows = append(main.Rows, p.List[i].row(several))
	}
	main.Notes = []string{p.note()}
	loops := 0
	for i := range p.List {
		c := &p.List[i]
		for _, why := range c.Loops {
			entry := c.Entry
			if several {
				entry = c.File + ": " + entry
			}
			if loops++; loops <= mostListed {
				main.Notes = append(main.Notes, entry+" is part of a loop: "+why)
			}
		}
	}
	all := []Sheet{main, p.why(several)}
	if lost := p.lost(several); len(lost.Rows) > 0 {
		all = append(all, lost)
	}
	return all
}

func (p *CompactionsPart) files() int {
	files := map[string]bool{}
	for i := range p.List {
		files[p.List[i].File] = true
	}
	return len(files)
}

var compactionColumns = []sheetColumn{
	{Name: "entry"}, {Name: "why"}, {Name: "before", Unit: Tokens}, {Name: "after", Unit: Tokens}, {Name: "freed", Unit: Share}, {Name: "band"},
	{Name: "kept", Unit: Number}, {Name: "turn"}, {Name: "paths"}, {Name: "commands"}, {Name: "errors"}, {Name: "constraints"},
}

func (c *compacting) row(several bool) []any {
	turn := ""
	if c.Split {
		turn = "split"
	}
	s := &c.Survival
	return at(several, c.File,
		c.Entry, c.Trigger, About(c.Before), About(c.After), c.Reduction, c.Band, int64(c.Kept), turn,
		s.Paths.String(), s.Commands.String(), s.Errors.String(), s.Constraints.String())
}

// String is how many were found, nothing of none.
func (k kept) String() string {
	if k.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", k.Found, k.Of)
}

// note is all of them in a sentence.
func (p *CompactionsPart) note() string {
	text := fmt.Sprintf("%s: %s; %d in the band of 60 to 80 percent", count(p.Count, "compaction"), tally(p.Triggers), p.Bands["in"])
	if p.Loops > 0 {
		text += fmt.Sprintf("; %d in a loop", p.Loops)
	}
	return text
}

// why is what tells of their causes.
func (p *CompactionsPart) why(several bool) Sheet {
	s := Sheet{Title: "why", Few: mostListed, Columns: located(several,
		sheetColumn{Name: "entry"}, sheetColumn{Name: "request", Unit: Number}, sheetColumn{Name: "recorded", Unit: Tokens}, sheetColumn{Name: "next", Unit: Tokens},
		sheetColumn{Name: "evidence", Flex: true})}
	for i := range p.List {
		c := &p.List[i]
		evidence := c.Evidence
		if c.Trigger == "overflow" && c.Retried {
			evidence += "; then it was asked for again"
		}
		s.Rows = append(s.Rows, at(several, c.File, c.Entry, int64(c.Request), orNil(c.Recorded), orNil(c.Next), evidence))
	}
	return s
}

// orNil is a number, or nothing for 0.
func orNil(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// lost is what the summaries do not tell, a few of each kind.
func (p *CompactionsPart) lost(several bool) Sheet {
	const few = 3
	s := Sheet{Title: "lost by the summary", Few: mostListed, Columns: located(several, sheetColumn{Name: "entry"}, sheetColumn{Name: "kind"}, sheetColumn{Name: "what", Flex: true})}
	for i := range p.List {
		c := &p.List[i]
		for _, k := range []struct {
			name string
			kept
		}{{"constraint", c.Survival.Constraints}, {"error", c.Survival.Errors}, {"path", c.Survival.Paths}, {"command", c.Survival.Commands}} {
			for _, what := range k.Lost[:min(few, len(k.Lost))] {
				s.Rows = append(s.Rows, at(several, c.File, c.Entry, k.name, what))
			}
			if more := len(k.Lost) - few; more > 0 {
				s.Rows = append(s.Rows, at(several, c.File, c.Entry, k.name, fmt.Sprintf("and %d more, which json has", more)))
			}
		}
	}
	return s
}

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
	if p.Calibrated() {
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
	if n := c.InUse(p.Counter); c.Usage.Tokens != nil && c.Usage.Estimated == 0 && n == *c.Usage.Tokens {
		return int64(n)
	}
	return p.tokens(c.InUse(p.Counter))
}

// sessionSheet is the fullest contexts of several sessions.
func (p *ContextPart) sessionSheet() Sheet {
	s := Sheet{Title: "the fullest", Columns: []sheetColumn{
		{Name: "session", Flex: true}, {Name: "entry"}, {Name: p.unit(), Unit: Tokens}, {Name: "window", Unit: Share},
		{Name: "of", Unit: Tokens}, {Name: "hidden", Unit: Tokens}, {Name: "messages", Unit: Number},
	}}
	some, notes := fullest(p.Sessions, func(c contextOf) int { return c.InUse(p.Counter) })
	for _, c := range some {
		s.Rows = append(s.Rows, []any{
			cmp.Or(c.File, c.Session), c.Entry, c.cell(p), ratio(share(c.InUse(p.Counter), c.Window)), orNil(c.Window), About(c.Hidden), orNil(int64(c.Messages)),
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

// sheets are the tables of the lens cost: the rows, and what the calls were for.
func (p *CostPart) sheets() []Sheet {
	sheets := []Sheet{p.rowSheet()}
	if p.Calls.Total > p.Kinds.Answers.Calls.Total {
		sheets = append(sheets, p.kindSheet())
	}
	last := &sheets[len(sheets)-1]
	last.Notes = p.notes()
	return sheets
}

// fewRows is how many rows people see.
const fewRows = 50

// sumColumns are those of a sum; see sumCells.
var sumColumns = []sheetColumn{
	{Name: "calls", Unit: Number},
	{Name: "input", Unit: Tokens},
	{Name: "output", Unit: Tokens},
	{Name: "cache read", Unit: Tokens},
	{Name: "cache write", Unit: Tokens},
	{Name: "cost", Unit: Dollars},
	{Name: "billed", Unit: Dollars, Spare: true},
	{Name: "computed", Unit: Dollars, Spare: true},
	{Name: "unpriced", Unit: Number, Spare: true},
}

// sumCells are the cells of a sum.
func sumCells(s *costSum) []any {
	var cost any // nothing where nobody recorded any
	if s.Calls.Total > s.Calls.Unpriced {
		cost = s.Cost.Total
	}
	return []any{s.Calls.Total, orBlank(s.Tokens.Input), orBlank(s.Tokens.Output), orBlank(s.Tokens.CacheRead), orBlank(s.Tokens.CacheWrite),
		cost, orBlank(s.Cost.Billed), orBlank(s.Cost.Computed), orBlank(s.Calls.Unpriced)}
}

// orBlank is a number's cell, empty for 0.
func orBlank[T int64 | float64](n T) any {
	if n == 0 {
		return nil
	}
	return n
}

func (p *CostPart) rowSheet() Sheet {
	s := Sheet{Few: fewRows}
	for i, by := range p.By {
		s.Columns = append(s.Columns, sheetColumn{Name: by, Flex: i == 0})
	}
	s.Columns = append(append(s.Columns, sumColumns...), sheetColumn{Name: "unique cost", Unit: Dollars, Spare: true})
	line := func(sum, unique *costSum, keys []any) []any {
		cells := append(keys, sumCells(sum)...)
		if p.Calls == p.Unique.Calls {
			return append(cells, nil)
		}
		return append(cells, unique.Cost.Total)
	}
	for i := range p.Rows {
		row, keys := &p.Rows[i], []any{}
		for _, by := range p.By {
			keys = append(keys, *row.costKey(by))
		}
		s.Rows = append(s.Rows, line(&row.costSum, &row.Unique, keys))
	}
	if len(p.Rows) > 1 {
		keys := make([]any, len(p.By))
		keys[0] = "total"
		s.Total = line(&p.costSum, &p.Unique, keys)
	}
	return s
}

func (p *CostPart) kindSheet() Sheet {
	s := Sheet{Title: "by what for", Columns: append([]sheetColumn{{Name: "what for"}}, sumColumns...)}
	for kind, name := range []string{"answers", "tools", "summaries", "cache warming", "other"} {
		if sum := p.Kinds.of(callKind(kind)); sum.Calls.Total > 0 {
			s.Rows = append(s.Rows, append([]any{name}, sumCells(sum)...))
		}
	}
	return s
}

// notes say what the numbers do not.
func (p *CostPart) notes() (notes []string) {
	if n, unknown := p.Calls.Unpriced, p.Calls.Unpriceable; n > 0 {
		note := fmt.Sprintf("calls that record no cost are not in it: %d", n)
		if n > unknown {
			note += fmt.Sprintf(", about $%.4f by the prices of %s", p.Cost.Computed, p.Prices)
		}
		if unknown > 0 {
			note += fmt.Sprintf(", %d without a known price", unknown)
		}
		notes = append(notes, note)
	}
	if n := p.Calls.Total - p.Unique.Calls.Total; n > 0 {
		notes = append(notes, fmt.Sprintf("copies of calls, as forks and imports have them: %d; with each call once it cost $%.4f", n, p.Unique.Cost.Total))
	}
	return notes
}
