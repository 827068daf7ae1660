package stats

import (
	"cmp"
	"fmt"

	"ctxtool/internal/phrase"
	"ctxtool/internal/survival"
	"ctxtool/replay/weigh"
)

// sheets are the compactions, and why there were any.
func (p *CompactionsPart) sheets() []Sheet {
	several := len(p.List) > 0 && p.List[0].File != p.List[len(p.List)-1].File
	main := Sheet{Few: mostListed, Columns: columns("session", "entry", "why", "before:tokens", "after:tokens", "freed:share", "band",
		"kept:number", "turn", "paths", "commands", "errors", "constraints")}
	if p.Count == 0 {
		main.Notes = []string{"no compactions on the path"}
		return []Sheet{main.of(several)}
	}
	why := Sheet{Title: "why", Few: mostListed, Columns: columns("session", "entry", "request:number", "recorded:tokens", "next:tokens", "evidence*")}
	main.Notes = []string{p.note()}
	for i := range p.List {
		c := &p.List[i]
		c.rows(&main, &why)
		entry := c.Entry
		if several {
			entry = c.File + ": " + entry
		}
		for _, loop := range c.Loops {
			if len(main.Notes) <= mostListed {
				main.Notes = append(main.Notes, entry+" is part of a loop: "+loop)
			}
		}
	}
	return []Sheet{main.of(several), why.of(several)}
}

// rows are those of a compaction: what it did, and why there was one.
func (c *compacting) rows(main, why *Sheet) {
	turn, evidence, s := "", c.Evidence, &c.Survival
	if c.Split {
		turn = "split"
	}
	if c.Trigger == "overflow" && c.Retried {
		evidence += "; then it was asked for again"
	}
	main.row(c.File, c.Entry, c.Trigger, About(c.Before), About(c.After), c.Reduction, c.Band, c.Kept, turn,
		found(s.Paths), found(s.Commands), found(s.Errors), found(s.Constraints))
	why.row(c.File, c.Entry, c.Request, unless0(c.Recorded), unless0(c.Next), evidence)
}

// found is how many facts were found, nothing of none.
func found(k survival.Kept) string {
	if k.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", k.Found, k.Of)
}

// note is all of them in a sentence.
func (p *CompactionsPart) note() string {
	text := fmt.Sprintf("%s: %s; %d in the band of 60 to 80 percent", phrase.Count(p.Count, "compaction"), tally(p.Triggers), p.Bands["in"])
	if p.Loops > 0 {
		text += fmt.Sprintf("; %d in a loop", p.Loops)
	}
	return text
}

// contextSheets returns the tables of the context lens.
func contextSheets(r *Report) []Sheet {
	p := cmp.Or(r.Context, &ContextPart{})
	all := []Sheet{p.categorySheet()}
	if sheet := p.placeSheet(); len(sheet.Rows) > 0 {
		all = append(all, sheet)
	}
	if len(p.Sessions) > 1 {
		all = append(all, p.sessionSheet())
	}
	if len(p.Offered) > 0 {
		all = append(all, p.offerSheet())
	}
	if len(p.Largest) > 0 {
		all = append(all, p.largestSheet())
	}
	if p.Rereads.Files > 0 {
		all = append(all, p.rereadSheet())
	}
	return all
}

// tokens returns a number of tokens as a cell.
func (p *ContextPart) tokens(n int) any {
	if p.Estimates {
		return About(n)
	}
	return int64(n)
}

// unit returns the unit of token columns, which depends on calibration.
func (p *ContextPart) unit() string {
	if p.Calibrated() {
		return "calibrated"
	}
	return "tokens"
}

