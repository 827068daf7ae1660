package search

import (
	"slices"
	"unicode/utf8"
)

// excerptSide is the length of the text that an excerpt shows before and after a match, bytes.
const excerptSide = 75

// excerpt sets the text of the hit to that around a match on one line, with "..." where it is cut.
func (h *Hit) excerpt(text []byte, m match) {
	start, end := max(0, m.from-excerptSide), min(len(text), min(m.to, m.from+4*excerptSide)+excerptSide)
	for start < m.from && !utf8.RuneStart(text[start]) {
		start++
	}
	for end > m.from && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	h.Text = oneLine.Replace(string(text[start:end]))
	h.From, h.To = m.from-start, min(m.to, end)-start
	if h.CutAfter = end < len(text); h.CutAfter {
		h.Text += "..."
	}
	if h.CutBefore = start > 0; h.CutBefore {
		h.Text, h.From, h.To = "..."+h.Text, h.From+3, h.To+3
	}
}

// best returns the match of a text around which the terms of the greatest weight are, the first
// one of those.
func (q *Query) best(text []byte, weights []float64) (m match, score float64, ok bool) {
	var all []match
	for m := range q.matches(text) {
		if all = append(all, m); !q.Ranked || len(all) == mostMatches {
			break
		}
	}
	if len(all) == 0 {
		return match{}, 0, q.re == nil && len(q.terms) == 0
	}
	slices.SortFunc(all, func(a, b match) int { return a.from - b.from })
	score = -1
	for i, first := range all {
		has, sum := uint64(0), 0.0
		for _, m := range all[i:] {
			if m.from > first.from+2*excerptSide {
				break
			}
			if has>>m.term&1 == 0 && m.term < len(weights) {
				sum += weights[m.term]
			}
			has |= 1 << m.term
		}
		if sum > score {
			score, m = sum, first
		}
	}
	return m, score, true
}

// mostMatches is how many matches of a text are compared for its excerpt.
const mostMatches = 1000
