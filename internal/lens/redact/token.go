package redact

import (
	"bytes"
	"cmp"
	"regexp/syntax"
	"slices"
	"sync"
	"unicode/utf8"

	"ctxtool/internal/base/lazy"
)

// A prefixed is a kind of token that begins with a prefix, whole or cut short. A token ends with its set of
// characters, whatever precedes or follows it. A shorter one may continue after a line break or in another literal.
type prefixed struct {
	ID     string
	Prefix string
	Set    string // characters after the prefix, as in an expression
	Length int    // how many of them a whole one has, 0 if unknown
	Least  int    // how many are enough
	Word   bool   // no letter or digit precedes the prefix
	Is     string // an example
	Source string // documentation of the format
}

// cutShort is the id of kinds whose whole tokens a rule of gitleaks names.
const cutShort = "key-cut-short"

// longestToken is how many bytes are read after a prefix.
const longestToken = 4096

const (
	mostLong  = 1200 // bytes of a long token whose prefix is also in data in base64
	judged    = 128  // bytes of a text by which it is judged
	mostParts = 16   // in which a token continues
	minPart   = 8    // bytes of a part
)

// setOf returns the characters of a set, as in an expression.
func setOf(text string) *[256]bool {
	set, err := syntax.Parse("["+text+"]", syntax.Perl)
	if err != nil {
		panic(err) // it is a constant
	}
	in := new([256]bool)
	for i := 0; i < len(set.Rune); i += 2 {
		for c := set.Rune[i]; c <= set.Rune[i+1] && c < utf8.RuneSelf; c++ {
			in[c] = true
		}
	}
	return in
}

// prefixSets are the characters of prefixes, by their index.
var prefixSets = sync.OnceValue(func() (all []*[256]bool) {
	known := map[string]*[256]bool{}
	for _, k := range prefixes {
		if known[k.Set] == nil {
			known[k.Set] = setOf(k.Set)
		}
		all = append(all, known[k.Set])
	}
	return all
})

// run returns where the characters of a set end, from text[at] on, or dots follow.
func run(in *[256]bool, text []byte, at int) int {
	end := at
	for most := min(len(text), at+longestToken); end < most && in[text[end]] && (text[end] != '.' || end+1 == most ||
		text[end+1] != '.'); end++ {
	}
	for end > at && (text[end-1] == '.' || text[end-1] == '-' && end < len(text)) {
		end-- // the end of a sentence, or a dash
	}
	return end
}

// A place is a word of a token or key that was found in a text.
type foundUse struct {
	use *use
	at  int // where the word begins
}

// tokens adds the tokens and keys whose words were found, from left to right.
func (s *Scanner) tokens(dst []hit, text []byte) []hit {
	slices.SortFunc(s.queue, func(a, b foundUse) int { return cmp.Or(a.at-b.at, int(b.use.kind)-int(a.use.kind)) })
	found, done := 0, 0 // the end of the last token, and of what was searched for keys
	for k := range s.ends {
		s.ends[k] = 0
	}
	for _, f := range s.queue {
		if n := len(dst); f.use.kind != useToken {
			dst, done = s.keyLines(dst, text, f, done)
		} else if f.at >= found {
			if dst = s.token(dst, text, f.use.rule, f.at); len(dst) > n {
				found = dst[len(dst)-1].end
			}
		}
	}
	return dst
}

// token adds a token that begins at text[start], and the parts in which it continues.
func (s *Scanner) token(dst []hit, text []byte, n int32, start int) []hit {
	k, in := &s.r.tokens[n], s.r.sets[n]
	at := start + len(k.Prefix)
	if !bytes.HasPrefix(text[start:], []byte(k.Prefix)) || k.Word && start > 0 && (isAlnum(text[start-1]) ||
		text[start-1] == '_' && k.Set == alnum) {
		return dst
	}
	if s.ends[n] <= at {
		s.ends[n] = run(in, text, at)
		s.read += s.ends[n] - at
	}
	end := s.ends[n]
	rest, have := s.rest(in, text, start, at, end, k)
	if have < k.Least {
		return dst
	}
	if k.Least >= 40 && (end-at > mostLong || start > 0 && (text[start-1] == '/' || text[start-1] == '+')) {
		return dst // data in base64
	}
	complete, head := have == k.Length, text[at:min(end, at+judged)]
	for _, part := range rest {
		if len(head) >= 2*minPart {
			break
		}
		s.encoded = append(append(s.encoded[:0], head...), text[part.start:min(part.end, part.start+judged)]...)
		head = s.encoded
	}
	kind := int(n) << 1
	if complete {
		kind++
	}
	if !(complete && checked62(k.Prefix, text[at:end])) &&
		s.judged(len(s.r.rules)+kind, 0, head, func() bool { return !k.secret(head, complete) }) {
		return dst
	}
	if k.ID == "jwt" && isPlainJSON(text[start:end]) {
		return dst
	}
	dst = append(dst, hit{rule: s.r.ofKind[n], start: start, end: end, value: string(text[start:end])})
	for _, part := range rest {
		dst = append(dst, hit{rule: s.r.ofKind[n], start: part.start, end: part.end,
			value: string(text[part.start:part.end])})
	}
	return dst
}

// mostRest is how many bytes of the parts are read in which a token continues.
const mostRest = 1024

