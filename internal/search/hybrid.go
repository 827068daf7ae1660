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
// vectors the score of the words stands alone. Events of logs and histories are not compared.
func Hybrid(files []File, text string, vectors *Vectors, opt Options) (*Results, error) {
	opt.Query = &Query{Text: text}
	r := &Results{opt: &opt}
	h := hybrid{query: strings.ToLower(strings.TrimSpace(text)), vectors: vectors}
	h.words = strings.Fields(h.query)
	err := h.find(r, files)
	if vectors != nil {
		err = cmp.Or(err, vectors.save())
	}
	if err != nil {
		return nil, err
	}
	h.results(r)
	words := Words(text, true)
	words.loose = true
	r.opt.Query = words
	return r, nil
}

// A hybrid scores texts, and keeps the best. Texts whose vectors are not known wait until the
// command is worth a run.
type hybrid struct {
	query   string // in lower case
	words   []string
	vectors *Vectors
	like    []float32 // the vector of the query
	waiting []candidate
	best    []candidate
}

// A candidate is a message, or without a session the query.
type candidate struct {
	in    *Session
	found found
	text  string // in lower case, while it is compared
}

// find compares the texts of all messages. Redacted results are redacted here too: nothing else
// is passed to a command.
func (h *hybrid) find(r *Results, files []File) error {
	s := newSearcher(r.opt)
	err := h.take(candidate{text: h.query})
	for one := range r.each(files) {
		g := one.session
		if g == nil {
			continue
		}
		wrong := s.texts(g, func(f *found) bool {
			err = cmp.Or(err, h.take(candidate{g, *f, strings.ToLower(embedded(s.doc.buf))}))
			return err == nil
		})
		if err = cmp.Or(err, wrong); err != nil {
			return err
		}
		g.found = nil
	}
	return cmp.Or(err, h.compare())
}

// take scores a text, or lets it wait.
func (h *hybrid) take(c candidate) error {
	if c.in != nil && (h.vectors == nil || h.like != nil && h.vectors.of(c.text) != nil) {
		h.keep(c)
		return nil
	}
	if h.waiting = append(h.waiting, c); len(h.waiting) == textsAtOnce {
		return h.compare()
	}
	return nil
}

// compare scores the texts that wait.
func (h *hybrid) compare() error {
	if h.vectors == nil {
		return nil
	}
	if err := h.vectors.add(h.waiting); err != nil {
		return err
	}
	for _, c := range h.waiting {
		if c.in == nil {
			h.like = h.vectors.of(c.text)
		} else {
			h.keep(c)
		}
	}
	h.waiting = h.waiting[:0]
	return nil
}

// keep keeps a message if it is among the best. Of equal texts the earliest is.
func (h *hybrid) keep(c candidate) {
	c.found.score, c.text = float32(h.score(c.text)), ""
	if c.found.score < lowestRecall {
		return
	}
	k := slices.IndexFunc(h.best, func(b candidate) bool { return b.found.key == c.found.key })
	if k < 0 {
		h.best = append(h.best, c)
		slices.SortStableFunc(h.best, func(a, b candidate) int { return cmp.Compare(b.found.score, a.found.score) })
		h.best = h.best[:min(len(h.best), recalled)]
		return
	}
	b := &h.best[k]
	if c.found.time < b.found.time {
		c.found.copies = b.found.copies
		*b = c
	}
	b.found.copies++
}

// results adds the best messages to results.
func (h *hybrid) results(r *Results) {
	for _, c := range h.best {
		if !slices.Contains(r.Sessions, c.in) {
			r.Sessions = append(r.Sessions, c.in)
		}
		c.in.found = append(c.in.found, c.found)
		c.in.score = max(c.in.score, c.found.score)
		r.Found++
		r.Copies += int(c.found.copies)
	}
	r.order()
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

// embedded returns the beginning of a text.
func embedded(text []byte) string {
	text = bytes.TrimSpace(text)
	return strings.ToValidUTF8(string(text[:min(len(text), mostEmbedded)]), "")
}
