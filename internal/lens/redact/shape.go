package redact

import (
	"bytes"
)

// This file is the general rule for tokens of providers that no rule names: a short prefix, a sign, and characters
// that look random. What is random there may also be an id, so it depends on the prefix how much is needed.

// Limits of such a token, in bytes.
const (
	shortestShape = 20  // prefix and all
	longestShape  = 300 // longer ones are data
	longestWord   = 12  // of the prefix
)

// shapes adds the tokens in text[start:end], which are characters of base64, also with the signs of URLs.
func (s *Scanner) shapes(dst []hit, text []byte, start, end int) []hit {
	for at := start; end-at >= shortestShape; {
		to, signs := at, 0
		for ; to < end && isShape(text[to]); to++ {
			if !isAlnum(text[to]) && to-at < 2*longestWord {
				signs++
			}
		}
		if to-at >= shortestForm {
			if from, till, ok := formAt(text, at, to); ok {
				dst = append(dst, hit{rule: s.r.shaped, start: from, end: till, value: string(text[from:till])})
				at = max(to, till) + 1
				continue
			}
		}
		if signs > 0 && to-at >= shortestShape && to-at <= longestShape {
			n := len(dst)
			if dst = s.shape(dst, text, at, to); len(dst) > n {
				to = max(to, dst[len(dst)-1].end)
			}
		}
		at = to + 1
	}
	return dst
}

// isShape reports whether a token of an unknown kind has the character.
func isShape(c byte) bool { return isAlnum(c) || c == '-' || c == '_' }

// shape adds the token that text[start:end] may be, and the parts in which it continues.
func (s *Scanner) shape(dst []hit, text []byte, start, end int) []hit {
	for start < end && !isAlnum(text[start]) {
		start++
	}
	for end > start && !isAlnum(text[end-1]) {
		end--
	}
	s.read += end - start
	at, is := prefixOf(text[start:end])
	if is == noPrefix || end-start-at < minPart ||
		isUUID(text[end-min(36, end-start):end]) && !hasSecretWord(text[start:end]) {
		return dst
	}
	body := text[start+at : end]
	if from, ok := joint(text, start, end); ok && !isBody(body, is) { // it may be split
		to := from
		for to < len(text) && to-from < longestShape && isShape(text[to]) {
			to++
		}
		s.read += to - from
		if to-from >= minPart && madeOf(text[from:min(to, from+judged)]).random() {
			body = append(append(s.encoded[:0], body...), text[from:to]...)
		}
	}
	if !isBody(body, is) {
		return dst
	}
	for end < len(text) && bytes.IndexByte([]byte("+/="), text[end]) >= 0 && end-start < longestShape {
		to := end + 1
		for to < len(text) && to-end < longestShape && isShape(text[to]) {
			to++
		}
		if to-end > 1 && to-end <= minPart || to-end > minPart && !madeOf(text[end:min(to, end+judged)]).random() {
			break
		}
		end = to
	}
	dst = append(dst, hit{rule: s.r.shaped, start: start, end: end, value: string(text[start:end])})
	for range mostParts {
		from, ok := joint(text, start, end)
		if !ok {
			break
		}
		to := from
		for to < len(text) && to-from < longestShape && isShape(text[to]) {
			to++
		}
		if to-from < minPart || !madeOf(text[from:min(to, from+judged)]).random() {
			break
		}
		dst = append(dst, hit{rule: s.r.shaped, start: from, end: to, value: string(text[from:to])})
		start, end = from, to
	}
	return dst
}

// elided adds the token that breaks off at text[end], before a sign that a part is left out.
func (s *Scanner) elided(dst []hit, text []byte, end int) []hit {
	start, ok := elidedToken(text, end)
	s.read += end - start
	if !ok {
		return dst
	}
	return append(dst, hit{rule: s.r.shaped, start: start, end: end, value: string(text[start:end])})
}

// elidedToken returns where a token begins that breaks off at text[end].
func elidedToken(text []byte, end int) (start int, ok bool) {
	for start = end; start > 0 && end-start < longestShape && isShape(text[start-1]); start-- {
	}
	if end-start < shortestForm/2 || end-start == longestShape {
		return start, false
	}
	at, is := prefixOf(text[start:end])
	v := text[start+at : end]
	if is == noPrefix || len(v) < minPart || len(v) < 2*minPart && is == somePrefix && isAllHex(v) || repeats(v) {
		return start, false
	}
	m := madeOf(v)
	return start, m.digits > 0 && m.letters > 1 && 2*m.odd >= m.letters+m.digits && (m.changes > 1 || isJumbled(v))
}

