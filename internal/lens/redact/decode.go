package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"unicode/utf8"
)

// Lengths in bytes of texts in base64 or hex: the shortest that is decoded, the shortest line that
// the next one continues.
const (
	shortestCode = 24
	shortestLine = 60
)

// mostDecoded is how often what was decoded is decoded again.
const mostDecoded = 2

// The bits of codeKinds.
const (
	inBase    uint8 = 1 << iota // of base64, in both of its alphabets
	inBytes                     // of a list of bytes, see byteLists
	inSpelled                   // of such a list as a JSON string spells it
	inWords                     // of words in small letters
)

// codeKinds says of what encodings a character is. inCode has a 1 for those of base64.
var codeKinds, inCode = func() (kinds, code [256]uint8) {
	for c := range kinds {
		if inBase64(byte(c)) || c == '-' || c == '_' {
			kinds[c], code[c] = inBase, 1
		}
		if isHex(byte(c)) || bytes.IndexByte([]byte("xX,;: \t\r\n"), byte(c)) >= 0 {
			kinds[c] |= inBytes | inSpelled
		}
		if byte(c)-'a' < 26 || c == ' ' {
			kinds[c] |= inWords
		}
		if bytes.IndexByte([]byte(`\ntr`), byte(c)) >= 0 {
			kinds[c] |= inSpelled
		}
	}
	return kinds, code
}()

// kindsOf returns the bits that eight bytes have in common.
func kindsOf(b []byte) uint8 {
	_ = b[7]
	return codeKinds[b[0]] & codeKinds[b[1]] & codeKinds[b[2]] & codeKinds[b[3]] &
		codeKinds[b[4]] & codeKinds[b[5]] & codeKinds[b[6]] & codeKinds[b[7]]
}

