package redact

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"ctxtool/sessionfmt/jsonl"
)

// This file decides which strings of a line need no search of what their escapes stand for. Most strings have only
// escapes that cannot be part of a word, such as line breaks: what the automaton does not find in them as they are
// spelled, it would not find without the escapes either.

// worth reports whether a string of JSON, as it is spelled, may have a secret. It notes the words that may be part of
// one. The string begins at an offset of the line, below 0 if the words of the line are not those of the string.
func (s *Scanner) worth(text []byte, at int) bool {
	s.spots, s.coded = s.spots[:0], true
	if s.spotted = s.r.spelled && s.quoted <= 0 && s.simple(text); !s.spotted {
		return true
	}
	found := false
	note := func(word int32, end int) {
		kept := false
		for k := range s.r.uses[word] {
			u := &s.r.uses[word][k]
			if s.may(u, text, end) {
				kept = true
				found = found || u.kind != useSeal && (u.kind != useAnchor && u.kind != useKeyword || s.half(u))
			}
		}
		if kept {
			s.spots = append(s.spots, spot{word, int32(end)})
		}
	}
	if at < 0 || !s.lineWords.in(at, at+len(text), func(word int32, end int) {
		if end -= at; end >= s.r.uses[word][0].size {
			note(word, end)
		}
	}) {
		s.r.words.each(text, note)
	}
	for _, k := range s.halves {
		s.parts[k] = 0
	}
	s.halves = s.halves[:0]
	s.coded = !s.r.known && s.hasCode(text)
	return found || s.coded || s.r.parts != nil && len(s.r.parts.find(nil, text)) > 0
}

// wordsNoted is words for the view of a string of JSON, of which worth has noted the words as they are spelled.
func (s *Scanner) wordsNoted(dst []hit, v *view, text []byte) []hit {
	slices.SortFunc(s.spots, func(a, b spot) int { return int(a.end - b.end) })
	at, less := 0, 0 // what was read of the text, and how much shorter the view is up to there
	kept := s.spots[:0]
	for _, noted := range s.spots {
		size, end := s.r.uses[noted.word][0].size, int(noted.end)
		for at < end {
			k := bytes.IndexByte(text[at:end], '\\')
			if k < 0 {
				at = end
				break
			}
			at += k
			n := escapeLen(text[at:])
			less += n
			if n == 2 {
				less--
			} else {
				s.join = jsonl.AppendUnescaped(s.join[:0], text[at:at+n])
				less -= len(s.join)
			}
			at += n
		}
		// the word may begin with the letter of an escape
		if to := at - less; to >= size && bytes.Equal(v.text[to-size:to], text[end-size:end]) {
			dst = s.use(dst, v.text, noted.word, to)
			kept = append(kept, spot{noted.word, int32(to)})
		}
	}
	s.spots = kept
	return dst
}

// escapeLen returns the length of the escape of JSON at the start of b, of two that stand for one character together.
func escapeLen(b []byte) int {
	switch {
	case b[1] != 'u':
		return 2
	case len(b) >= 12 && b[2]|0x20 == 'd' && bytes.IndexByte([]byte("89abAB"), b[3]) >= 0 &&
		b[6] == '\\' && b[7] == 'u':
		return 12
	}
	return 6
}

// What worth has found of a rule: one of its anchors, one of its keywords.
const (
	anchored = 1 << iota
	keyed
)

// half notes an anchor or a keyword of a rule, and reports whether the rule needs no more than what was noted.
func (s *Scanner) half(u *use) bool {
	if r := s.r.rules[u.rule]; r.anchors == nil || !r.gated {
		return true
	}
	if s.parts[u.rule] == 0 {
		s.halves = append(s.halves, u.rule)
	}
	if u.kind == useAnchor {
		s.parts[u.rule] |= anchored
	} else {
		s.parts[u.rule] |= keyed
	}
	return s.parts[u.rule] == anchored|keyed
}