// categorySheet returns the content of the contexts by category. Shares are those of the
// window, or of all tokens for several contexts.
func (p *ContextPart) categorySheet() Sheet {
	s := Sheet{Columns: columns("what", "name*", p.unit()+":tokens", "window:share", "bytes:bytes", "messages:number")}
	var all contextCategory
	for _, c := range p.Sessions {
		addUp(&all, &contextCategory{Tokens: c.Tokens, Bytes: c.Bytes, Messages: c.Messages})
	}
	of := int64(all.Tokens)
	if len(p.Sessions) == 1 {
		s.Title, s.Notes = p.Sessions[0].headline(), p.Sessions[0].notes()
		of = p.Sessions[0].Window
	} else {
		s.Title, s.Columns[3].Name = fmt.Sprintf("%d sessions", len(p.Sessions)), "share"
		s.Notes = calibratedNotes(len(p.Sessions), func(i int) *calibrated { return p.Sessions[i].Calibrated })
	}
	row := func(what string, c contextCategory, tokens any) {
		s.row(what, c.Name, tokens, share(c.Tokens, of), unless0(c.Bytes), unless0(c.Messages))
	}
	summed := false
	sum := func() {
		if !summed {
			row("total", all, sized(p.sum()))
		}
		summed = true
	}
	for _, c := range p.Categories {
		switch c.Category {
		case inEphemeral: // the last one
			sum()
			row(c.Category, c, p.tokens(c.Tokens))
		case inRest:
			if c.Tokens != 0 {
				name, _ := p.sum().Rest(all.Tokens - c.Tokens)
				row(name, c, About(c.Tokens))
			}
		default:
			row(c.Category, c, p.tokens(c.Tokens))
		}
	}
	sum()
	return s
}

// headline describes the context of one session.
func (c *contextOf) headline() string {
	s := fmt.Sprintf("request %d, at %s", c.Request, cmp.Or(c.Entry, "the root"))
	if c.Model.ID != "" {
		s += ", " + c.Model.Name()
	}
	if c.Window > 0 {
		s += fmt.Sprintf(", window of %d tokens (%s)", c.Window, phrase.WindowFrom(c.WindowFrom))
	}
	return s
}

// notes returns further notes on the context of one session.
func (c *contextOf) notes() (notes []string) {
	if c.Window == 0 {
		notes = append(notes, "The window of the model is not known: --window gives it.")
	}
	notes = append(notes, c.Usage.String()+".")
	if !c.PromptKnown {
		notes = append(notes, "Prompt and tools are not in this file: --baseline gives them.")
	}
	if c.Calibrated != nil {
		notes = append(notes, c.Calibrated.String())
	}
	return notes
}

// sum returns the size of all contexts together.
func (p *ContextPart) sum() (s weigh.Size) {
	for _, c := range p.Sessions {
		s.Tokens, s.Estimated = s.Tokens+c.Usage.Tokens, s.Estimated+c.Usage.Estimated
	}
	return s
}

// sized returns a size as a cell; estimates are marked.
func sized(s weigh.Size) any {
	if s.Estimated > 0 {
		return About(s.Tokens)
	}
	return int64(s.Tokens)
}

// sessionSheet returns the largest contexts of several sessions.
func (p *ContextPart) sessionSheet() Sheet {
	s := Sheet{Title: "the fullest", Columns: columns("session*", "entry", "tokens:tokens", "window:share", "of:tokens", "messages:number")}
	var some []contextOf
	some, s.Notes = fullest(p.Sessions, func(c contextOf) int { return c.Tokens })
	for _, c := range some {
		s.row(cmp.Or(c.File, c.Session), c.Entry, sized(c.Usage), c.Share, unless0(c.Window), unless0(c.Messages))
	}
	return s
}

func (p *ContextPart) largestSheet() Sheet {
	s := Sheet{Title: "the largest", Columns: columns("session*", "entry", "line:number", "kind", "tool*", p.unit()+":tokens", "bytes:bytes")}
	for _, e := range p.Largest {
		s.row(e.File, e.Entry, e.Line, e.Kind, e.Tool, p.tokens(e.Tokens), e.Bytes)
	}
	all := 0
	for _, c := range p.Sessions {
		all += c.Messages
	}
	if more := all - len(p.Largest); more > 0 {
		s.Notes = []string{fmt.Sprintf("%d more messages are smaller.", more)}
	}
	return s.of(len(p.Sessions) > 1)
}

