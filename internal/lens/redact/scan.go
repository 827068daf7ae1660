package redact

import (
	"bytes"
	"cmp"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Hit is a likely secret in a text: bytes Start to End, and the rule that found it.
type Hit struct {
	Rule       string
	Start, End int
}

// Secret reports whether it is a secret, rather than an address or a name.
func (h Hit) Secret() bool { return h.Rule != ruleEmail && h.Rule != ruleHome }

// A hit is a Hit under construction, or another range of a line.
type hit struct {
	rule       int32 // index into Redactor.names; of overlapping hits the lower one wins; -1 for none
	start, end int
	value      string // identifies equal values
	text       string // replacement, if not a placeholder
}

// A Scanner finds secrets. It keeps what it learned about the rules for the next text. It is
// not safe for concurrent use.
type Scanner struct {
	r        *Redactor
	dfas     []*dfa           // by rule, built on demand
	searches []*dfa           // by rule, see part
	known    map[string]bool  // names of persons
	found    map[string]int32 // secrets and their rules, if a Run collects them

	allowedMatches map[string]bool // by rule and match: not a secret
	key            []byte

	seen             []bool    // by rule: the text contains one of its keywords
	parts            []uint8   // by rule: what worth has found of it
	halves           []int32   // the rules of which it has found a part
	starts           [][]int32 // by rule: where its matches may begin
	busy             []int32
	read             int        // bytes that expressions and their dfas were run over
	queue            []foundUse // of tokens and keys
	phrased          int        // up to where phrases were looked for
	names            []nameUse  // words of names
	namer            nameReader
	shaped           []int32 // where words of shapeWords end
	runStart, runEnd int     // the value without quotes that was read last
	lasts            [3]lastWord
	commands         []foundUse // of programs and calls
	args             []argument // of the command that is read
	marks            []foundUse // of markers
	sealed           []cell     // encrypted values
	markEnds         []int      // by marker: where the last run around it ends
	ends             []int      // by token: where its characters end
	noting           bool       // words are noted
	line             []byte     // what is searched; its texts are parts of it
	quoted           int8       // it has parts in quoted-printable, below 0 if not; 0 if it was not looked for them
	lineWords        lineWords  // the words of the line that is searched
	spotted          bool       // worth has noted the words of the string that is searched next
	coded            bool       // that string may have codes, see decoded
	layered          bool       // what it stands for may have escapes
	spots            []spot     // the words of the text that was searched last
	before           []spot     // and of the one before it

	encoded []byte // that is being decoded
	numbers []byte // see byteLists
	join    []byte // see joins
	joint   []byte // see inLiterals
	parted  []cell // see rest
	broken  []brokenMatch
	depth   int // how often it was decoded
	texts   [maxLayers]view
}

// maxLayers is the maximum depth of views: a string, and escapes within, three times.
const maxLayers = 4

// NewScanner returns a Scanner for texts other than sessions.
func (r *Redactor) NewScanner() *Scanner {
	n := len(r.rules)
	return &Scanner{
		r: r, dfas: make([]*dfa, n), searches: make([]*dfa, n),
		known: map[string]bool{}, allowedMatches: map[string]bool{},
		seen: make([]bool, n), parts: make([]uint8, n), starts: make([][]int32, n), ends: make([]int, len(r.tokens)),
		markEnds: make([]int, len(markers)),
	}
}

// Find returns the likely secrets in a text, in order and without overlaps. Hits with escapes
// include them completely.
func (s *Scanner) Find(text []byte) []Hit {
	var found []Hit
	s.line, s.quoted = text, 0
	s.noting = len(text) < largeText
	for _, h := range s.views(s.plain(nil, text), text, anySpelling) {
		found = append(found, Hit{s.r.names[h.rule], h.start, h.end})
	}
	s.noting = false
	return found
}

// views adds the hits found when the escapes of a text are read, beginning with those of the
// given spelling, and merges all. Offsets are those of the text.
func (s *Scanner) views(hits []hit, text []byte, how spelling) []hit {
	if len(text) >= huge {
		defer func() {
			s.texts = [maxLayers]view{}
			debug.FreeOSMemory()
		}()
	}
	spotted := s.spotted
	s.spotted = false
	look := text
	for k := range s.texts {
		v := &s.texts[k]
		if spotted && k > 0 && !s.layered {
			break
		}
		located := s.noting || spotted
		if !makeView(v, look, how, located) && !(makeView(v, look, quotedSpelling, located) && s.quotes(v)) {
			break
		}
		from := len(hits)
		switch {
		case spotted && how == jsonSpelling:
			hits = s.wordsNoted(hits, v, look)
		case s.noting || spotted:
			hits = s.wordsOf(hits, v)
		default:
			hits = s.words(hits, v.text, 0, len(v.text))
		}
		hits = s.finish(hits, v.text)
		if !spotted || s.coded {
			hits = s.decoded(hits, v.text)
		}
		hits = s.unpublished(hits, from, v.text)
		if len(hits) > from {
			of := text
			for i := range s.texts[:k+1] { // only views with hits, and those that they are of, need their origins
				s.texts[i].locate(of)
				of = s.texts[i].text
			}
		}
		for i := from; i < len(hits); i++ {
			for h, back := &hits[i], k; back >= 0; back-- {
				h.start, h.end = s.texts[back].where(h.start), s.texts[back].whereEnd(h.end)
			}
		}
		look, how = v.text, anySpelling
	}
	return s.settle(text, hits)
}

// quotes reports whether a view resolves quoted-printable: its text has a sign of that, or what it is part of.
func (s *Scanner) quotes(v *view) bool {
	if !v.sure && s.quoted == 0 {
		s.quoted = -1
		if slices.ContainsFunc(quotedSigns, func(sign string) bool { return bytes.Contains(s.line, []byte(sign)) }) {
			s.quoted = 1
		}
	}
	return v.sure || s.quoted > 0
}

// settle sorts hits and merges overlapping ones. It drops placeholders.
func (s *Scanner) settle(text []byte, hits []hit) []hit {
	if len(hits) == 0 {
		return hits
	}
	hits = slices.DeleteFunc(s.dropHarmless(text, hits), func(h hit) bool { return s.r.covered(text, h.start, h.end) })
	for _, h := range hits {
		if h.text == "" { // inBytes has learned what is in numbers
			s.learn(h.rule, h.value)
		}
	}
	return merged(text, hits)
}

// dropHarmless drops hits in the data of a URL, of which they are a part by chance, and certificates in base64.
// Values that the user gave stay.
func (s *Scanner) dropHarmless(text []byte, hits []hit) []hit {
	if len(hits) == 0 {
		return hits
	}
	data := dataURLs(text)
	return slices.DeleteFunc(hits, func(h hit) bool {
		within := func(d cell) bool {
			return h.start >= d.start && h.end <= d.end && h.end-h.start < (d.end-d.start)/2
		}
		public := func(head string) bool {
			at := bytes.Index(text[h.start:min(len(text), h.start+longestWord+len(head))], []byte(head))
			return at >= 0 && h.start+at < h.end
		}
		return h.rule != s.r.value && (slices.ContainsFunc(data, within) || slices.ContainsFunc(publicHeads, public))
	})
}

// character returns the range of the character that a place lies within, and the place where it lies within none.
func character(text []byte, at int) (start, end int) {
	for i := at - 1; i >= max(0, at-utf8.UTFMax+1) && at < len(text); i-- {
		if !utf8.RuneStart(text[i]) {
			continue
		}
		if _, n := utf8.DecodeRune(text[i:]); i+n > at {
			return i, i + n
		}
		break
	}
	return at, at
}

// merged sorts hits by start, the longest first, and merges overlapping ones, widened to whole characters. A
// replacement that is no placeholder stays whole.
func merged(text []byte, hits []hit) []hit {
	for k := range hits {
		h := &hits[k]
		h.start, _ = character(text, h.start)
		_, h.end = character(text, h.end)
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Or(a.start-b.start, b.end-a.end) })
	out := hits[:0]
	for _, h := range hits {
		n := len(out)
		if n == 0 || h.start >= out[n-1].end {
			out = append(out, h)
			continue
		}
		last := &out[n-1]
		switch {
		case last.rule < 0:
			continue
		case h.rule < 0:
			*last = h
			continue
		case h.rule < last.rule && h.start == last.start && h.end == last.end:
			last.value = h.value
		}
		if last.rule = min(last.rule, h.rule); h.end > last.end {
			last.end = h.end
			last.value = string(text[last.start:last.end])
		}
	}
	return out
}

