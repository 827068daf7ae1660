package redact

import "bytes"

// This file reads dumps of bytes as xxd, hexdump -C and od print them: rows of an offset, bytes in hex, and mostly the
// characters that they stand for. What a dump shows is searched as a text; a secret in it is taken out of both columns.

// Limits of a dump.
const (
	mostDumped   = 1 << 16 // bytes that its rows show
	mostInRow    = 64
	longestOrder = 80 // bytes before the offset of a row, such as the number of a line
)

// A dumped is a byte in a dump, with its position there.
type dumped struct {
	hex  int // where its two digits begin
	char int // where its character is, 0 for nowhere
}

// dump adds the secrets in the rows of a dump, of which text[at:] is in the first one. It returns where they end, and
// at if there is no dump.
func (s *Scanner) dump(dst []hit, text []byte, at int) ([]hit, int) {
	start, end := lineAround(text, at)
	first, row := dumpRow(text, start, end)
	if first == nil {
		return dst, at
	}
	plain, from := []byte(nil), []dumped(nil)
	for len(row) > 0 && len(plain) < mostDumped {
		plain, from = append(plain, first...), append(from, row...)
		at = end
		if end >= len(text) || len(row) < 4 {
			break
		}
		start = end + 1
		_, end = lineAround(text, start)
		first, row = dumpRow(text, start, end)
	}
	s.read += len(plain)
	if s.depth == mostDecoded {
		return dst, at
	}
	s.depth++
	hits := s.settle(plain, s.plain(nil, plain))
	s.depth--
	for _, h := range hits {
		if h.rule >= s.r.email {
			continue
		}
		for i := h.start; i < h.end; {
			k := i + 1
			for k < h.end && from[k].hex > from[k-1].hex && from[k].hex-from[k-1].hex < 5 {
				k++
			}
			dst = append(dst, hit{rule: h.rule, start: from[i].hex, end: from[k-1].hex + 2, value: h.value})
			if from[i].char > 0 {
				dst = append(dst, hit{rule: h.rule, start: from[i].char, end: from[k-1].char + 1, value: h.value})
			}
			i = k
		}
	}
	return dst, at
}

// dumpRow returns the bytes of a row of a dump, which is the line text[start:end], and where it shows them.
func dumpRow(text []byte, start, end int) (plain []byte, from []dumped) {
	i := start
	for most := min(end, start+longestOrder); ; i++ { // what precedes the offset
		if i >= most {
			return nil, nil
		}
		if n := hexRun(text[i:end]); n >= 6 && n <= 16 && (i == start || !isAlnum(text[i-1])) {
			i += n
			break
		} else if n > 0 {
			i += n - 1
		}
	}
	if i < end && text[i] == ':' {
		i++
	}
	if i >= end || text[i] != ' ' {
		return nil, nil
	}
	for gap := 0; i < end && len(from) < mostInRow; {
		if text[i] == ' ' {
			if gap++; gap > 2 && len(from) > 0 {
				break
			}
			i++
			continue
		}
		n := hexRun(text[i:end])
		if n != 2 && n != 4 && n != 8 || i+n < end && text[i+n] != ' ' || gap > 1 && len(from) > 0 && n != 2 {
			break
		}
		for k := i; k < i+n; k += 2 {
			c, _ := hexRune(text[k : k+2])
			plain, from = append(plain, byte(c)), append(from, dumped{hex: k})
		}
		i, gap = i+n, 0
	}
	if len(from) == 0 {
		return nil, nil
	}
	chars := bytes.TrimLeft(text[i:end], " ")
	at := end - len(chars)
	if len(chars) > 0 && (chars[0] == '|' || chars[0] == '>') && len(chars) > len(from) {
		chars, at = chars[1:], at+1
	}
	if len(chars) < len(from) {
		return plain, from
	}
	for k, c := range plain {
		if shown := chars[k]; shown != c && shown != '.' {
			return plain, from // not the characters
		}
	}
	for k := range from {
		from[k].char = at + k
	}
	return plain, from
}

// hexRun returns how many hex digits a text begins with.
func hexRun(b []byte) (n int) {
	for n < len(b) && isHex(b[n]) {
		n++
	}
	return n
}
