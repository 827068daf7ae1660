package stats

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/read/phrase"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt"
	"ctxtool/stats/table"
)

// A col is a column of a table of rows of one type.
type col[T any] = table.Column[T]

// Gaps returns the table of sessions that a report counts only in part, or not at all.
func (r *Report) Gaps() table.Sheet {
	var gaps []ReportFile
	for _, f := range r.Files {
		if f.Error+f.Stopped != "" {
			gaps = append(gaps, f)
		}
	}
	s := table.Sheet{Lens: "files", Title: "not counted, or not to the end", Few: mostListed}
	s.Table = table.Of(gaps, []col[*ReportFile]{
		{Name: "session", Unit: table.Path, Value: func(r *ReportFile) any { return r.File }},
		{
			Name: "counted", Value: func(f *ReportFile) any {
				return cmp.Or(phrase.If(f.Error != "", "nothing"), "the beginning")
			},
		},
		{Name: "why", Flex: true, Value: func(r *ReportFile) any { return cmp.Or(r.Error, r.Stopped) }},
	})
	return s
}

// withRows returns the sheets that have rows, and the first.
func withRows(all []table.Sheet) []table.Sheet {
	return append(all[:1], slices.DeleteFunc(all[1:], func(s table.Sheet) bool { return s.Empty() })...)
}