// split adds the token whose last part is text[start:end], and whose first part ends before it.
func (s *Scanner) split(dst []hit, text []byte, start, end int) []hit {
	to := start
	for to > 0 && start-to < longestJoint && !isAlnum(text[to-1]) {
		to--
	}
	from := to
	for from > 0 && to-from < longestShape && isShape(text[from-1]) {
		from--
	}
	s.read += start - from
	if to == start || to-from < minPart {
		return dst
	}
	if next, ok := joint(text, from, to); !ok || next != start {
		return dst
	}
	if n := bytes.IndexAny(text[start:min(end, start+longestWord)], "_-"); n > 0 &&
		idPrefixes[string(lowered(text[start:start+n]))] {
		return dst // an id
	}
	at, is := prefixOf(text[from:to])
	if is == noPrefix || to-from-at < minPart/2 || madeOf(text[from+at:to]).odd < 3 {
		return dst
	}
	s.encoded = append(append(s.encoded[:0], text[from+at:to]...), text[start:end]...)
	if !isBody(s.encoded, is) {
		return dst
	}
	return append(dst, hit{rule: s.r.shaped, start: from, end: to, value: string(text[from:to])},
		hit{rule: s.r.shaped, start: start, end: end, value: string(text[start:end])})
}

// hasSecretWord reports whether the prefix of a token that ends in a UUID shows that it is no id.
func hasSecretWord(v []byte) bool {
	for word := range bytes.FieldsFuncSeq(v[:len(v)-36], func(r rune) bool { return r == '-' || r == '_' }) {
		if low := string(lowered(word)); roleOf(word)&(isSecret|isKeyWord|isPassword) != 0 || low == "sk" || low == "ak" ||
			low == "sec" || low == "tok" || low == "rk" {
			return true
		}
	}
	return false
}

// shapeAt adds the token around a word of shapeWords, which ends at text[end].
func (s *Scanner) shapeAt(dst []hit, text []byte, end int) []hit {
	to := end
	for to < len(text) && to-end < longestShape && isShape(text[to]) {
		to++
	}
	if to-end < minPart || to-end >= longestShape {
		return dst
	}
	start := end
	for start > 0 && end-start < 2*longestWord && isShape(text[start-1]) {
		start--
	}
	if end-start == 2*longestWord {
		return dst
	}
	return s.shape(dst, text, start, to)
}

// A prefixKind is what the prefix of a token says about it.
type prefixKind uint8

const (
	noPrefix    prefixKind = iota
	somePrefix             // of an unknown kind
	tokenPrefix            // it has a word of tokenPrefixes
)

// prefixOf returns the length of the prefix of a token with its sign.
func prefixOf(v []byte) (at int, is prefixKind) {
	for parts := 0; parts < 4; parts++ {
		n := at
		for n < len(v) && n-at <= longestWord && isAlnum(v[n]) {
			n++
		}
		if n == len(v) || n == at || n == 1 || v[n] != '_' && v[n] != '-' || !isAlpha(v[at]) && parts == 0 {
			break
		}
		word := v[at:n]
		m := madeOf(word)
		if m.digits > 2 || m.letters == 0 && parts == 0 || m.letters > 0 && m.digits > 0 && m.changes > 2 {
			break // the body
		}
		random, digest := len(word) > 8 && m.odd > 6, bytes.HasPrefix(word, []byte("sha"))
		if isMixed(word) || m.digits > 0 && (random || digest) {
			break
		}
		var known [longestWord + 1]byte
		low := known[:copy(known[:], word)]
		for k, c := range low {
			low[k] = lower(c)
		}
		switch {
		case idPrefixes[string(low)] && parts == 0, publicParts[string(low)]:
			return 0, noPrefix
		case tokenPrefixes[string(low)], bytes.HasSuffix(low, []byte("key")), bytes.HasSuffix(low, []byte("token")),
			bytes.HasSuffix(low, []byte("pat")):
			is = tokenPrefix
		case is == noPrefix:
			is = somePrefix
		}
		at = n + 1
		for at < len(v) && (v[at] == '_' || v[at] == '-') {
			at++
		}
	}
	return at, is
}

// publicParts are words in prefixes of keys that are public.
var publicParts = wordSet("pk pub public publishable")

// isMixed reports whether a word has small letters and capital ones beside its first.
func isMixed(word []byte) bool {
	lowers, uppers := 0, 0
	for _, c := range word[1:] {
		if c-'a' < 26 {
			lowers++
		} else if c-'A' < 26 {
			uppers++
		}
	}
	return uppers > 0 && (lowers > 0 || word[0]-'a' < 26)
}

// isBody reports whether what follows a prefix is random enough for a token.
func isBody(v []byte, is prefixKind) bool {
	if len(v) < 12 {
		return false
	}
	head := v[:min(len(v), judged)]
	m := madeOf(head)
	if m.letters < 2 || 2*m.odd < m.letters+m.digits || repeats(v) ||
		(m.digits < 2 || m.changes < 3) && !(len(v) >= shortestShape && isJumbled(head) && 4*m.odd >= 3*m.letters) {
		return false
	}
	var uppers, lowers, hex int
	for _, c := range v {
		if c-'A' < 26 {
			uppers++
		} else if c-'a' < 26 {
			lowers++
		}
		if isHex(c) || c == '-' || c == '_' {
			hex++
		}
	}
	found := false
	stopWords().from(v, 0, 0, func(int32, int) { found = true })
	if found {
		return false
	}
	mixed := uppers > 1 && lowers > 1
	switch {
	case is == tokenPrefix && hex == len(v):
		return len(v) >= 24
	case is == tokenPrefix:
		return len(v) >= 14 && (mixed || len(v) >= 20)
	case hex == len(v):
		return false
	case mixed:
		return len(v) >= 30
	}
	return len(v) >= 36
}
