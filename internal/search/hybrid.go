package search

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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
	h := hybrid{query: strings.ToLower(strings.TrimSpace(text)), vectors: vectors}
	h.words = strings.Fields(h.query)
	opt.Query, opt.like = &Query{Text: text}, &h
	r := &Results{opt: &opt}
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
	found found  // with the score of its words at first
	text  string // in lower case, while it is compared
}

// alike returns a hit with the score of the words of the doc, if it can be among the results. A
// text without a word of the query would need the vector of the query itself.
func (s *searcher) alike(hit found) (found, bool) {
	d, h := &s.doc, s.opt.like
	if !slices.ContainsFunc(d.blocks, func(b docBlock) bool { return s.opt.Filter.block(d, b) }) {
		return hit, false
	}
	s.lower = appendLower(s.lower[:0], embedded(d.buf))
	score := h.textScore(s.lower)
	if score == 0 || h.vectors == nil && score < lowestRecall {
		return hit, false
	}
	hit.score, hit.key = float32(score), maphash.Bytes(seed, d.buf)
	return hit, true
}

// find compares the texts of all messages. Redacted results are redacted here too: nothing else
// is passed to a command.
func (h *hybrid) find(r *Results, files []File) error {
	s, err := newSearcher(r.opt), error(nil)
	if h.vectors != nil {
		err = h.take(candidate{text: h.query})
	}
	for one := range r.each(files) {
		g := one.session
		if g == nil {
			continue
		}
		if h.vectors == nil {
			for _, f := range g.found {
				h.keep(candidate{in: g, found: f})
			}
		} else {
			wrong := s.texts(g, func(f *found) bool {
				if err == nil && h.promises(f) {
					err = h.take(candidate{g, *f, string(appendLower(nil, embedded(s.doc.buf)))})
				}
				return err == nil
			})
			if err = cmp.Or(err, wrong); err != nil {
				return err
			}
		}
		g.found = nil
	}
	if h.vectors == nil {
		return nil
	}
	return cmp.Or(err, h.compare())
}

// promises reports whether a message can be among the best, whatever its vector is.
func (h *hybrid) promises(f *found) bool {
	return len(h.best) < recalled || h.total(float64(f.score), 1) >= h.best[recalled-1].found.score
}

// take scores a text, or lets it wait until the command is worth a run.
func (h *hybrid) take(c candidate) error {
	if c.in != nil && h.like != nil && h.vectors.of(c.text) != nil {
		h.scored(c)
		return nil
	}
	if h.waiting = append(h.waiting, c); len(h.waiting) == textsAtOnce {
		return h.compare()
	}
	return nil
}

// compare scores the texts that wait.
func (h *hybrid) compare() error {
	if err := h.vectors.add(h.waiting); err != nil {
		return err
	}
	for _, c := range h.waiting {
		if c.in == nil {
			h.like = h.vectors.of(c.text)
		} else {
			h.scored(c)
		}
	}
	h.waiting = h.waiting[:0]
	return nil
}

// scored keeps a message by the score of its words and of its vector.
func (h *hybrid) scored(c candidate) {
	c.found.score = h.total(h.textScore([]byte(c.text)), cosine(h.like, h.vectors.of(c.text)))
	c.text = ""
	h.keep(c)
}

// total returns the score of a message.
func (h *hybrid) total(words, vector float64) float32 {
	return float32(textShare*words + vectorShare*vector)
}

// keep keeps a message if it is among the best. Of equal texts the earliest is.
func (h *hybrid) keep(c candidate) {
	if c.found.score < lowestRecall {
		return
	}
	k := slices.IndexFunc(h.best, func(b candidate) bool { return b.found.key == c.found.key })
	if k < 0 && len(h.best) == recalled && c.found.score <= h.best[recalled-1].found.score {
		return
	}
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

// textScore is the score by the words, from 0 to 1: whether a text in lower case and the query
// contain one another, else the share of the query's words that the text has.
func (h *hybrid) textScore(text []byte) float64 {
	if bytes.Contains(text, []byte(h.query)) || len(text) <= len(h.query) && strings.Contains(h.query, string(text)) {
		return containsScore
	}
	has := 0
	for _, w := range h.words {
		if hasWord(text, []byte(w)) {
			has++
		}
	}
	return float64(has) / float64(max(1, len(h.words)))
}

// hasWord reports whether a text has a word between white space.
func hasWord(text, word []byte) bool {
	for from := 0; ; {
		i := bytes.Index(text[from:], word)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRune(text[:from+i])
		after, _ := utf8.DecodeRune(text[from+i+len(word):])
		if (from+i == 0 || unicode.IsSpace(before)) && (from+i+len(word) == len(text) || unicode.IsSpace(after)) {
			return true
		}
		from += i + 1
	}
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
func embedded(text []byte) []byte {
	text = bytes.TrimSpace(text)
	return text[:min(len(text), mostEmbedded)]
}

// appendLower appends a text in lower case, without bytes that are not UTF-8.
func appendLower(to, text []byte) []byte {
	from := len(to)
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return append(to[:from], bytes.ToLower(bytes.ToValidUTF8(text, nil))...)
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}