// rest returns the parts in which the token text[start:end] continues, and how many characters follow its prefix in all
// parts. They are valid until the next call.
func (s *Scanner) rest(in *[256]bool, text []byte, start, at, end int, k *prefixed) (parts []cell, have int) {
	parts, have = s.parted[:0], end-at
	width, read := end-start, 0
	if have < minPart/2 && !isQuote(byteAt(text, end)) {
		return parts, have
	}
	for len(parts) < mostParts && read < mostRest && (k.Length == 0 || have < k.Length) {
		from, ok := joint(text, start, end)
		if !ok {
			break
		}
		to := run(in, text, from)
		read += to - from
		again := k.Set != dotted && bytes.HasPrefix(text[from:], []byte(k.Prefix))
		if last := have+to-from == k.Length; to == from || again ||
			!last && (to-from < minPart || !isPart(text[from:to], width)) {
			break
		}
		parts = append(parts, cell{from, to})
		have, width, start, end = have+to-from, to-from, from, to
	}
	s.read += read
	s.parted = parts
	return parts, have
}

// secret reports whether the head of what follows a prefix is not a placeholder or a name. That of a
// complete token may be made of words by chance.
func (k *prefixed) secret(head []byte, complete bool) bool {
	m := madeOf(head)
	share := 4
	if k.Word { // words such as task- end like the prefix
		share = 2
	}
	if k.Word && !complete && k.Set == alnum && len(head) > 16 &&
		!slices.ContainsFunc(head, func(c byte) bool { return c-'A' < 26 }) {
		return false // an id of small letters, one of which the prefix is
	}
	return (m.odd >= 3 && share*m.odd >= m.letters+m.digits || complete && m.odd > 0) && !repeats(head) &&
		!harmlessValues.allows(head, nil, nil)
}

// repeats reports whether a text consists of few characters.
func repeats(text []byte) bool {
	most := 1.8
	if len(text) < 8 {
		most = 1
	}
	return entropy(text[:min(len(text), judged)]) < most
}

// A makeup is what a text is made of.
type makeup struct {
	letters, digits int
	odd             int // letters that are not part of words, and digits
	changes         int // from letters to digits and back
	signs           int // characters that names do not have
}

// random reports whether a text is neither a name nor made of words, numbers and dates.
func (m makeup) random() bool {
	if m.digits == 0 && m.signs == 0 {
		return m.odd >= 8 && 4*m.odd >= 3*m.letters
	}
	return m.letters > 0 && m.odd >= 6 && 2*m.odd >= m.letters+m.digits && (m.changes > 1 || m.odd-m.digits > 4)
}

// chosen reports whether a text could be a password that a person chose.
func (m makeup) chosen() bool {
	return m.odd >= 2 && 4*m.odd >= m.letters+m.digits && (m.letters > 0 || m.digits > 7) || m.signs > 1 && m.odd > 1
}

// madeOf returns what a text is made of. Letters are a word if most of their pairs are common.
func madeOf(text []byte) (m makeup) {
	for i := 0; i < len(text); {
		c := text[i]
		if i > 0 && (isAlpha(c) && text[i-1]-'0' < 10 || c-'0' < 10 && isAlpha(text[i-1])) {
			m.changes++
		}
		switch {
		case isAlpha(c):
			end, alike := i+1, 0
			for ; end < len(text) && isAlpha(text[end]) && (text[end] >= 'a' || text[end-1] < 'a'); end++ {
				if end+1 < len(text) && text[end] < 'a' && text[end+1] >= 'a' && isAlpha(text[end+1]) {
					break // the next word begins after an acronym
				}
				if common[text[end-1]|0x20-'a'][text[end]|0x20-'a'] {
					alike++
				}
			}
			m.letters += end - i
			if n := end - i - 1; n < 2 || n < 5 && 4*alike < 3*n || 20*alike < 13*n {
				m.odd += end - i
			}
			i = end
			continue
		case c-'0' < 10:
			m.digits++
			m.odd++
		case c >= 0x80 || c != '_' && c != '-' && c != '.' && c != '/' && c != ' ':
			m.signs++
		}
		i++
	}
	return m
}

func isAlpha(c byte) bool { return c|0x20-'a' < 26 }

// followers are, by letter from a on, the letters that follow it in words: the pairs that are 95% of
// all in the words of Go's source and this project's documents.
var followers = [26]string{
	"bcdfgiklmnprstuvxy", "abceijlorsuy", "aceghiklmnoprstuvy", "acdegilorsuxy", "abcdefgilmnopqrstvwxy",
	"acdefilmoprstuy", "aceghinoprstuy", "aeiortuy", "abcdefglmnoprstvxz", "aeosu", "aeinosy", "acdefilostuy",
	"abdeilmopstuy", "acdefgiklmnopstuvy", "abcdfgiklmnoprstuvw", "acdehilmoprstuy", "u", "acdefgiklmnoprstuvy",
	"acdeghiklmoprstuwy", "acdefhilmoprstuxy", "abcdefgilmnprstx", "acdefilmopst", "aehinors", "abcefipt",
	"aelmnopstw", "e",
}

// common are the pairs of followers.
var common = func() (t [26][26]bool) {
	for a, row := range followers {
		for _, b := range row {
			t[a][b-'a'] = true
		}
	}
	return t
}()

// A judge decides whether what an expression captures is a secret.
type judge uint8

const (
	judgeNone   judge = iota // what the expression captures is a secret
	judgeChosen              // it may be a password that a person chose
	judgeDigest              // it is not made of words
	judgeRandom              // it is neither a name nor made of words, numbers and dates
)

// secret reports whether a text is a secret.
func (j judge) secret(text []byte) bool {
	m := madeOf(text[:min(len(text), judged)])
	switch j {
	case judgeChosen:
		head := text[:min(len(text), judged)]
		return (m.chosen() || hasKinds(head, 4) || human(head) && m.digits > 1 || isWords(head, 3)) && !repeats(text)
	case judgeDigest:
		return m.odd > 7
	case judgeRandom:
		return m.random() && !repeats(text)
	}
	return true
}

var digest = lazy.Regexp(`(?i)^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|` +
	`(?:.*[-:/_.])?(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})\W*)$`)
