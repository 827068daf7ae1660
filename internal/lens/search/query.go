package search

import (
	"bytes"
	"fmt"
	"iter"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ctxtool/sessionfmt/jsonl"

	"golang.org/x/text/unicode/norm"
)

// A Query matches texts. It is safe for concurrent use. The zero value matches every text.
type Query struct {
	Text   string // as given
	Ranked bool   // messages are ranked by their words, and one word is enough for a match

	terms []term
	re    *regexp.Regexp
	gate  gate
}

// Fixed returns a query for a text. With fold it ignores case.
func Fixed(text string, fold bool) *Query {
	q := &Query{Text: text}
	if text != "" {
		q.terms = []term{newTerm(text, fold)}
	}
	q.gate = newGate(q.terms)
	return q
}

// Pattern returns a query for a regular expression.
func Pattern(expression string, fold bool) (*Query, error) {
	q := &Query{Text: expression}
	if fold {
		expression = "(?i)" + expression
	}
	var err error
	if q.re, err = regexp.Compile(expression); err != nil {
		return nil, fmt.Errorf("--regexp: %w", err)
	}
	if prefix, _ := q.re.LiteralPrefix(); prefix != "" {
		q.gate = newGate([]term{bytewise(prefix, false)})
	}
	return q, nil
}

// Words returns a query for words, ignoring case. A text without white space is found anywhere,
// even within words. Of several words each has to begin one; with ranked, one of them is enough,
// and a word that is found whole is not found in longer ones (see Results.wholly).
func Words(text string, ranked bool) *Query {
	words := strings.Fields(text)
	if len(words) <= 1 && !ranked {
		return Fixed(strings.TrimSpace(text), true)
	}
	q := &Query{Text: text, Ranked: ranked}
	for _, quiet := range []bool{true, false} { // small words count if there are no others
		for _, w := range words {
			w = norm.NFC.String(w)
			w = strings.ToLower(strings.TrimFunc(w, func(r rune) bool { return !isWord(r) }))
			if quiet && slices.Contains(small, w) {
				continue
			}
			if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
				w = w[:len(w)-1] // the singular, which begins the plural
			}
			if w == "" || len(q.terms) == mostTerms {
				continue
			}
			t := newTerm(w, true)
			if slices.ContainsFunc(q.terms, func(had term) bool { return bytes.Equal(had.text, t.text) }) {
				continue
			}
			t.begins = true
			q.terms = append(q.terms, t)
		}
		if len(q.terms) > 0 {
			break
		}
	}
	if len(q.terms) == 0 && len(words) > 0 { // of signs
		return Fixed(strings.Join(words, " "), true)
	}
	q.gate = newGate(q.terms)
	return q
}

// mostTerms is how many words of a query count.
const mostTerms = 32

// small are words of a question that are in every text.
var small = strings.Fields("a an and are as at be by did do does for from had has have how i in is it my of on or " +
	"that the this to was we were what when where which who why with you")

// isWord reports whether a character is part of a word.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// A match is where a text matches: the number of the term, and the bytes.
type match struct{ term, from, to int }

// matches yields the matches in a text, term by term.
func (q *Query) matches(text []byte) iter.Seq[match] {
	return func(yield func(m match) bool) {
		for from := 0; q.re != nil && from <= len(text); {
			at := q.re.FindIndex(text[from:])
			if at == nil || !yield(match{0, from + at[0], from + at[1]}) {
				return
			}
			from += max(at[1], at[0]+1)
		}
		for k := range q.terms {
			for from, to := range q.terms[k].in(text) {
				if !yield(match{k, from, to}) {
					return
				}
			}
		}
	}
}

// A term is a text that a query looks for.
type term struct {
	text   []byte // its key, or the bytes to find
	fold   bool   // ignore case
	begins bool   // only where a word begins
	whole  bool   // only where it is the word, or an inflection of that
	// bytes are compared, and not keys: those of ASCII without case, if fold is set
	exact  bool
	others []string // a term of ASCII can be spelled otherwise in a text that has one of them

	at   int        // the index of the rarest two bytes
	rare jsonl.Pair // those
}

// newTerm returns a term for a text that is not empty.
func newTerm(text string, fold bool) term {
	key := appendKey(nil, []byte(text), fold)
	t := bytewise(string(key), fold)
	t.exact = false
	if isASCII(key) {
		t.others = spellingOf(string(key), fold).others
	}
	return t
}

// bytewise returns a term for bytes.
func bytewise(text string, fold bool) term {
	t := term{text: []byte(text), fold: fold, exact: true}
	t.rare = jsonl.Pair{A: t.text[0], MaskB: 0xff}
	rarest := math.MaxInt
	for i := range len(t.text) - 1 {
		if r := strings.IndexByte(common, t.text[i]) + strings.IndexByte(common, t.text[i+1]); r < rarest {
			rarest, t.at, t.rare = r, i, jsonl.Pair{A: t.text[i], B: t.text[i+1]}
		}
	}
	if fold {
		const letterCase = 'a' - 'A'
		t.rare.MaskA, t.rare.MaskB = letterCase, t.rare.MaskB|letterCase
	}
	return t
}

// common are the bytes of sessions, the rarest first; others are rarer still.
const common = "zqj9876543\\xk2ywv1)(0=b:/-_,.fghm\"updclrsnioate "

