package gate

import (
	"math"
	"slices"
	"strings"

	"ctxtool/sessionfmt"
	"ctxtool/stats"
	"ctxtool/stats/table"
)

// A Figure is a number of a report that a budget can limit. Its name begins with the lens that
// computes it, or with swe-cli for targets of that system.
type Figure struct {
	Name  string
	Unit  table.Unit
	Scope scope
	About string // one line for help
}

// sweCLI is the system whose targets are figures of the lens context.
const sweCLI = "swe-cli"

// A scope tells how many values a figure has.
type scope uint8

const (
	allSessions scope = iota // one, of all sessions together
	eachGroup                // one a row of all sessions together, such as a day
	eachSession              // one a session
	eachEntry                // one for each of several entries of a session
)

// A Reading is a value of a figure: tokens, bytes, dollars, a number, or a share from 0 to 1.
type Reading struct {
	File  string   `json:"file,omitempty"`  // the session; absent for all together
	Group string   `json:"group,omitempty"` // the day; absent for all together
	Entry string   `json:"entry,omitempty"` // the entry with the value
	Line  int      `json:"line,omitempty"`  // of that entry, from 1
	Value *float64 `json:"value,omitempty"` // absent if there is none; `reason` says why
	// calls without a price (tokens for `cache.rebilled`), so the value is a lower bound
	Unpriced   int  `json:"unpriced,omitempty"`
	Calibrated bool `json:"calibrated,omitempty"` // the value is counted, and scaled by a fitted factor
}

// lens returns the name of the lens that computes the figure.
func (f *Figure) lens() string {
	lens, _, _ := strings.Cut(f.Name, ".")
	if lens == sweCLI {
		return "context"
	}
	return lens
}

// of returns the figure's values in a report. has reports whether the report has the lens of
// the figure; even then there can be no value.
func (f *Figure) of(r *stats.Report) (values []Reading, has bool) {
	has = read(r, f.lens(), func(name string, v Reading, amount float64) {
		if f.Name == name && !math.IsNaN(amount) && !math.IsInf(amount, 0) {
			v.Value = &amount
			values = append(values, v)
		}
	})
	if strings.HasPrefix(f.Name, sweCLI+".") {
		has = has && r.Context.Like != nil && len(r.Context.Like.SWE) > 0
	}
	return values, has
}

// An adder receives a value of the figure with that name.
type adder func(name string, v Reading, amount float64)

// read calls add with all figures of a lens in a report. has reports whether the report has the
// lens.
func read(r *stats.Report, lens string, add adder) (has bool) {
	switch {
	case lens == "session" && r.Session != nil:
		readSession(r.Session, add)
	case lens == "context" && r.Context != nil:
		readContext(r.Context, add)
	case lens == "growth" && r.Growth != nil:
		readGrowth(r.Growth, add)
	case lens == "cost" && r.Cost != nil:
		readCost(r.Cost, add)
	case lens == "compactions" && r.Compactions != nil:
		readCompactions(r.Compactions, add)
	case lens == "bytes" && r.Bytes != nil:
		readBytes(r.Bytes, add)
	case lens == "cache" && r.Cache != nil:
		readCache(r.Cache, add)
	case lens == "check" && r.Check != nil:
		readCheck(r.Check, add)
	default:
		return false
	}
	return true
}

func readSession(p *stats.SessionPart, add adder) {
	add(sessionRequests, Reading{}, float64(p.Requests))
	long := Reading{}
	if most := p.LongPrompts.Prompts; len(most) > 0 {
		long.Entry, long.Line = most[0].Entry, most[0].Line
	}
	add(sessionPromptRequests, long, float64(p.LongPrompts.Most))
	if n := p.Calls.Calls; n > 0 {
		add(sessionToolErrors, Reading{}, float64(p.Calls.Error)/float64(n))
	}
}

func readContext(p *stats.ContextPart, add adder) {
	for _, c := range p.Sessions {
		v := Reading{File: c.File, Entry: c.Entry, Line: c.Line, Calibrated: c.Calibrated != nil}
		add(contextTokens, v, float64(c.Tokens))
		if c.Window > 0 {
			add(contextShare, v, float64(c.Tokens)/float64(c.Window))
		}
	}
	if p.Like != nil {
		for i := range p.Like.SWE {
			s := &p.Like.SWE[i]
			for name, t := range s.Targets.All {
				if t.Value != nil {
					add(sweCLI+"."+name, Reading{File: s.File}, *t.Value)
				}
			}
		}
	}
	if len(p.Largest) > 0 {
		l := &p.Largest[0]
		add(contextLargest, Reading{File: l.File, Entry: l.Entry, Line: l.Line, Calibrated: p.Calibrated()},
			float64(l.Tokens))
	}
	again := Reading{Calibrated: p.Calibrated()}
	if most := p.Rereads.Largest; len(most) > 0 {
		again.File, again.Entry = most[0].File, most[0].Entry
	}
	add(contextReread, again, float64(p.Rereads.Tokens))
	if len(p.Offered) > 0 {
		_, unused, _ := p.Unused()
		add(contextUnused, Reading{}, float64(unused))
	}
}

