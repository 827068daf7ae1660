package search

import (
	"cmp"
	"math"
	"slices"
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

// sort orders the hits of a session: the best first, or in the order of the file.
func (s *Session) sort() {
	slices.SortFunc(s.found, func(a, b found) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.time, b.time), cmp.Compare(a.at, b.at))
	})
}