// sheets returns the tables of the compactions and their causes.
func (p *CompactionsPart) sheets() []table.Sheet {
	several := len(p.List) > 0 && p.List[0].File != p.List[len(p.List)-1].File
	main := table.Sheet{Few: mostListed, Table: table.Of(p.List, compactionColumns)}.Of(several)
	if p.Count == 0 {
		main.Notes = []string{"no compactions on the path"}
		return []table.Sheet{main}
	}
	main.Notes = []string{p.note()}
	for i := range p.List {
		c := &p.List[i]
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
	why := table.Sheet{Title: "why", Few: mostListed, Table: table.Of(p.List, triggerColumns)}
	return []table.Sheet{main, why.Of(several)}
}

var compactionColumns = []col[*Compacting]{
	{Name: "session", Unit: table.Path, Value: func(c *Compacting) any { return c.File }},
	{Name: "entry", Unit: table.Entry, Value: func(c *Compacting) any { return c.Entry }},
	{Name: "why", Value: func(c *Compacting) any { return c.Why() }},
	{Name: "before", Unit: table.Tokens, Value: func(c *Compacting) any { return table.About{Of: c.Before} }},
	{Name: "after", Unit: table.Tokens, Value: func(c *Compacting) any { return table.About{Of: c.After} }},
	{Name: "freed", Unit: table.Share, Value: func(c *Compacting) any { return c.Reduction }},
	{Name: "band", Yields: 2, Value: func(c *Compacting) any { return c.Band }},
	{Name: "kept", Unit: table.Number, Yields: 1, Value: func(c *Compacting) any { return c.Kept }},
	{Name: "turn", Yields: 3, Value: func(c *Compacting) any { return phrase.If(c.Split, "split") }},
	{Name: "paths", Value: func(c *Compacting) any { return found(c.Survival.Paths) }},
	{Name: "commands", Value: func(c *Compacting) any { return found(c.Survival.Commands) }},
	{Name: "errors", Value: func(c *Compacting) any { return found(c.Survival.Errors) }},
	{Name: "constraints", Value: func(c *Compacting) any { return found(c.Survival.Constraints) }},
}

// triggerColumns show the cause of a compaction.
var triggerColumns = []col[*Compacting]{
	{Name: "session", Unit: table.Path, Value: func(c *Compacting) any { return c.File }},
	{Name: "entry", Unit: table.Entry, Value: func(c *Compacting) any { return c.Entry }},
	{Name: "request", Unit: table.Number, Value: func(c *Compacting) any { return c.Request }},
	{Name: "recorded", Unit: table.Tokens, Value: func(c *Compacting) any { return table.Unless0(c.Recorded) }},
	{Name: "next", Unit: table.Tokens, Value: func(c *Compacting) any { return table.Unless0(c.Next) }},
	{
		Name: "evidence", Flex: true, Value: func(c *Compacting) any {
			return c.Evidence + phrase.If(c.Trigger == "overflow" && c.Retried, "; then it was asked for again")
		},
	},
}

// found returns the number of facts found, nil if there are none.
func found(k Kept) string {
	if k.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", k.Found, k.Of)
}

// note returns all of them in a sentence.
func (p *CompactionsPart) note() string {
	why := map[string]int{}
	for i := range p.List {
		why[p.List[i].Why()]++
	}
	text := fmt.Sprintf("%s: %s; %d in the band of 60 to 80 percent", phrase.Count(p.Count, "compaction"),
		tally(why), p.Bands["in"])
	if p.Loops > 0 {
		text += fmt.Sprintf("; %d in a loop", p.Loops)
	}
	return text
}

// contextSheets returns the tables of the context lens.
func contextSheets(r *Report) []table.Sheet {
	p := cmp.Or(r.Context, &ContextPart{})
	all := []table.Sheet{p.categorySheet(), p.placeSheet()}
	if len(p.Sessions) > 1 {
		all = append(all, p.sessionSheet())
	}
	return withRows(append(all, p.offerSheet(), p.largestSheet(), p.rereadSheet()))
}

// tokens returns a number of tokens as a cell.
func (p *ContextPart) tokens(n int) any { return table.Marked(p.Estimates, n) }

// unit returns the unit of token columns, which depends on calibration.
func (p *ContextPart) unit() string {
	if p.Calibrated() {
		return "calibrated"
	}
	return "tokens"
}

// categorySheet returns the content of the contexts by category. Shares are those of the
// window, or of all tokens for several contexts.
func (p *ContextPart) categorySheet() table.Sheet {
	var s table.Sheet
	var all ContextCategory
	for _, c := range p.Sessions {
		addUp(&all, &ContextCategory{Tokens: c.Tokens, Bytes: c.Bytes, Messages: c.Messages})
	}
	of, part := int64(all.Tokens), "share"
	if len(p.Sessions) == 1 {
		s.Title, s.Notes = p.Sessions[0].headline(), p.Sessions[0].notes()
		of, part = p.Sessions[0].Window, "window"
	} else {
		s.Title = fmt.Sprintf("%d sessions", len(p.Sessions))
		s.Notes = calibratedNotes(len(p.Sessions), func(i int) *Calibrated { return p.Sessions[i].Calibrated })
	}
	type row struct {
		ContextCategory
		tokens any
	}
	var rows []row
	end := 0 // the row that is only for the next request is the last
	for _, c := range p.Categories {
		switch {
		case c.Category != inRest:
			rows = append(rows, row{c, p.tokens(c.Tokens)})
		case c.Tokens != 0:
			c.Category, _ = p.sum().Rest(all.Tokens - c.Tokens)
			rows = append(rows, row{c, table.About{Of: c.Tokens}})
		}
		if c.Category != inEphemeral {
			end = len(rows)
		}
	}
	all.Category = "total"
	rows = slices.Insert(rows, end, row{all, sized(p.sum())})
	s.Table = table.Of(rows, []col[*row]{
		{Name: "what", Value: func(r *row) any { return r.Category }},
		{Name: "name", Flex: true, Value: func(r *row) any { return r.Name }},
		{Name: p.unit(), Unit: table.Tokens, Value: func(r *row) any { return r.tokens }},
		{Name: part, Unit: table.Share, Value: func(r *row) any { return share(r.Tokens, of) }},
		{Name: "bytes", Unit: table.Bytes, Value: func(r *row) any { return table.Unless0(r.Bytes) }},
		{Name: "messages", Unit: table.Number, Value: func(r *row) any { return table.Unless0(r.Messages) }},
	})
	return s
}

// headline describes the context of one session.
func (c *SessionContext) headline() string {
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
func (c *SessionContext) notes() (notes []string) {
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
func sized(s weigh.Size) any { return table.Marked(s.Estimated > 0, s.Tokens) }

// sessionSheet returns the largest contexts of several sessions.
func (p *ContextPart) sessionSheet() table.Sheet {
	some, notes := fullest(p.Sessions, func(c SessionContext) int { return c.Tokens })
	return table.Sheet{Title: "the fullest", Notes: notes, Table: table.Of(some, []col[*SessionContext]{
		{Name: "session", Unit: table.Path, Flex: true,
			Value: func(s *SessionContext) any { return cmp.Or(s.File, s.Session) }},
		{Name: "entry", Unit: table.Entry, Value: func(s *SessionContext) any { return s.Entry }},
		{Name: "tokens", Unit: table.Tokens,
			Value: func(c *SessionContext) any { return sized(c.Usage) }},
		{Name: "window", Unit: table.Share, Value: func(s *SessionContext) any { return s.Share }},
		{Name: "of", Unit: table.Tokens, Value: func(s *SessionContext) any { return table.Unless0(s.Window) }},
		{Name: "messages", Unit: table.Number,
			Value: func(s *SessionContext) any { return table.Unless0(s.Messages) }},
	})}
}

func (p *ContextPart) largestSheet() table.Sheet {
	tokens := col[*ContextEntry]{Name: p.unit(), Unit: table.Tokens,
		Value: func(e *ContextEntry) any { return p.tokens(e.Tokens) }}
	s := table.Sheet{Title: "the largest", Table: table.Of(p.Largest, []col[*ContextEntry]{
		{Name: "session", Unit: table.Path, Flex: true, Value: func(c *ContextEntry) any { return c.File }},
		{Name: "entry", Unit: table.Entry, Value: func(c *ContextEntry) any { return c.Entry }},
		{Name: "line", Unit: table.Number, Value: func(c *ContextEntry) any { return c.Line }},
		{Name: "kind", Value: func(c *ContextEntry) any { return c.Kind }},
		{Name: "tool", Flex: true, Value: func(c *ContextEntry) any { return c.Tool }},
		tokens,
		{Name: "bytes", Unit: table.Bytes, Value: func(c *ContextEntry) any { return c.Bytes }},
	})}
	all := 0
	for _, c := range p.Sessions {
		all += c.Messages
	}
	if more := all - len(p.Largest); more > 0 {
		s.Notes = []string{fmt.Sprintf("%d more messages are smaller.", more)}
	}
	return s.Of(len(p.Sessions) > 1)
}

// rereadSheet returns the table of files that were read more than once.
func (p *ContextPart) rereadSheet() table.Sheet {
	tokens := col[*Reread]{Name: "tokens of the older", Unit: table.Tokens,
		Value: func(r *Reread) any { return p.tokens(r.Tokens) }}
	s := table.Sheet{Title: "read more than once", Table: table.Of(p.Rereads.Largest, []col[*Reread]{
		{Name: "session", Unit: table.Path, Flex: true, Value: func(r *Reread) any { return r.File }},
		{Name: "path", Unit: table.Path, Flex: true, Value: func(r *Reread) any { return r.Path }},
		{Name: "times", Unit: table.Number, Value: func(r *Reread) any { return r.Times }},
		tokens,
		{Name: "newest", Value: func(r *Reread) any { return r.Entry }},
	})}
	if n := p.Rereads.Files - len(p.Rereads.Largest); n > 0 {
		s.Notes = []string{fmt.Sprintf("With %d more files it is %d tokens.", n, p.Rereads.Tokens)}
	}
	return s.Of(len(p.Sessions) > 1)
}

// sheets returns the tables of the lens cost: the rows, and the purposes of calls.
func (p *CostPart) sheets(files []ReportFile) []table.Sheet {
	sheets := []table.Sheet{p.rowSheet()}
	if p.Calls.Total > p.Kinds.Answers.Calls.Total {
		sheets = append(sheets, p.kindSheet())
	}
	last := &sheets[len(sheets)-1]
	last.Notes = append(p.notes(), workers(files)...)
	return sheets
}

// fewRows is how many rows a text lists, and fewModels how many unknown models.
const (
	fewRows   = 50
	fewModels = 5
)

// sumColumns returns the columns of a sum. The cost is marked if some of it is computed; the recorded part is a
// column of its own.
var sumColumns = []col[*CostSum]{
	{Name: "calls", Unit: table.Number, Yields: 1, Value: func(c *CostSum) any { return c.Calls.Total }},
	{Name: "input", Unit: table.Tokens, Yields: 2,
		Value: func(c *CostSum) any { return table.Unless0(c.Tokens.Input) }},
	{Name: "output", Unit: table.Tokens, Yields: 3,
		Value: func(c *CostSum) any { return table.Unless0(c.Tokens.Output) }},
	{Name: "cache read", Unit: table.Tokens, Yields: 4,
		Value: func(c *CostSum) any { return table.Unless0(c.Tokens.CacheRead) }},
	{Name: "cache write", Unit: table.Tokens, Yields: 5,
		Value: func(c *CostSum) any { return table.Unless0(c.Tokens.CacheWrite) }},
	{Name: "cost", Unit: table.Dollars, Value: func(s *CostSum) any {
		return table.If(s.Calls.Total > s.Calls.Unpriced, table.Marked(s.computed(), s.Cost.Total))
	}},
	{Name: "recorded", Unit: table.Dollars, Yields: 7, Value: func(s *CostSum) any {
		return table.If(s.Calls.Total > s.Calls.Unpriced && s.computed(), table.Unless0(s.Cost.Recorded))
	}},
	{Name: "billed", Unit: table.Dollars, Value: func(c *CostSum) any { return table.Unless0(c.Cost.Billed) }},
	{Name: "unpriced", Unit: table.Number, Yields: 6,
		Value: func(c *CostSum) any { return table.Unless0(c.Calls.Unpriced) }},
}

// computed reports whether some of a cost comes from the table of prices.
func (s *CostSum) computed() bool { return s.Calls.Computed > 0 }

func (p *CostPart) rowSheet() table.Sheet {
	var columns []col[*CostRow]
	for _, by := range p.By {
		key := func(r *CostRow) any { return *r.costKey(by) }
		column := col[*CostRow]{Name: by, Flex: true, Value: key}
		if by == "session" || by == "project" || by == "model" {
			column.Unit = table.Path
		}
		columns = append(columns, column)
	}
	columns = append(columns, table.Within(func(r *CostRow) *CostSum { return &r.CostSum }, nil, sumColumns...)...)
	var rows []CostRow
	for _, row := range p.Rows {
		if row.Calls.Total > 0 { // otherwise another session has its calls
			rows = append(rows, row)
		}
	}
	s := table.Sheet{Few: fewRows, Table: table.Of(rows, columns)}
	if len(rows) > 1 {
		total := &CostRow{CostSum: p.CostSum}
		*total.costKey(p.By[0]) = "total"
		s.Total = total
	}
	return s
}

// A purpose is a row of the table by purpose.
type purpose struct {
	name string
	*CostSum
}

func (p *CostPart) kindSheet() table.Sheet {
	var rows []purpose
	for kind, name := range []string{"answers", "tools", "summaries", "cache warming", "other", "sub-agents"} {
		if sum := p.Kinds.of(callKind(kind)); sum.Calls.Total > 0 {
			rows = append(rows, purpose{name, sum})
		}
	}
	columns := []col[*purpose]{{Name: "purpose", Value: func(p *purpose) any { return p.name }}}
	sums := table.Within(func(p *purpose) *CostSum { return p.CostSum }, nil, sumColumns...)
	return table.Sheet{Title: "by purpose", Table: table.Of(rows, append(columns, sums...))}
}

// String names the calls, and why they have no cost.
func (n *UnpricedCalls) String() string {
	calls := phrase.Count(int(n.Calls), "call") + cmp.Or(phrase.If(n.Model != "", " of %s", n.Model), " without a model")
	if n.Of == noUsage {
		return calls + ": no recorded usage"
	}
	return fmt.Sprintf("%s%s, %s: no known price", calls, phrase.If(n.Of != "", " with %s", n.Of),
		phrase.Count(int(n.Tokens), "token"))
}

// workers returns a note on files that are sub-agents whose sessions are not among them.
func workers(files []ReportFile) (notes []string) {
	var all []string
	for _, f := range files {
		if f.Owner != "" {
			all = append(all, f.Owner)
		}
	}
	slices.Sort(all)
	switch n, of := len(all), slices.Compact(all); {
	case n == 1 && len(files) == 1:
		notes = []string{"this is a sub-agent: its cost is part of that of session " + of[0]}
	case n > 0:
		notes = []string{fmt.Sprintf("%s without their sessions: %s", phrase.Count(n, "sub-agent"),
			strings.Join(sessionfmt.FirstFew(of), ", "))}
	}
	return notes
}

// notes returns what the numbers leave out.
func (p *CostPart) notes() (notes []string) {
	if n := p.Calls.Computed; n > 0 {
		notes = append(notes, fmt.Sprintf("~ is by the prices of %s: about %s, of %s without a recorded cost",
			p.Prices, phrase.Dollars(p.Cost.Total-p.Cost.Recorded), phrase.Count(int(n), "call")))
	}
	for _, calls := range p.Unpriced[:min(fewModels, len(p.Unpriced))] {
		notes = append(notes, "in no sum of dollars: "+calls.String())
	}
	if more := len(p.Unpriced) - fewModels; more > 0 {
		notes = append(notes, fmt.Sprintf("in no sum of dollars: calls of %d more models or terms", more))
	}
	if p.NoSubAgents {
		notes = append(notes, "without sub-agents")
	}
	for _, f := range p.Unread {
		notes = append(notes, fmt.Sprintf("not in it: sub-agent %s: %s", f.File, f.Error))
	}
	if note := p.Counted.note(); note != "" {
		notes = append(notes, note)
	}
	for _, calls := range p.Unrecorded {
		notes = append(notes, "not recorded, and in no sum: "+calls)
	}
	for _, ref := range p.Unknown[:min(fewModels, len(p.Unknown))] {
		notes = append(notes, fmt.Sprintf("%s is not in the models table; to configure it: %s", ref.Name(),
			ref.Setting()))
	}
	if more := len(p.Unknown) - fewModels; more > 0 {
		notes = append(notes, fmt.Sprintf("and %d more models that are not in it", more))
	}
	if p.Copies > 0 {
		notes = append(notes,
			fmt.Sprintf("copies of calls, as forks and imports have them, are counted once: %d", p.Copies))
	}
	return notes
}