func readGrowth(p *stats.GrowthPart, add adder) {
	for _, g := range p.Sessions {
		v := Reading{File: g.File}
		for i := range g.Requests {
			if r := &g.Requests[i]; r.Request == g.PeakRequest {
				v.Entry, v.Calibrated = r.Entry, r.Estimated && g.Calibrated != nil
			}
		}
		add(growthPeak, v, float64(g.Peak))
		if g.Share > 0 {
			add(growthShare, v, g.Share)
		}
	}
}

func readCost(p *stats.CostPart, add adder) {
	add(costTotal, Reading{Unpriced: int(p.Calls.Unpriced)}, p.Cost.Total)
	add(costRecorded, Reading{Unpriced: int(p.Calls.Computed + p.Calls.Unpriced)}, p.Cost.Recorded)
	add(costSession, Reading{Unpriced: int(p.Calls.Unpriced)}, p.Cost.Total)
	var days []Reading // rows may have other keys too
	for i := range p.Rows {
		r := &p.Rows[i]
		k := slices.IndexFunc(days, func(v Reading) bool { return v.Group == r.Day })
		if r.Day == "" {
			continue
		} else if k < 0 {
			k = len(days)
			days = append(days, Reading{Group: r.Day, Value: new(float64)})
		}
		*days[k].Value += r.Cost.Total
		days[k].Unpriced += int(r.Calls.Unpriced)
	}
	for _, v := range days {
		add(costDay, v, *v.Value)
	}
}

func readCompactions(p *stats.CompactionsPart, add adder) {
	add(compactionsCount, Reading{}, float64(p.Count))
	loop := Reading{}
	for _, c := range p.List {
		if len(c.Loops) > 0 && loop.Line == 0 {
			loop.Entry, loop.Line = c.Entry, c.Line
		}
		add(compactionsReduction, Reading{File: c.File, Entry: c.Entry, Line: c.Line}, c.Reduction)
	}
	add(compactionsLoops, loop, float64(p.Loops))
}

func readBytes(p *stats.BytesPart, add adder) {
	for _, b := range p.Sessions {
		v := Reading{File: b.File, Entry: b.Entry}
		add(bytesRequest, v, float64(b.Request))
		if b.Share != nil {
			add(bytesShare, v, *b.Share)
		}
		add(bytesLine, Reading{File: b.File, Entry: b.LargestEntry}, float64(b.LargestLine))
	}
}

func readCache(p *stats.CachePart, add adder) {
	worst, own := Reading{}, Reading{} // a sum over several is not the value of one
	if w := p.Worst; w != nil {
		worst.File, worst.Entry, own.Entry = w.File, w.Entry, w.Entry
	}
	if p.HitRate != nil {
		add(cacheHitRate, worst, *p.HitRate)
		add(cacheSessionHitRate, own, *p.HitRate)
	}
	worst.Unpriced = int(p.Rebilled.Unpriced)
	add(cacheRebilled, worst, p.Rebilled.Cost)
}

func readCheck(p *stats.CheckPart, add adder) {
	errs, warnings := Reading{}, Reading{}
	if w := p.Worst; w != nil && w.Severity == "error" {
		errs.Entry, errs.Line = w.Entry, w.Line
	} else if w != nil {
		warnings.Entry, warnings.Line = w.Entry, w.Line
	}
	add(checkErrors, errs, float64(p.Errors))
	add(checkWarnings, warnings, float64(p.Warnings))
}

// FindFigure returns the figure with that name, or an error.
func FindFigure(name string) (*Figure, error) {
	near := ""
	for i := range figures {
		f := &figures[i]
		if f.Name == name {
			return f, nil
		}
		if lens := f.lens(); lens == name || strings.HasPrefix(name, lens+".") {
			near += ", " + f.Name
		}
	}
	hint := "figures are " + strings.Join(FigureNames(), ", ")
	if near != "" {
		hint = "of that kind are " + near[2:]
	}
	return nil, sessionfmt.Errorf("unknown figure %q", sessionfmt.Quote(name)).Hinted(hint)
}

// Figures returns all figures, in the order of the help.
func Figures() []Figure { return slices.Clone(figures) }

// FigureNames returns the names of all figures.
func FigureNames() (names []string) {
	for i := range figures {
		names = append(names, figures[i].Name)
	}
	return names
}