// simple reports whether no escape of a string of JSON, nor one within, makes a word with what is around it. It notes
// whether there may be escapes within.
func (s *Scanner) simple(text []byte) bool {
	s.layered = false
	last, terminal, long := 0, false, s.r.words.long
	s.join = s.join[:0] // what is before an escape, with earlier ones resolved
	for i := inString.Index(text, 0); i < len(text); i = inString.Index(text, i) {
		start, n, r := i, 0, rune(-1)
		if text[i] != '\\' {
			n, r = unit(text[i:], anySpelling)
			s.layered = s.layered || n > 0
		} else {
			s.layered = true
			for i+1 < len(text) && text[i+1] == '\\' {
				i++
			}
			n, r = escape(text, start, i)
			start = i
		}
		switch {
		case n == 0:
			i++
			continue
		case n < 0 || terminal && start-last < long ||
			r >= 0 && r < utf8.RuneSelf && (special[r] != 0 || isAlnum(byte(r))):
			return false
		}
		if start-last >= long {
			s.join, last = s.join[:0], start-long
		}
		s.join = append(s.join, text[last:start]...)
		s.join = append(s.join[:0], s.join[max(0, len(s.join)-long):]...)
		terminal = start+1 < len(text) && text[start+1] == 'e'
		if r >= 0 {
			s.join = utf8.AppendRune(s.join, r)
		}
		i = start + n
		if s.joins(text[i:min(len(text), i+1+long)], r >= 0) {
			return false
		}
		last = i
	}
	return true
}

// escape returns the length of the escape that text[start:at+1], backslashes, and what follows them are, from the last
// backslash on, and its character, -1 for none. The length is 0 if it can make no word, and negative if that is not
// known.
func escape(text []byte, start, at int) (n int, r rune) {
	if at+1 == len(text) {
		return 0, 0
	}
	switch c := text[at+1]; {
	case c == 'n' || c == 't' || c == 'r' || c == '"':
		return 0, 0
	case c == 'u' && (at-start)&1 == 0:
		switch r, ok := jsonHex(text[at:]); {
		case ok && invisible(r):
			return 6, -1
		case !ok || r < ' ' || r < utf8.RuneSelf && isAlnum(byte(r)):
			return -1, 0
		case r >= 0xd800 && r < 0xe000: // no word has a character beyond the first 65,536
			return 0, 0
		default:
			return 6, r
		}
	case c == 'u':
		if at+3 < len(text) && (isHex(text[at+2]) && isHex(text[at+3]) || text[at+2] == '{') {
			return -1, 0
		}
		return 0, 0
	case c == 'e':
		if at+2 < len(text) && (text[at+2] == '\\' || bytes.IndexByte([]byte("[]P^_"), text[at+2]) >= 0) {
			return -1, 0
		}
		return 2, -1
	case c == 'b' || c == 'f':
		return 2, -1
	case c == '/' || c == '\'' || c == '`':
		return 2, rune(c)
	case c == 'x' || c-'0' < 4:
		if n, _ := backslash(text[at:], anySpelling); n == 0 {
			return 0, 0
		}
		return -1, 0
	}
	return 0, 0
}

// joins reports whether a word begins in what is before the end of an escape and ends after it, or with the escape if
// that is a character. An escape of terminals may also swallow the next character.
func (s *Scanner) joins(after []byte, character bool) (found bool) {
	words, at := s.r.words, len(s.join)
	for skip := range 2 {
		if !words.continues(s.join, after, skip) && !(character && at > 0 && words.class[s.join[at-1]] != 0) {
			continue
		}
		words.from(append(s.join, after[min(skip, len(after)):]...), 0, 0, func(word int32, end int) {
			found = found || end > at && end-s.r.uses[word][0].size < at || end == at && character
		})
	}
	return found
}

