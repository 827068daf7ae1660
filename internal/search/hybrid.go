package search

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
)

// How y-agent recalls (docs/policies.md): the shares of the scores by text and by vector, the
// lowest score that counts, and the number of results.
const (
	textShare     = 0.4
	vectorShare   = 0.6
	lowestRecall  = 0.6
	recalled      = 5
	containsScore = 0.8 // of a text that contains the query, or the other way
)

// mostEmbedded is how much of a text is compared, bytes.
const mostEmbedded = 8 << 10

// Hybrid finds the messages that are most like a text, by their words and by vectors. Without
// vectors the score of the words stands alone.
func Hybrid(files []File, text string, vectors *Vectors, opt Options) (*Results, error) {
	opt.Query = &Query{Text: text}
	r := Run(files, opt)
	h := hybrid{query: strings.ToLower(strings.TrimSpace(text)), vectors: vectors}
	h.words = strings.Fields(h.query)
	var wanted []string
	if vectors != nil {
		err := r.each(&h, func(_ *found, text string) { wanted = append(wanted, text) })
		if err == nil {
			err = vectors.add(append(wanted, h.query))
		}
		if err != nil {
			return nil, err
		}
		h.like = vectors.of(h.query)
	}
	if err := r.each(&h, func(f *found, text string) { f.score = float32(h.score(text)) }); err != nil {
		return nil, err
	}
	r.recall()
	words := Words(text, true)
	words.loose = true
	r.opt.Query = words
	return r, nil
}

// A hybrid scores texts.
type hybrid struct {
	query   string // in lower case
	words   []string
	vectors *Vectors
	like    []float32 // the vector of the query
}

// score returns the score of a text in lower case, from 0 to 1.
func (h *hybrid) score(text string) float64 {
	score := h.textScore(text)
	if h.vectors == nil {
		return score
	}
	return textShare*score + vectorShare*cosine(h.like, h.vectors.of(text))
}

// textScore is the score by the words: whether one contains the other, else the share of the
// query's words that the text has.
func (h *hybrid) textScore(text string) float64 {
	if strings.Contains(text, h.query) || strings.Contains(h.query, text) {
		return containsScore
	}
	has, have := 0, strings.Fields(text)
	for _, w := range h.words {
		if slices.Contains(have, w) {
			has++
		}
	}
	return float64(has) / float64(max(1, len(h.words)))
}

// cosine returns the cosine of the angle of two vectors, 0 if they cannot be compared.
func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	dot, aa, bb := 0.0, 0.0, 0.0
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

// each reads the texts of all hits, in lower case. Redacted results are redacted here too:
// nothing else is passed to a command.
func (r *Results) each(h *hybrid, use func(f *found, text string)) error {
	s := newSearcher(r.opt)
	s.query = &Query{}
	for _, g := range r.Sessions {
		err := s.texts(g, func(f *found) bool {
			use(f, strings.ToLower(embedded(s.doc.buf)))
			return true
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// embedded returns the beginning of a text.
func embedded(text []byte) string {
	text = bytes.TrimSpace(text)
	return strings.ToValidUTF8(string(text[:min(len(text), mostEmbedded)]), "")
}

// recall leaves the best hits above the lowest score.
func (r *Results) recall() {
	var scores []float32
	for _, s := range r.Sessions {
		for i := range s.found {
			scores = append(scores, s.found[i].score)
		}
	}
	slices.SortFunc(scores, func(a, b float32) int { return cmp.Compare(b, a) })
	least := float32(lowestRecall)
	if len(scores) > recalled {
		least = max(least, scores[recalled-1])
	}
	left := recalled
	r.Found = 0
	for _, s := range r.Sessions {
		s.drop(func(f *found) bool {
			if f.score < least || left == 0 {
				return true
			}
			left--
			r.Found++
			s.score = max(s.score, f.score)
			return false
		})
	}
	r.Sessions = slices.DeleteFunc(r.Sessions, func(s *Session) bool { return len(s.found) == 0 })
	r.order()
}