// learn records a secret, to find it everywhere. Addresses and names of persons do not need
// that.
func (s *Scanner) learn(rule int32, value string) {
	if s.found == nil || rule < s.r.first || rule >= s.r.email || len(value) < MinValue ||
		strings.Contains(value, markOpen) {
		return
	}
	if was, ok := s.found[value]; !ok || rule < was {
		s.found[strings.Clone(value)] = rule
	}
}

// plain adds the secrets of a text, ignoring escapes; hits may overlap.
func (s *Scanner) plain(dst []hit, text []byte) []hit {
	if s.depth == 0 {
		s.spots = s.spots[:0]
	}
	from := len(dst)
	dst = s.words(dst, text, 0, len(text))
	return s.unpublished(s.decoded(s.finish(dst, text), text), from, text)
}

// words searches text[start:end] for words.
func (s *Scanner) words(dst []hit, text []byte, start, end int) []hit {
	s.r.words.each(text[start:end], func(word int32, at int) {
		if s.noting && s.depth == 0 {
			s.spots = append(s.spots, spot{word, int32(start + at)})
		}
		dst = s.use(dst, text, word, start+at)
	})
	return dst
}

// wordsOf is words for a view, given those of the text that it is of: all but the ones with an escape are
// in it. Others have bytes from both sides of a place where the view has something else than the text.
func (s *Scanner) wordsOf(dst []hit, v *view) []hit {
	slices.SortStableFunc(s.spots, func(a, b spot) int { return int(a.end - b.end) })
	s.before, s.spots = s.spots, s.before[:0]
	add := func(word int32, end int) {
		s.spots = append(s.spots, spot{word, int32(end)})
		dst = s.use(dst, v.text, word, end)
	}
	k, size := 0, func(word int32) int32 { return int32(s.r.uses[word][0].size) }
	for i, o := range v.from {
		last, end := int32(0), int32(len(v.text))
		if i > 0 {
			last = v.from[i-1].at
		}
		if i+1 < len(v.from) {
			end = v.from[i+1].at
		}
		if s.noting { // where worth has noted the words, no others have an escape
			s.r.words.across(v.text, int(last), int(o.at), func(word int32, at int) {
				if int32(at)-size(word) < o.at {
					add(word, at)
				}
			})
		}
		if s.noting && o.from < 0 {
			s.r.words.from(v.text[:end], int(o.at), 0, add)
		}
		for ; o.from >= 0 && k < len(s.before) && s.before[k].end <= o.from+end-o.at; k++ {
			if old := s.before[k]; old.end-size(old.word) >= o.from {
				add(old.word, int(o.at+old.end-o.from))
			}
		}
	}
	return dst
}

