package stats

import "fmt"

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
func sumCells(s *CostSum) []any {
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
	line := func(sum, unique *CostSum, keys []any) []any {
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
		s.Rows = append(s.Rows, line(&row.CostSum, &row.Unique, keys))
	}
	if len(p.Rows) > 1 {
		keys := make([]any, len(p.By))
		keys[0] = "total"
		s.Total = line(&p.CostSum, &p.Unique, keys)
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
