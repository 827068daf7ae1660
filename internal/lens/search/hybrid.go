package search

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"ctxtool/internal/base/shell"
	"ctxtool/sessionfmt"
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

// mostCompared is the number of messages that are compared, those that BM25 ranks first: a command for
// vectors costs time or money for each text.
const mostCompared = 1024

// Hybrid finds the messages that are most like a text, by their words and by vectors. Without
// vectors the score of the words stands alone. Events of logs and histories are not compared.
func Hybrid(files []File, text string, vectors *Vectors, opt Options) (*Results, error) {
	opt.Query = Words(text, true)
	r := Run(files, opt)
	r.Events, r.Happened, r.Uncompared = nil, 0, r.Found
	r.leave(mostCompared)
	r.Compared, r.Uncompared = r.Found, r.Uncompared-r.Found
	all := []string{text}
	for g, err := range r.again(r.Sessions, func(s *searcher, g *Session) error {
		return s.texts(g, func(*found) bool {
			g.texts = append(g.texts, embedded(s.doc.buf))
			return true
		})
	}) {
		if err != nil {
			return nil, err
		}
		all = append(all, g.texts...)
	}
	h := &hybrid{query: strings.ToLower(strings.TrimSpace(text)), vectors: vectors}
	h.words, all[0] = strings.Fields(h.query), h.query
	if vectors != nil && len(all) > 1 {
		err := vectors.add(all)
		if failed := vectors.save(); err == nil { // vectors from before an error are kept too
			err = failed
		}
		if err != nil {
			return nil, err
		}
		h.like = vectors.of(h.query)
	}
	for _, g := range r.Sessions {
		h.score(g)
	}
	r.leave(recalled)
	return r, nil
}

// leave leaves the hits with the highest scores, in sessions in their order.
func (r *Results) leave(most int) {
	var all []*found
	for _, s := range r.Sessions {
		s.score = 0
		for i := range s.found {
			s.score = max(s.score, s.found[i].score)
		}
	}
	r.order()
	for _, s := range r.Sessions {
		from := len(all)
		for i := range s.found {
			all = append(all, &s.found[i])
		}
		// as several CPUs found them
		slices.SortFunc(all[from:], func(a, b *found) int { return cmp.Compare(a.at, b.at) })
	}
	slices.SortStableFunc(all, func(a, b *found) int { return cmp.Compare(b.score, a.score) })
	stays := map[*found]bool{}
	r.Copies = 0
	for _, f := range all[:min(len(all), most)] {
		stays[f] = true
		r.Copies += int(f.copies)
	}
	r.Found = len(stays)
	r.drop(func(f *found) bool { return !stays[f] })
}

// A hybrid scores texts.
type hybrid struct {
	query   string // in lower case
	words   []string
	vectors *Vectors
	like    []float32 // the vector of the query
}

// score scores the messages of a session, and leaves those that are like the query. A text
// without a word of the query is not.
func (h *hybrid) score(s *Session) {
	for i, text := range s.texts {
		f := &s.found[i]
		score := h.textScore(text)
		if h.vectors != nil && score > 0 {
			score = textShare*score + vectorShare*cosine(h.like, h.vectors.of(text))
		}
		f.score = float32(score)
	}
	s.drop(func(f *found) bool { return f.score < lowestRecall })
	s.texts = nil
}

// textScore returns the score by the words, from 0 to 1: whether a text in lower case and the query contain one
// another, else the share of the query's words that the text has.
func (h *hybrid) textScore(text string) float64 {
	if strings.Contains(text, h.query) || strings.Contains(h.query, text) {
		return containsScore
	}
	has, words := 0, strings.Fields(text)
	for _, w := range h.words {
		if slices.Contains(words, w) {
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

// embedded returns what is compared of a text: its beginning, in lower case.
func embedded(text []byte) string {
	text = bytes.TrimSpace(text)
	return strings.ToLower(strings.ToValidUTF8(string(text[:min(len(text), mostEmbedded)]), ""))
}

// Vectors are the vectors of texts, which a command computes. It gets texts as lines of JSON,
// {"text": ...}, and answers each with a line that is an array of numbers.
type Vectors struct {
	Command shell.Command
	Disk    sessionfmt.Disk
	File    string // where they are kept; empty for nowhere

	known map[vectorKey][]float32
	fresh bool // some are not in the file
}

// A vectorKey is a hash of a command and a text.
type vectorKey [16]byte

func (v *Vectors) key(text string) (k vectorKey) {
	sum := sha256.Sum256([]byte(v.Command.Line + "\x00" + text))
	copy(k[:], sum[:])
	return k
}

// of returns the vector of a text, nil if there is none.
func (v *Vectors) of(text string) []float32 { return v.known[v.key(text)] }

// The limits of a run of the command.
const (
	textsAtOnce  = 256
	longestReply = 64 << 20 // bytes
	embedLimit   = 5 * time.Minute
)

// add computes the vectors of texts that are not known.
func (v *Vectors) add(texts []string) error {
	v.load()
	var missing []string
	for _, t := range texts {
		if k := v.key(t); v.known[k] == nil {
			v.known[k] = []float32{}
			missing = append(missing, t)
		}
	}
	for some := range slices.Chunk(missing, textsAtOnce) {
		got, err := v.ask(some)
		if err != nil {
			return err
		}
		for i, t := range some {
			v.known[v.key(t)] = got[i]
		}
		v.fresh = true
	}
	return nil
}

// ask runs the command.
func (v *Vectors) ask(texts []string) (all [][]float32, err error) {
	var in bytes.Buffer
	lines := json.NewEncoder(&in)
	for _, t := range texts {
		lines.Encode(map[string]string{"text": t}) // a buffer fails nothing
	}
	c := v.Command
	c.Limit, c.Most = embedLimit, longestReply
	out, err := c.Run(context.Background(), in.String())
	for line := range strings.Lines(out) {
		var one []float32
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			return nil, fmt.Errorf("--embed: line %d of the command's output is not an array of numbers", len(all)+1)
		}
		all = append(all, one)
	}
	if err == nil && len(all) != len(texts) {
		err = fmt.Errorf("--embed: the command answered %d of %d texts", len(all), len(texts))
	}
	return all, err
}

// load reads the file. One that cannot be read is one without vectors.
func (v *Vectors) load() {
	v.known = map[vectorKey][]float32{}
	if v.File == "" {
		return
	}
	data, err := v.Disk.ReadFile(v.File)
	if err != nil || gob.NewDecoder(bytes.NewReader(data)).Decode(&v.known) != nil {
		v.known = map[vectorKey][]float32{}
	}
}

// save writes the file, if there are vectors that it does not have.
func (v *Vectors) save() error {
	if v.File == "" || !v.fresh {
		return nil
	}
	maps.DeleteFunc(v.known, func(_ vectorKey, one []float32) bool { return len(one) == 0 })
	out, err := v.Disk.Create(v.File)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w (--no-cache keeps no vectors)", err)
	}
	if err != nil {
		return err
	}
	defer out.Abort()
	if err := gob.NewEncoder(out).Encode(v.known); err != nil {
		return err
	}
	return out.Commit()
}