// finish adds the secrets whose words were found, and those that have none.
func (s *Scanner) finish(dst []hit, text []byte) []hit {
	s.phrased = 0
	dst = s.expressions(dst, text)
	for _, m := range s.broken {
		dst = s.rejoined(dst, text, m)
	}
	s.broken = s.broken[:0]
	if len(s.queue) > 0 {
		dst = s.tokens(dst, text)
		s.queue = s.queue[:0]
	}
	for _, end := range s.shaped {
		dst = s.shapeAt(dst, text, int(end))
	}
	s.shaped = s.shaped[:0]
	line := commandLine{s: s, text: text, from: -1, args: s.args}
	for _, f := range s.commands {
		if f.use.kind == useCommand {
			dst = line.at(dst, f.use.rule, f.at)
		} else {
			dst = s.callAt(dst, text, f.use.rule, f.at)
		}
	}
	s.commands, s.args = s.commands[:0], line.args
	for _, f := range s.marks {
		dst = s.markedAt(dst, text, f.use.rule, f.at)
	}
	if len(s.marks) > 0 {
		s.marks = s.marks[:0]
		clear(s.markEnds)
	}
	if len(s.names) > 0 {
		s.runEnd = 0
		dst = s.assigned(dst, text)
	}
	if s.r.parts != nil {
		dst = s.r.parts.find(dst, text)
	}
	return dst
}

