package stats

import (
	"fmt"
	"slices"
)

// calibrate makes tokens of a model of what was counted of one session's context.
// What the provider has told stays.
func (p *ContextPart) calibrate(by *calibrated, hidden int) {
	c := &p.Sessions[0]
	told, sum := p.hasRest(), 0
	for i := range p.Categories {
		k := &p.Categories[i]
		switch k.Category {
		case inHidden:
			k.Tokens = hidden
		case inRest:
		default:
			k.Tokens = by.tokens(k.Tokens)
			sum += k.Tokens
		}
	}
	if told {
		p.category(inRest, "").Tokens = c.Tokens - sum
	} else {
		c.Tokens = sum
	}
	c.Share, c.Hidden, c.Calibrated, p.Estimates = share(c.Tokens, c.Window), hidden, by, true
	for i := range p.Largest {
		p.Largest[i].Tokens = by.tokens(p.Largest[i].Tokens)
	}
	r := &p.Rereads
	r.Tokens = by.tokens(r.Tokens)
	for i := range r.Largest {
		r.Largest[i].Tokens = by.tokens(r.Largest[i].Tokens)
	}
	p.order()
}

// calibrated says that some of the contexts are.
func (p *ContextPart) calibrated() bool {
	return slices.ContainsFunc(p.Sessions, func(c contextOf) bool { return c.Calibrated != nil })
}

// hasRest says that the context's size is what the provider has told.
func (p *ContextPart) hasRest() bool {
	return slices.ContainsFunc(p.Categories, func(c contextCategory) bool { return c.Category == inRest })
}

// calibrate makes tokens of a model of what was counted of each request. What the
// provider recorded stays.
func (g *growth) calibrate(by *calibrated) {
	g.Calibrated = by
	for i := range g.Requests {
		g.Requests[i].Tokens = by.tokens(g.Requests[i].Tokens)
	}
	g.Now.Tokens = by.tokens(g.Now.Tokens)
	g.complete()
}

// calibratedNotes say of several sessions by which models they are calibrated, each
// once, and how many are not.
func calibratedNotes(sessions int, by func(i int) *calibrated) (notes []string) {
	without := 0
	for i := range sessions {
		c := by(i)
		if c == nil {
			without++
		} else if note := c.String(); !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	if len(notes) > 0 && without > 0 {
		notes = append(notes, fmt.Sprintf("Not calibrated: %s.", count(without, "session")))
	}
	return notes
}
