package stats

import (
	"fmt"
	"math"
	"strings"

	"ctxtool/sessionfmt"
)

// figures are all figures, in the order of the help. A new one is a line here.
var figures = []Figure{
	{Name: "session.requests", Unit: Number, Scope: eachSession, lens: &sessionLens, read: on(sessionPart, requests),
		About: "requests of each session, on all branches"},
	{Name: "session.prompt-requests", Unit: Number, Scope: eachSession, lens: &sessionLens, read: on(sessionPart, promptRequests),
		About: "the most that any prompt took"},
	{Name: "session.tool-errors", Unit: Share, Scope: eachSession, lens: &sessionLens, read: on(sessionPart, toolErrors),
		About: "share of tool calls that failed"},
	{Name: "context.tokens", Unit: Tokens, Scope: eachSession, lens: &contextLens, read: on(contextPart, contextTokens),
		About: "tokens of the context of each session, at its leaf"},
	{Name: "context.share", Unit: Share, Scope: eachSession, lens: &contextLens, read: on(contextPart, contextShare),
		About: "its share of the window"},
	{Name: "context.largest", Unit: Tokens, Scope: allSessions, lens: &contextLens, read: on(contextPart, contextLargest),
		About: "tokens of the largest message in any context"},
	{Name: "context.reread", Unit: Tokens, Scope: allSessions, lens: &contextLens, read: on(contextPart, contextReread),
		About: "tokens of files that contexts hold more than once"},
	{Name: "growth.peak", Unit: Tokens, Scope: eachSession, lens: &growthLens, read: on(growthPart, growthPeak),
		About: "tokens of the largest request of each session's path"},
	{Name: "growth.share", Unit: Share, Scope: eachSession, lens: &growthLens, read: on(growthPart, growthShare),
		About: "the largest share of the window"},
	{Name: "cost.total", Unit: Dollars, Scope: allSessions, lens: &costLens, read: on(costPart, costTotal),
		About: "recorded dollars of all sessions together, each call once"},
	{Name: "cost.priced", Unit: Dollars, Scope: allSessions, lens: &costLens, read: on(costPart, costPriced),
		About: "the same, with prices of the table where none is recorded"},
	{Name: "cost.session", Unit: Dollars, Scope: eachSession, lens: &costLens, read: on(costPart, costSession),
		About: "recorded dollars of each session"},
	{Name: "cost.day", Unit: Dollars, Scope: eachGroup, lens: &costLens, read: on(costPart, costDay),
		About: "recorded dollars of each day, each call once"},
	{Name: "compactions.count", Unit: Number, Scope: eachSession, lens: &compactionsLens, read: on(compactionsPart, compactionsCount),
		About: "compactions on the path of each session"},
	{Name: "compactions.loops", Unit: Number, Scope: eachSession, lens: &compactionsLens, read: on(compactionsPart, compactionsLoops),
		About: "those that are part of a loop that frees nothing"},
	{Name: "compactions.reduction", Unit: Share, Scope: eachSession, lens: &compactionsLens, read: on(compactionsPart, reductions), entries: true,
		About: "what each compaction freed of the context"},
	{Name: "bytes.request", Unit: Bytes, Scope: eachSession, lens: &bytesLens, read: on(bytesPart, bytesRequest),
		About: "bytes of the next request of each session"},
	{Name: "bytes.share", Unit: Share, Scope: eachSession, lens: &bytesLens, read: on(bytesPart, bytesShare),
		About: "their share of what the provider takes"},
	{Name: "bytes.line", Unit: Bytes, Scope: eachSession, lens: &bytesLens, read: on(bytesPart, bytesLine),
		About: "bytes of the largest line of each file"},
	{Name: "cache.hit-rate", Unit: Share, Scope: allSessions, lens: &cacheLens, read: on(cachePart, cacheRate),
		About: "what a cache served of the prompts, all sessions together"},
	{Name: "cache.session-hit-rate", Unit: Share, Scope: eachSession, lens: &cacheLens, read: on(cachePart, cacheSessionRate),
		About: "the same of each session"},
	{Name: "cache.rebilled", Unit: Dollars, Scope: allSessions, lens: &cacheLens, read: on(cachePart, cacheRebilled),
		About: "what was billed again, all sessions together"},
	{Name: "check.errors", Unit: Number, Scope: eachSession, lens: &checkLens, read: on(checkPart, checkErrors),
		About: "errors that ctxtool check finds in each session"},
	{Name: "check.warnings", Unit: Number, Scope: eachSession, lens: &checkLens, read: on(checkPart, checkWarnings),
		About: "warnings that it finds"},
}

// on reads a figure off a part, where there is one.
func on[P any](part func(r *Report) *P, read func(p *P) []figureValue) func(r *Report) ([]figureValue, bool) {
	return func(r *Report) ([]figureValue, bool) {
		if p := part(r); p != nil {
			return read(p), true
		}
		return nil, false
	}
}

