package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"ctxtool/internal/must"
	"ctxtool/internal/simulate"
)

// small returns a set of two sessions and two policies of agents.
func small() *set {
	run := func(name string, cost, mean float64, over, regrets int) *simulate.Run {
		return &simulate.Run{Policy: name, Requests: 50, Prompt: 1000, Mean: mean, Overflows: over, Regrets: regrets, Cost: simulate.Cost{CacheRead: cost, Total: cost}, Acts: 1}
	}
	var all []*simulate.Report
	for _, cheap := range []float64{1, 3} {
		all = append(all, &simulate.Report{Runs: []*simulate.Run{run("recorded", 9, 20, 0, 1), run("none", 10, 40, 30, 0), run("pi", cheap, 10, 0, 9), run("gsh", 2, 12, 1, 4)}})
	}
	all = append(all, &simulate.Report{Error: "broken"})
	s := &set{Name: "small", Title: "Small & few"}
	s.take(simulate.NewStore(all, simulate.LeastCost))
	return s
}

// TestFigures: comparisons are with none, and a policy wins where it costs less than the others.
func TestFigures(t *testing.T) {
	s := small()
	if len(s.Policies) != 2 || s.Differ() != 2 || s.Policies[0].Wins != 1 || s.Largest(1) != 0.5 || len(s.Reports) != 2 {
		t.Errorf("%+v", s)
	}
	if pi := s.Policies[0]; pi.Against != -0.8 || pi.Lost != 18 || pi.Over != 0 {
		t.Errorf("%+v", pi)
	}
	if s.Choice("cost") != "pi, `$4.00`" || s.Choice("regrets") != "gsh, 8" || s.Names("window") != "pi, gsh" || !(page{s}).Torn() {
		t.Error(s.Choice("cost"), s.Choice("regrets"), s.Names("window"))
	}
}

// TestPage: the page has no value that is missing, and its charts are XML.
func TestPage(t *testing.T) {
	s := small()
	text, err := fill("page.md.tmpl", page{s})
	if err != nil || strings.Contains(text, "%!") || strings.Contains(text, "no value") || !strings.Contains(text, "| the least cost | pi, `$4.00` |") {
		t.Error(err, text)
	}
	chart := must.Get(fill("chart.svg.tmpl", s.chart()))
	for d := xml.NewDecoder(strings.NewReader(chart)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
