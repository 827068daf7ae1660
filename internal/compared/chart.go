package main

import (
	"fmt"

	"ctxtool/internal/phrase"
	"ctxtool/internal/simulate"
)

// Sizes of a chart, in pixels.
const (
	nameWidth  = 104
	panelWidth = 204
	barWidth   = 136 // the longest bar of a panel; its number is beside it
	rowHeight  = 26
	headHeight = 30
)

// A chart has a panel for each figure, and in all of them a bar for each policy.
type chart struct {
	Width, Height int
	Title         string
	Names         []text
	Panels        []panel
	Legend        []part
}

type panel struct {
	X     int
	Title string
	Bars  []bar
}

type text struct {
	X, Y  int
	Text  string
	Faint bool
}

// A bar is made of parts. It is cut if it is longer than those of the policies of agents.
type bar struct {
	Parts []part
	Label text
}

type part struct {
	X, Y, Width int
	Class, Name string
}

// parts are the parts of a cost.
var parts = []struct {
	class, name string
	of          func(c *simulate.Cost) float64
}{
	{"read", "read from the cache", func(c *simulate.Cost) float64 { return c.CacheRead }},
	{"input", "other input", func(c *simulate.Cost) float64 { return c.Input + c.CacheWrite }},
	{"output", "answers", func(c *simulate.Cost) float64 { return c.Output }},
	{"summary", "summaries", func(c *simulate.Cost) float64 { return c.Summaries }},
}

// chart draws the figures of all policies of the set.
func (s *set) chart() *chart {
	runs := []*simulate.Run{s.Sums[simulate.Recorded], s.Sums[simulate.None]}
	for _, p := range s.Policies {
		runs = append(runs, p.Run)
	}
	none := s.Sums[simulate.None]
	c := &chart{Width: nameWidth + 4*panelWidth, Height: headHeight + rowHeight*len(runs) + 26, Title: s.Title}
	for i, r := range runs {
		c.Names = append(c.Names, text{X: nameWidth - 10, Y: middle(i), Text: r.Policy, Faint: i < 2})
	}
	c.panel("cost", runs, func(r *simulate.Run) float64 { return r.Cost.Total }, func(r *simulate.Run) string { return fmt.Sprintf("$%.0f", r.Cost.Total) })
	for i := range c.Panels[0].Bars {
		c.Panels[0].Bars[i].split(&runs[i].Cost)
	}
	c.panel("context kept, on average", runs, func(r *simulate.Run) float64 { return r.Mean / none.Mean }, func(r *simulate.Run) string { return phrase.Percent(r.Mean / none.Mean) })
	c.panel("requests over the window", runs, func(r *simulate.Run) float64 { return float64(r.Overflows) / float64(r.Requests) }, func(r *simulate.Run) string {
		return phrase.Percent(float64(r.Overflows) / float64(r.Requests))
	})
	c.panel("regrets", runs, func(r *simulate.Run) float64 { return float64(r.Regrets) }, func(r *simulate.Run) string { return fmt.Sprint(r.Regrets) })
	for i, p := range parts {
		c.Legend = append(c.Legend, part{X: nameWidth + 150*i, Y: c.Height - 10, Class: p.class, Name: p.name})
	}
	return c
}

// middle returns where the text of a row stands.
func middle(row int) int { return headHeight + rowHeight*row + 17 }

// panel adds a panel. The longest bar of an agent's policy has the full width.
func (c *chart) panel(title string, runs []*simulate.Run, of func(*simulate.Run) float64, label func(*simulate.Run) string) {
	p := panel{X: nameWidth + panelWidth*len(c.Panels), Title: title}
	most := 1e-9
	for i, r := range runs {
		if i > 1 {
			most = max(most, of(r))
		}
	}
	for i, r := range runs {
		width := int(min(1, of(r)/most)*barWidth + 0.5)
		words := label(r)
		if of(r) > most {
			words = "› " + words
		}
		p.Bars = append(p.Bars, bar{[]part{{X: p.X, Y: middle(i) - 12, Width: width, Class: "whole"}}, text{X: p.X + width + 5, Y: middle(i), Text: words, Faint: i < 2}})
	}
	c.Panels = append(c.Panels, p)
}

// split divides the bar of a cost into its parts.
func (b *bar) split(c *simulate.Cost) {
	whole := b.Parts[0]
	b.Parts = nil
	sum, at := 0.0, whole.X
	for _, p := range parts {
		sum += p.of(c)
		to := whole.X + int(float64(whole.Width)*sum/max(c.Total, 1e-9)+0.5)
		b.Parts = append(b.Parts, part{X: at, Y: whole.Y, Width: to - at, Class: p.class})
		at = to
	}
}