// rereadSheet is the files that were read more than once.
func (p *ContextPart) rereadSheet() Sheet {
	s := Sheet{Title: "read more than once", Columns: columns("session*", "path*", "times:number", "tokens of the older:tokens", "newest")}
	for _, r := range p.Rereads.Largest {
		s.row(r.File, r.Path, r.Times, p.tokens(r.Tokens), r.Entry)
	}
	if n := p.Rereads.Files - len(s.Rows); n > 0 {
		s.Notes = []string{fmt.Sprintf("With %d more files it is %d tokens.", n, p.Rereads.Tokens)}
	}
	return s.of(len(p.Sessions) > 1)
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

// fewRows is how many rows a text lists, and fewModels how many unknown models.
const (
	fewRows   = 50
	fewModels = 5
)

// sumColumns are those of a sum; see sumCells.
var sumColumns = columns("calls:number", "input:tokens", "output:tokens", "cache read:tokens", "cache write:tokens",
	"cost:dollars?", "recorded:dollars?", "billed:dollars?", "unpriced:number?")

func sumCells(s *costSum) []any {
	var cost, recorded any
	switch {
	case s.Calls.Total == s.Calls.Unpriceable:
	case s.Calls.Unpriced > s.Calls.Unpriceable: // some are computed
		cost, recorded = AboutDollars(s.Cost.Total), unless0(s.Cost.Recorded)
	default:
		cost = s.Cost.Total
	}
	return []any{s.Calls.Total, unless0(s.Tokens.Input), unless0(s.Tokens.Output), unless0(s.Tokens.CacheRead), unless0(s.Tokens.CacheWrite),
		cost, recorded, unless0(s.Cost.Billed), unless0(s.Calls.Unpriceable)}
}

func (p *CostPart) rowSheet() Sheet {
	s := Sheet{Few: fewRows}
	for i, by := range p.By {
		s.Columns = append(s.Columns, sheetColumn{Name: by, Flex: i == 0})
	}
	s.Columns = append(s.Columns, sumColumns...)
	for i := range p.Rows {
		row, keys := &p.Rows[i], []any{}
		for _, by := range p.By {
			keys = append(keys, *row.costKey(by))
		}
		if row.Calls.Total > 0 { // else another session has its calls
			s.Rows = append(s.Rows, append(keys, sumCells(&row.costSum)...))
		}
	}
	if len(s.Rows) > 1 {
		keys := make([]any, len(p.By))
		keys[0] = "total"
		s.Total = append(keys, sumCells(&p.costSum)...)
	}
	return s
}

func (p *CostPart) kindSheet() Sheet {
	s := Sheet{Title: "by purpose", Columns: append(columns("purpose"), sumColumns...)}
	for kind, name := range []string{"answers", "tools", "summaries", "cache warming", "other"} {
		if sum := p.Kinds.of(callKind(kind)); sum.Calls.Total > 0 {
			s.Rows = append(s.Rows, append([]any{name}, sumCells(sum)...))
		}
	}
	return s
}

// notes say what the numbers do not.
func (p *CostPart) notes() (notes []string) {
	if n := p.Calls.Unpriced - p.Calls.Unpriceable; n > 0 {
		notes = append(notes, fmt.Sprintf("~ is by the prices of %s: about $%.4f, of %s without a recorded cost",
			p.Prices, p.Cost.Total-p.Cost.Recorded, phrase.Count(int(n), "call")))
	}
	if unknown := p.Calls.Unpriceable; unknown > 0 {
		notes = append(notes, fmt.Sprintf("not in it: %s without a recorded cost or a known price", phrase.Count(int(unknown), "call")))
	}
	for _, calls := range p.Unrecorded {
		notes = append(notes, "not recorded, and in no sum: "+calls)
	}
	for _, ref := range p.Unknown[:min(fewModels, len(p.Unknown))] {
		notes = append(notes, fmt.Sprintf("%s is not in the models table; to configure it: %s", ref.Name(), ref.Setting()))
	}
	if more := len(p.Unknown) - fewModels; more > 0 {
		notes = append(notes, fmt.Sprintf("and %d more models that are not in it", more))
	}
	if p.Copies > 0 {
		notes = append(notes, fmt.Sprintf("copies of calls, as forks and imports have them, are counted once: %d", p.Copies))
	}
	return notes
}