func sessionPart(r *Report) *SessionPart         { return r.Session }
func contextPart(r *Report) *ContextPart         { return r.Context }
func bytesPart(r *Report) *BytesPart             { return r.Bytes }
func growthPart(r *Report) *GrowthPart           { return r.Growth }
func costPart(r *Report) *CostPart               { return r.Cost }
func compactionsPart(r *Report) *CompactionsPart { return r.Compactions }
func cachePart(r *Report) *CachePart             { return r.Cache }
func checkPart(r *Report) *CheckPart             { return r.Check }

func requests(p *SessionPart) []figureValue { return []figureValue{{Amount: float64(p.Requests)}} }

func promptRequests(p *SessionPart) []figureValue {
	v := figureValue{Amount: float64(p.LongPrompts.Most)}
	if longest := p.LongPrompts.Prompts; len(longest) > 0 {
		v.Entry, v.Line = longest[0].Entry, longest[0].Line
	}
	return []figureValue{v}
}

func toolErrors(p *SessionPart) []figureValue {
	if share := rate(int64(p.Calls.Error), int64(p.Calls.Calls)); share != nil {
		return []figureValue{{Amount: *share}}
	}
	return nil
}

func contextTokens(p *ContextPart) (all []figureValue) {
	for i := range p.Sessions {
		c := &p.Sessions[i]
		all = append(all, c.at(float64(c.inUse(p.Counter))))
	}
	return all
}

func contextShare(p *ContextPart) (all []figureValue) {
	for i := range p.Sessions {
		c := &p.Sessions[i]
		if part := share(c.inUse(p.Counter), c.Window); part != nil {
			all = append(all, c.at(*part))
		}
	}
	return all
}

// at is an amount with the context's last entry.
func (c *contextOf) at(amount float64) figureValue {
	return figureValue{Amount: amount, File: c.File, Entry: c.Entry, Line: c.Line, Calibrated: c.Calibrated != nil}
}

func contextLargest(p *ContextPart) []figureValue {
	if len(p.Largest) == 0 {
		return nil
	}
	l := &p.Largest[0]
	return []figureValue{{Amount: float64(l.Tokens), File: l.File, Entry: l.Entry, Line: l.Line, Calibrated: p.calibrated()}}
}

func contextReread(p *ContextPart) []figureValue {
	v := figureValue{Amount: float64(p.Rereads.Tokens), Calibrated: p.calibrated()}
	if most := p.Rereads.Largest; len(most) > 0 {
		v.File, v.Entry = most[0].File, most[0].Entry
	}
	return []figureValue{v}
}

func growthPeak(p *GrowthPart) (all []figureValue) {
	for i := range p.Sessions {
		g := &p.Sessions[i]
		all = append(all, g.at(figureValue{Amount: float64(g.Peak)}))
	}
	return all
}

func growthShare(p *GrowthPart) (all []figureValue) {
	for i := range p.Sessions {
		if g := &p.Sessions[i]; g.Share > 0 {
			all = append(all, g.at(figureValue{Amount: g.Share}))
		}
	}
	return all
}

// at is the value with the answer to the largest request.
func (g *growth) at(v figureValue) figureValue {
	v.File = g.File
	for i := range g.Requests {
		if r := &g.Requests[i]; r.Request == g.PeakRequest {
			v.Entry, v.Calibrated = r.Entry, r.Estimated && g.Calibrated != nil
		}
	}
	return v
}

func costTotal(p *CostPart) []figureValue {
	return []figureValue{{Amount: p.Unique.Cost.Total, Unpriced: int(p.Unique.Calls.Unpriced)}}
}

func costPriced(p *CostPart) []figureValue {
	return []figureValue{{Amount: p.Unique.Cost.Total + p.Unique.Cost.Computed, Unpriced: int(p.Unique.Calls.Unpriceable)}}
}

func costSession(p *CostPart) []figureValue {
	return []figureValue{{Amount: p.Cost.Total, Unpriced: int(p.Calls.Unpriced)}}
}

// costDay adds up the rows of each day: they may be by something else too.
func costDay(p *CostPart) (all []figureValue) {
	at := map[string]int{}
	for i := range p.Rows {
		r := &p.Rows[i]
		if r.Day == "" {
			continue
		}
		k, ok := at[r.Day]
		if !ok {
			k = len(all)
			at[r.Day] = k
			all = append(all, figureValue{Group: r.Day})
		}
		all[k].Amount += r.Unique.Cost.Total
		all[k].Unpriced += int(r.Unique.Calls.Unpriced)
	}
	return all
}

func compactionsCount(p *CompactionsPart) []figureValue {
	return []figureValue{{Amount: float64(p.Count)}}
}

func compactionsLoops(p *CompactionsPart) []figureValue {
	v := figureValue{Amount: float64(p.Loops)}
	for i := range p.List {
		if c := &p.List[i]; len(c.Loops) > 0 {
			v.Entry, v.Line = c.Entry, c.Line
			break
		}
	}
	return []figureValue{v}
}