// decoded adds what is in base64, hex or numbers of bytes, if there is text with a secret in it.
func (s *Scanner) decoded(dst []hit, text []byte) []hit {
	if s.depth == mostDecoded || s.r.known {
		return dst
	}
	listed, phrased := 0, 0                 // up to where lists of bytes and phrases were read
	for i := 0; i+8 <= len(text); i += 16 { // a code has all 8 bytes of one of these blocks at least
		b := text[i : i+8 : i+8]
		kinds := kindsOf(b)
		if kinds&inBytes != 0 && i >= listed && hasByteList(b) {
			if dst, listed = s.dump(dst, text, i); listed > i {
				i = max(i, (listed-8)&^15)
				continue
			}
			start, end := byteRange(text, i, inBytes)
			listed = end
			s.byteLists(text, start, end, func(plain []byte, start, end int) {
				dst = s.inBytes(dst, plain, text, hit{start: start, end: end})
			})
		}
		if kinds&inWords != 0 && i >= phrased && i%phraseStride == 0 {
			dst, phrased = s.phraseAt(dst, text, i)
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
		if marked(text, start+1) {
			start++
		}
		i = max(i, (end-8)&^15)
		if to := botToken(text, start, end); to > end {
			dst = append(dst, hit{rule: s.r.shaped, start: start, end: to, value: string(text[start:to])})
			continue
		}
		if n := len(dst); end-start >= shortestShape {
			dst = s.shapes(dst, text, start, end)
			if len(dst) == n && end-start < longestShape && !isAllHex(text[start:end]) {
				dst = s.split(dst, text, start, end)
			}
		}
		if n := end - start; (n == 64 || n == 70 || n == 76) && s.keyFile(text, start) {
			from, to := dataLines(text, start)
			dst = append(dst, hit{rule: s.r.key, start: from, end: to, value: string(text[from:to])})
			i = max(i, (to-8)&^15)
			continue
		}
		if end-start >= shortestLine && text[start] == '3' &&
			isPrivateDER(decode(bytes.Clone(text[start:min(end, start+2*keyLine)]))) {
			dst = append(dst, hit{rule: s.r.key, start: start, end: end, value: string(text[start:end])})
			continue
		}
		if end-start < shortestCode || !printable(text[start:end]) {
			continue
		}
		if bytes.HasPrefix(text[start:end], []byte("0x")) {
			start += 2
		}
		end = s.code(text, start, end)
		if plain := decode(s.encoded); plain != nil && isText(plain) {
			dst = s.inside(dst, plain, hit{start: start, end: end, value: string(text[start:end])})
		}
		i = max(i, (end-8)&^15)
	}
	return dst
}

// botToken returns where the token of a Discord bot ends that begins with the code text[start:end]: its number in
// base64, a time and a signature (discord.com/developers/docs/reference#authentication). It returns end if it is none.
func botToken(text []byte, start, end int) int {
	if n := end - start; n < 23 || n > 28 || end == len(text) || text[end] != '.' || text[start]-'M' > 2 {
		return end
	}
	if id := decode(bytes.Clone(text[start:end])); (len(id) < 17 || digits(id) < len(id)) &&
		!hasKinds(text[start:end], 3) {
		return end
	}
	to, dots := end, 0
	for to < len(text) && to-end < 64 && (isShape(text[to]) || text[to] == '.' && dots < 2) {
		if text[to] == '.' {
			dots++
		}
		to++
	}
	if dots < 2 || to-end < 30 {
		return end
	}
	return to
}

// code collects the lines of code that begin with text[start:end], and returns their end.
func (s *Scanner) code(text []byte, start, end int) int {
	s.encoded = append(s.encoded[:0], text[start:end]...)
	for end-start >= shortestLine {
		at, ok := joint(text, start, end)
		if !ok {
			break
		}
		next := at
		for next < len(text) && inCode[text[next]] != 0 {
			next++
		}
		if next == at || text[next-1] != '=' && !printable(text[at:next]) {
			break
		}
		s.encoded = append(s.encoded, text[at:next]...)
		start, end = at, next
	}
	return end
}

// printable reports whether the first characters of a code stand for text.
func printable(code []byte) bool {
	var to [9]byte
	code = bytes.TrimPrefix(code, []byte("0x"))
	n, err := hex.Decode(to[:], code[:min(len(code), 12)])
	if err != nil {
		n, _ = base64.RawStdEncoding.Decode(to[:],
			standard(append(make([]byte, 0, 12), code[:min(len(code)&^3, 12)]...)))
	}
	return n > 2 && isText(to[:n])
}

// standard replaces the characters that base64 has in URLs, in place.
func standard(code []byte) []byte {
	for i, c := range code {
		switch c {
		case '-':
			code[i] = '+'
		case '_':
			code[i] = '/'
		}
	}
	return code
}

// decode returns what a code stands for, nil if it is none.
func decode(code []byte) []byte {
	if len(code)&1 == 0 {
		plain := make([]byte, len(code)/2)
		if _, err := hex.Decode(plain, code); err == nil {
			return plain
		}
	}
	for len(code) > 0 && code[len(code)-1] == '=' {
		code = code[:len(code)-1]
	}
	if len(code)&3 == 1 {
		code = code[:len(code)-1] // it was cut
	}
	plain := make([]byte, len(code)*3/4)
	if _, err := base64.RawStdEncoding.Decode(plain, standard(code)); err != nil {
		return nil
	}
	return plain
}

// isPlainJSON reports whether a code stands for an object of JSON of words and numbers, and not for the
// header of a JWT.
func isPlainJSON(code []byte) bool {
	if bytes.IndexByte(code, '.') >= 0 {
		return false
	}
	plain := decode(bytes.Clone(code))
	if !json.Valid(plain) || bytes.Contains(plain, []byte(`"alg"`)) {
		return false
	}
	for i := 0; i < len(plain); i += judged {
		if m := madeOf(plain[i:min(len(plain), i+judged)]); 3*m.odd > m.letters+m.digits {
			return false
		}
	}
	return true
}

// isText reports whether data is text, whose last character may be cut.
func isText(data []byte) bool {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f ||
			r == utf8.RuneError && n == 1 && utf8.FullRune(data[i:]) {
			return false
		}
		i += n
	}
	return true
}

// inside adds whole, if plain, which it stands for, has secrets. They are also searched elsewhere.
func (s *Scanner) inside(dst []hit, plain []byte, whole hit) []hit {
	sealed := s.sealed
	s.depth, s.sealed = s.depth+1, nil
	hits := s.plain(nil, plain)
	s.depth, s.sealed = s.depth-1, sealed
	for _, h := range hits {
		if h.rule >= s.r.email || s.r.covered(plain, h.start, h.end) {
			continue
		}
		s.learn(h.rule, h.value)
		whole.rule = h.rule
		dst = append(dst, whole)
	}
	return dst
}

// dataURLs returns where the data of URLs is, whose characters are random by chance only. What it stands for is
// searched: a secret in it is all of it.
func dataURLs(text []byte) (all []cell) {
	for at := 0; len(all) < mostColumns; {
		n := bytes.Index(text[at:], []byte(";base64,"))
		if n < 0 {
			break
		}
		start := at + n + len(";base64,")
		for at = start; at < len(text) && (inCode[text[at]] != 0 || text[at] == '%'); at++ {
		}
		all = append(all, cell{start, at})
	}
	return all
}
