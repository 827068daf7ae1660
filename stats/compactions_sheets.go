package stats

import "fmt"

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

func (c *Compacting) row(several bool) []any {
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
func (k Kept) String() string {
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
			Kept
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