func reductions(p *CompactionsPart) (all []figureValue) {
	for i := range p.List {
		c := &p.List[i]
		all = append(all, figureValue{Amount: c.Reduction, File: c.File, Entry: c.Entry, Line: c.Line})
	}
	return all
}

func bytesRequest(p *BytesPart) (all []figureValue) {
	for i := range p.Sessions {
		b := &p.Sessions[i]
		all = append(all, figureValue{Amount: float64(b.Request), File: b.File, Entry: b.Entry})
	}
	return all
}

func bytesShare(p *BytesPart) (all []figureValue) {
	for i := range p.Sessions {
		if b := &p.Sessions[i]; b.Share != nil {
			all = append(all, figureValue{Amount: *b.Share, File: b.File, Entry: b.Entry})
		}
	}
	return all
}

func bytesLine(p *BytesPart) (all []figureValue) {
	for i := range p.Sessions {
		b := &p.Sessions[i]
		all = append(all, figureValue{Amount: float64(b.LargestLine), File: b.File, Entry: b.LargestEntry})
	}
	return all
}

func cacheRate(p *CachePart) []figureValue {
	if p.HitRate == nil {
		return nil
	}
	return p.worstAt(figureValue{Amount: *p.HitRate})
}

// cacheSessionRate is that of a session alone: what is said of several together is
// nothing of each.
func cacheSessionRate(p *CachePart) []figureValue {
	values := cacheRate(p)
	for i := range values {
		values[i].File = ""
	}
	return values
}

func cacheRebilled(p *CachePart) []figureValue {
	return p.worstAt(figureValue{Amount: p.Rebilled.Cost})
}

// worstAt is the value with the entry that had the most billed again.
func (p *CachePart) worstAt(v figureValue) []figureValue {
	if p.Worst != nil {
		v.File, v.Entry = p.Worst.File, p.Worst.Entry
	}
	return []figureValue{v}
}

func checkErrors(p *CheckPart) []figureValue   { return p.worstAt(p.Errors, "error") }
func checkWarnings(p *CheckPart) []figureValue { return p.worstAt(p.Warnings, "warning") }

// worstAt is a number of findings with the first of them.
func (p *CheckPart) worstAt(n int, severity string) []figureValue {
	v := figureValue{Amount: float64(n)}
	if w := p.Worst; w != nil && w.Severity == severity {
		v.Entry, v.Line = w.Entry, w.Line
	}
	return []figureValue{v}
}

// A Figure is a number of a report that a budget may be set on.
type Figure struct {
	Name  string
	About string // one line for help
	Unit  Unit
	Scope scope

	lens    *Lens // whose part it is read off
	read    func(r *Report) (values []figureValue, has bool)
	entries bool // a session has a value for each of several entries
}

// A scope says how many values a figure has.
type scope uint8

const (
	allSessions scope = iota // one, of all sessions together
	eachSession              // one a session
	eachGroup                // one a row of all sessions together, such as a day
)

// A figureValue is what a figure is.
type figureValue struct {
	Amount     float64 // tokens, bytes, dollars, a number of things, or a share from 0 to 1
	Group      string  // the day
	File       string  // of one session among several
	Entry      string  // the one to look at
	Line       int     // of that entry, from 1
	Unpriced   int     // calls whose price nobody knows: the amount is at least this
	Calibrated bool    // the amount is an estimate: see calibrated
}

// FindFigure is the figure of that name.
func FindFigure(name string) (*Figure, error) {
	near := ""
	for i := range figures {
		f := &figures[i]
		if f.Name == name {
			return f, nil
		}
		if group, _, _ := strings.Cut(f.Name, "."); group == name || strings.HasPrefix(name, group+".") {
			near += ", " + f.Name
		}
	}
	if near == "" {
		return nil, &sessionfmt.Error{Err: fmt.Errorf("unknown figure %q", sessionfmt.Quote(name)), Hint: "figures are " + strings.Join(FigureNames(), ", ")}
	}
	return nil, &sessionfmt.Error{Err: fmt.Errorf("unknown figure %q", sessionfmt.Quote(name)), Hint: "of that kind are " + near[2:]}
}

// FigureNames are the names of all figures.
func FigureNames() (names []string) {
	for i := range figures {
		names = append(names, figures[i].Name)
	}
	return names
}

// FigureHelp lists the figures, a line each.
func FigureHelp() string {
	var b strings.Builder
	for i := range figures {
		fmt.Fprintf(&b, "  %-24s%s\n", figures[i].Name, figures[i].About)
	}
	return b.String()
}

// of are the figure's values in a report; none where there is nothing to say it of.
// has is that the lens has looked.
func (f *Figure) of(r *Report) (values []figureValue, has bool) {
	all, has := f.read(r)
	for _, v := range all {
		if !math.IsNaN(v.Amount) && !math.IsInf(v.Amount, 0) {
			values = append(values, v)
		}
	}
	return values, has
}