// hasCode reports whether a string of JSON, as it is spelled, has characters of base64 or hex or numbers of bytes in a
// row that could be decoded, or be a token.
func (s *Scanner) hasCode(text []byte) bool {
	listed := 0 // up to where lists of bytes were read
	for i := 0; i+8 <= len(text); i += 16 {
		b := text[i : i+8 : i+8]
		kinds := kindsOf(b)
		if kinds&inSpelled != 0 && i >= listed && hasByteList(b) {
			start, end := byteRange(text, i, inSpelled)
			found := false
			listed = end
			s.byteLists(text, start, end, func([]byte, int, int) { found = true })
			if found || end-start >= len("0000 0000 0000 0000") && hasQuads(text[start:end]) {
				return true
			}
		}
		if kinds&inWords != 0 && i%phraseStride == 0 && mayPhrase(text, i) {
			return true
		}
		if kinds&inBase == 0 {
			continue
		}
		start, end := i, i+8
		for start > 0 && inCode[text[start-1]] != 0 {
			start--
		}
		for end < len(text) && inCode[text[end]] != 0 {
			end++
		}
		if s.isCode(text, start, end) || start > 0 && text[start-1] == '\\' &&
			s.isCode(text, start+min(end-start, escapeLen(text[start-1:])-1), end) {
			return true
		}
		i = max(i, (end-8)&^15)
	}
	return false
}

// hasQuads reports whether a text has four numbers of four hex digits in a row, as a dump of xxd does.
func hasQuads(text []byte) bool {
	quads := 0
	for word := range bytes.FieldsSeq(text) {
		if quads++; len(word) != 4 || hexRun(word) != 4 {
			quads = 0
		}
		if quads == 4 {
			return true
		}
	}
	return false
}

// isCode is hasCode for text[start:end], which are characters of base64.
func (s *Scanner) isCode(text []byte, start, end int) bool {
	switch n := end - start; {
	case n < shortestShape:
		return false
	case n >= shortestLine || n >= shortestCode && printable(text[start:end]) || botToken(text, start, end) > end:
		return true
	}
	for at := start; end-at >= shortestShape; {
		to := at
		for to < end && isShape(text[to]) {
			to++
		}
		if to-at >= shortestShape && (len(s.shapes(nil, text, at, to)) > 0 || splits(text, at, to) ||
			continues(text, at)) {
			return true
		}
		at = to + 1
	}
	return false
}

// splits reports whether text[start:end] may be the first part of a token that continues after an escape.
func splits(text []byte, start, end int) bool {
	if _, is := prefixOf(bytes.TrimLeft(text[start:end], "-_")); is == noPrefix {
		return false
	}
	for n := end; n < len(text) && n-end < 2*longestJoint; {
		if text[n] == '\\' {
			n += 2
			continue
		}
		to := n
		for to < len(text) && isShape(text[to]) {
			to++
		}
		if to-n >= minPart && madeOf(text[n:min(to, n+judged)]).random() {
			return true
		}
		if to-n > digits(text[n:to]) {
			return false
		}
		n = max(to, n+1)
	}
	return false
}

// continues reports whether text[start:] may be the second part of a token, whose first part ends before an escape.
func continues(text []byte, start int) bool {
	escaped := false
	for n := start; n > 0 && start-n < 2*longestJoint; {
		end := n
		for n > 0 && isShape(text[n-1]) && end-n < longestShape {
			n--
		}
		if n > 0 && text[n-1] == '\\' && end > n { // its first character is of the escape
			escaped = true
			n++
		}
		if end-n >= minPart && escaped {
			_, is := prefixOf(bytes.TrimLeft(text[n:end], "-_"))
			return is != noPrefix
		}
		if end-n > digits(text[n:end]) {
			return false
		}
		n--
	}
	return false
}

// quotedLine reports whether a line has a sign of quoted-printable, see quotedSigns.
func quotedLine(line []byte) bool {
	for i := 0; ; i++ {
		n := bytes.IndexByte(line[i:], '=')
		if n < 0 {
			return false
		}
		i += n
		for _, sign := range quotedSigns {
			if bytes.HasPrefix(line[i:], []byte(sign)) {
				return true
			}
		}
	}
}