// use processes a word that ends at text[end].
func (s *Scanner) use(dst []hit, text []byte, word int32, end int) []hit {
	for k := range s.r.uses[word] {
		switch u := &s.r.uses[word][k]; u.kind {
		case useAnchor:
			if at := end - u.size; s.mayMatch(u, text, at, false) {
				s.wake(u.rule)
				s.starts[u.rule] = append(s.starts[u.rule], int32(at))
			}
		case useToken, useKeyBegin, useKeyEnd, useKeyHead:
			s.queue = append(s.queue, foundUse{u, end - u.size})
		case useName:
			if u.size > 2 || endsName(text, end) {
				s.names = append(s.names, nameUse{int32(end - u.size), int32(end)})
			}
		case useCommand, useCall:
			s.commands = append(s.commands, foundUse{u, end - u.size})
		case usePhrase:
			dst = s.phraseNamed(dst, text, end)
		case useMarker:
			s.marks = append(s.marks, foundUse{u, end - u.size})
		case useSeal:
			s.sealedAt(text, u.rule, end-u.size)
		case useShape:
			s.shaped = append(s.shaped, int32(end))
		case useElision:
			dst = s.elided(dst, text, end-u.size)
		case useKeyword:
			if len(u.exact) == u.size || hasFolded(text[end-u.size:], u.exact) {
				s.wake(u.rule)
				s.seen[u.rule] = true
				if s.r.rules[u.rule].within > 0 {
					s.starts[u.rule] = append(s.starts[u.rule], int32(end))
				}
			}
		case useValue:
			if start := end - len(u.exact); s.isExact(u, text, start, end) {
				dst = append(dst, hit{rule: u.rule, start: start, end: end, value: u.exact})
			}
		case useEmail:
			if start, end, ok := email(text, end-1); ok {
				dst = append(dst, hit{rule: s.r.email, start: start, end: end, value: string(text[start:end])})
			}
		case useHome:
			if start, end, ok := home(text, end-u.size, end,
				func(name []byte) bool { return s.known[string(name)] }); ok {
				name := string(text[start:end])
				s.known[name] = true
				s.learnName(name)
				dst = append(dst, hit{rule: s.r.home, start: start, end: end, value: name})
			}
		}
	}
	return dst
}

// hasFolded reports whether a text begins with a word in small letters, in any case.
func hasFolded(text []byte, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := range len(word) {
		if lower(text[i]) != word[i] {
			return false
		}
	}
	return true
}

// shortValue is the length of a value, in bytes, from which it is replaced within words too.
const shortValue = 8

// short reports whether a value of a rule is a word like others: a number or a name that only its
// first place makes a secret. Values that the user gives are none.
func (r *Redactor) short(rule int32, size int) bool { return rule != r.value && size < shortValue }

// isWhole reports whether text[start:end] is no part of a word.
func isWhole(text []byte, start, end int) bool {
	in := func(c byte) bool { return c == '_' || isAlnum(c) }
	return (start == 0 || !in(text[start-1])) && (end == len(text) || !in(text[end]))
}