// in yields the places of the term in a text.
func (t *term) in(text []byte) iter.Seq2[int, int] {
	if !t.exact && (!isASCII(t.text) || hasAny(text, t.others)) {
		return func(yield func(from, to int) bool) { t.inKeys(text, yield) }
	}
	return func(yield func(from, to int) bool) {
		for k := t.rare.Index(text, t.at); k < len(text); k = t.rare.Index(text, k+1) {
			from, to := k-t.at, k-t.at+len(t.text)
			if to <= len(text) && (bytes.Equal(text[from:to], t.text) ||
				t.fold && bytes.EqualFold(text[from:to], t.text)) && t.fits(text, from, to) && !yield(from, to) {
				return
			}
		}
	}
}

// fits reports whether a place is one where the term may be: anywhere, or if it has to begin a
// word, where that is the term or one that is little longer.
func (t *term) fits(text []byte, from, to int) bool {
	if !t.exact && to < len(text) && text[to] >= utf8.RuneSelf && !norm.NFC.Properties(text[to:]).BoundaryBefore() {
		return false // it ends within a character
	}
	if !t.begins {
		return true
	}
	if before, _ := utf8.DecodeLastRune(text[:from]); from > 0 && isWord(before) {
		return false
	}
	return ending(text, to)-to <= longestEnding && (!t.whole || isWhole(text, to))
}

// longestEnding is how many more letters a word that begins with a term may have.
const longestEnding = 3

// ending returns where a word ends that has a term before to, or a place after longestEnding
// letters. A capital begins another word, except among capitals.
func ending(text []byte, to int) int {
	end := to
	for end-to <= longestEnding {
		if among := isCapital(text, end-1) && !isSmall(text, end+1); !isSmall(text, end) &&
			!(among && isCapital(text, end)) {
			break
		}
		end++
	}
	return end
}

func isSmall(text []byte, i int) bool   { return i < len(text) && 'a' <= text[i] && text[i] <= 'z' }
func isCapital(text []byte, i int) bool { return i < len(text) && 'A' <= text[i] && text[i] <= 'Z' }

// inflections are the endings of words that are still the same word.
var inflections = strings.Fields("s es d ed ing er ers")

// isWhole reports whether a term that ends at to is the word there, or its stem.
func isWhole(text []byte, to int) bool {
	end := ending(text, to)
	if end > to && !slices.Contains(inflections, strings.ToLower(string(text[to:end]))) {
		return false
	}
	next, _ := utf8.DecodeRune(text[end:])
	return end == len(text) || !isWord(next) || isCapital(text, end)
}

// inKeys is in for a term that has to be compared by the keys of the text. A place begins and ends with a
// segment, so that none is a part of a character.
func (t *term) inKeys(text []byte, yield func(from, to int) bool) {
	var key []byte
	first := t.text[0]
	for from, next := 0, 0; from < len(text); from = next {
		for from+1 < len(text) && text[from]|text[from+1] < utf8.RuneSelf && lower(text[from], t.fold) != first {
			from++
		}
		key, next = appendSegment(key[:0], text, from, t.fold)
		rest, to := t.text, next
		for {
			after, ok := bytes.CutPrefix(rest, key)
			if rest = after; !ok || len(rest) == 0 || to == len(text) {
				if ok && len(rest) == 0 && t.fits(text, from, to) && !yield(from, to) {
					return
				}
				break
			}
			key, to = appendSegment(key[:0], text, to, t.fold)
		}
	}
}

// has reports whether texts match together, with all terms: what is not ranked has to have them.
func (q *Query) has(texts ...string) bool {
	ok, _ := q.match(texts)
	return ok
}

// match is has, and reports whether a term of a ranked query is in longer words only.
func (q *Query) match(texts []string) (ok, longer bool) {
	if q.re == nil && len(q.terms) == 0 {
		return true, false
	}
	m := matcher{q: q}
	for _, t := range texts {
		m.add([]byte(t))
	}
	return m.done(), q.Ranked && slices.ContainsFunc(m.counts[:], func(n uint8) bool { return n >= inLonger })
}

// A matcher counts the terms of a query in the texts of a message: up to one of each if it is not
// ranked.
type matcher struct {
	q      *Query
	ranked bool             // one term is enough
	counts [mostTerms]uint8 // of terms as whole words, or anywhere
	longer [mostTerms]uint8 // of terms that only begin a word
	like   bool             // the pattern
}

// inLonger marks the count of a term that is only found in longer words.
const inLonger = 0x80

// add adds a text.
func (m *matcher) add(text []byte) {
	m.like = m.like || m.q.re != nil && m.q.re.Match(text)
	most := uint8(1)
	if m.ranked {
		most = inLonger - 1
	}
	for k := range m.q.terms {
		t := &m.q.terms[k]
		if m.counts[k] == most {
			continue
		}
		for _, to := range t.in(text) {
			if t.begins && !isWhole(text, to) {
				m.longer[k] = min(m.longer[k]+1, most)
			} else if m.counts[k]++; m.counts[k] == most {
				break
			}
		}
	}
}

// done reports whether the texts match, and marks the counts of terms that are only in longer
// words.
func (m *matcher) done() bool {
	terms := len(m.q.terms)
	for k := range terms {
		if m.counts[k] == 0 && m.longer[k] > 0 {
			m.counts[k] = inLonger | m.longer[k]
		}
	}
	without := bytes.Count(m.counts[:terms], []byte{0})
	return (m.like || m.q.re == nil) && (without == 0 || m.ranked && without < terms)
}

// wholly returns the query of which each of the terms that are told is only found as a whole word.
func (q *Query) wholly(terms []bool) *Query {
	out := *q
	out.terms = slices.Clone(q.terms)
	for k, whole := range terms {
		out.terms[k].whole = whole
	}
	return &out
}
