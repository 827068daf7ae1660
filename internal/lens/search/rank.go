package search

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"

	"ctxtool/internal/base/sorting"
)

// The parameters of BM25 as Robertson and Zaragoza recommend them.
const (
	bm25k = 1.2
	bm25b = 0.75
)

// longerShare is the weight of a message that has words of the query only in longer words.
const longerShare = 1e-3

// wholly removes what has a word of the query in longer words only, if others have the word
// itself, as events.list does.
func (r *Results) wholly() {
	if !r.opt.Query.Ranked {
		return
	}
	whole, terms := make([]bool, len(r.opt.Query.terms)), len(r.opt.Query.terms)
	for _, s := range r.Sessions {
		for i, n := range s.counts {
			whole[i%terms] = whole[i%terms] || n > 0 && n < inLonger
		}
	}
	for _, s := range r.Sessions {
		for i, n := range s.counts {
			if n >= inLonger && whole[i%terms] {
				s.counts[i] = 0
			}
		}
		k := -1
		s.drop(func(*found) bool {
			k++
			return !slices.ContainsFunc(s.counts[k*terms:(k+1)*terms], func(n uint8) bool { return n > 0 })
		})
	}
	r.opt.Query = r.opt.Query.wholly(whole)
}

// rank orders sessions: by their best hit by BM25 over messages, if the query is ranked, else by
// their last entry, the newest first. lines is the number of messages of all files.
func (r *Results) rank(lines int64) {
	if r.opt.Query.Ranked {
		r.score(lines)
	}
	r.order()
}

// order puts sessions in their order.
func (r *Results) order() {
	slices.SortStableFunc(r.Sessions, func(a, b *Session) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.last, a.last), cmp.Compare(a.File.Name, b.File.Name))
	})
}

// score computes the scores of hits.
func (r *Results) score(lines int64) {
	terms := len(r.opt.Query.terms)
	have, size := make([]int, terms), 0.0
	for _, s := range r.Sessions {
		for i := range s.found {
			size += float64(s.found[i].size)
		}
		for i, n := range s.counts {
			if n > 0 {
				have[i%terms]++
			}
		}
	}
	mean := size / float64(max(1, r.Found))
	r.idf = make([]float64, terms)
	for k, n := range have {
		all := float64(max(lines, int64(r.Found)))
		r.idf[k] = math.Log(1 + (all-float64(n)+0.5)/(float64(n)+0.5))
	}
	for _, s := range r.Sessions {
		for i := range s.found {
			f := &s.found[i]
			norm := bm25k * (1 - bm25b + bm25b*float64(f.size)/max(1, mean))
			sum, share := 0.0, longerShare
			for k, n := range s.counts[i*terms : (i+1)*terms] {
				if n > 0 && n < inLonger {
					share = 1
				}
				times := float64(n &^ inLonger)
				sum += r.idf[k] * times * (bm25k + 1) / (times + norm)
			}
			f.score = float32(sum * share)
			s.score = max(s.score, f.score)
		}
		s.counts = nil
	}
}

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
	sorting.By(all, func(a, b match) int { return a.from - b.from })
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

// foldParts is in how many parts hits are folded, by their hashes, to save memory.
const foldParts = 8

// A place is a hit with its session.
type place struct {
	in *Session
	*found
}

// fold removes hits whose text an earlier one has, of forks, copies and repeated reads. Of equal times
// the first file has the original.
func (r *Results) fold() {
	for part := range uint64(foldParts) {
		each := func(do func(p place)) {
			for _, s := range r.Sessions {
				for i := range s.found {
					if f := &s.found[i]; f.key%foldParts == part {
						do(place{s, f})
					}
				}
			}
		}
		first := map[uint64]place{}
		each(func(p place) {
			was, ok := first[p.key]
			if !ok || p.time < was.time || p.time == was.time && p.in == was.in && p.at < was.at {
				first[p.key] = p
			}
		})
		r.Found += len(first)
		each(func(p place) {
			if was := first[p.key]; was != p {
				was.copies++
				p.copies = folded
				r.Copies++
			}
		})
	}
	r.drop(func(f *found) bool { return f.copies == folded })
}

// folded marks a hit that is folded into another.
const folded = -1

// drop removes hits, and sessions without any.
func (r *Results) drop(out func(f *found) bool) {
	for _, s := range r.Sessions {
		s.drop(out)
	}
	r.Sessions = slices.DeleteFunc(r.Sessions, func(s *Session) bool { return len(s.found) == 0 })
}

// drop removes hits, with the counts of their terms.
func (s *Session) drop(out func(f *found) bool) {
	n, terms := 0, len(s.counts)/max(1, len(s.found))
	for i := range s.found {
		if !out(&s.found[i]) {
			s.found[n] = s.found[i]
			copy(s.counts[n*terms:(n+1)*terms], s.counts[i*terms:])
			n++
		}
	}
	s.found, s.counts = slices.Clip(s.found[:n]), s.counts[:n*terms]
}
