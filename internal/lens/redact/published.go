package redact

import (
	"bytes"
	"slices"
	"sort"
	"strings"
)

// This file tells what is published on purpose from secrets: encrypted values, publishable keys, fields of public keys.

// shortestSealed is the length of the shortest encrypted value in base64, and longestSealed of the longest that is
// looked for, in bytes.
const (
	shortestSealed = 40
	longestSealed  = 4096
)

// sealedAt notes the encrypted value after what opens it, which begins at text[at].
func (s *Scanner) sealedAt(text []byte, n int32, at int) {
	k := &seals[n]
	if !bytes.HasPrefix(text[at:], []byte(k.open)) || at > 0 && isAlnum(k.open[0]) && isAlnum(text[at-1]) {
		return
	}
	if n := len(s.sealed); n > 0 && at < s.sealed[n-1].end && at >= s.sealed[n-1].start {
		return
	}
	from := at + len(k.open)
	rest := text[from:min(len(text), from+longestSealed)]
	end := 0
	switch k.end {
	case "":
		for end < len(rest) && (rest[end] == ' ' || isQuote(rest[end])) {
			end++
		}
		for end < len(rest) && inBase64(rest[end]) {
			end++
		}
		if end < shortestSealed {
			return
		}
	case sealedLines:
		end = hexLines(rest)
	default:
		if end = bytes.Index(rest, []byte(k.end)); end < 0 {
			end = len(rest)
		}
	}
	s.read += end
	s.sealed = append(s.sealed, cell{at, from + end})
}

// hexLines returns where lines of hex end, after the rest of the first line. There may be signs before them.
func hexLines(v []byte) int {
	n := bytes.IndexByte(v, '\n')
	for i := max(n, 0); i < len(v); i++ {
		if c := v[i]; isAlnum(c) && !isHex(c) || c == ':' || c == '=' || c == '_' {
			return i
		}
	}
	return len(v)
}

// unpublished drops from the hits in text, which are those from one on, what is meant to be seen by everybody.
func (s *Scanner) unpublished(hits []hit, from int, text []byte) []hit {
	out := hits[:from]
	for _, h := range hits[from:] {
		if h.rule == s.r.value || !s.isPublished(text, h) {
			out = append(out, h)
		}
	}
	s.sealed = s.sealed[:0]
	return out
}

// isPublished reports whether what was found in text is meant to be seen.
func (s *Scanner) isPublished(text []byte, h hit) bool {
	if h.rule >= s.r.email || h.rule == s.r.key {
		return false
	}
	start := h.start
	for start > 0 && h.start-start < longestName && (isShape(text[start-1]) || text[start-1] == '.') {
		start--
	}
	return isPublishable(text[start:h.end]) || isPublishable(text[h.start:h.end]) ||
		isSealedValue(text[h.start:h.end]) || isRailsFile(text[h.start:h.end]) ||
		isSignify(text[h.start:h.end]) || isDocumented(text[h.start:h.end]) ||
		h.rule == s.r.shaped && isPublicField(text, start) ||
		s.isSealed(h.start)
}

// isPublicField reports whether the value that begins at text[at] is that of a field of publicFields. Fields of one
// letter are public in a key of JSON only, which has its type beside them (RFC 7517, 4.1).
func isPublicField(text []byte, at int) bool {
	name := fieldBefore(text, at)
	return publicFields[string(lowered(name))] && (len(name) > 1 ||
		bytes.Contains(text[max(0, at-longestRow):min(len(text), at+longestRow)], []byte("kty")))
}

// isSealed reports whether a place is in an encrypted value.
func (s *Scanner) isSealed(at int) bool {
	n := sort.Search(len(s.sealed), func(k int) bool { return s.sealed[k].start > at })
	return slices.ContainsFunc(s.sealed[max(0, n-2):n], func(c cell) bool { return at < c.end })
}

// isPublishable reports whether a text begins like a key that is meant to be seen.
func isPublishable(v []byte) bool {
	for _, k := range publishable {
		if bytes.HasPrefix(v, []byte(k.prefix)) {
			return true
		}
	}
	return false
}

// isSealedValue reports whether a text is a value that a service has encrypted for itself.
func isSealedValue(v []byte) bool {
	if len(v) < leastSealed || slices.ContainsFunc(v, func(c byte) bool { return !inBase64(c) }) {
		return false
	}
	return slices.ContainsFunc(sealedHeads, func(head string) bool { return strings.HasPrefix(string(v[:8]), head) })
}

// isSignify reports whether a text is a public key or a signature of signify or minisign, which are as long as no
// secret key (man.openbsd.org/signify, jedisct1.github.io/minisign).
func isSignify(v []byte) bool {
	return (len(v) == 56 || len(v) == 100) && v[0] == 'R' && (v[1] == 'W' || v[1] == 'U')
}

// documented are secrets that everybody knows, in examples of RFC 7617, 2 and of jwt.io.
var documented = []string{"QWxhZGRpbjpvcGVuIHNlc2FtZQ", "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"}

// isDocumented reports whether a text has one of documented.
func isDocumented(v []byte) bool {
	return slices.ContainsFunc(documented, func(d string) bool { return bytes.Contains(v, []byte(d)) })
}

// isRailsFile reports whether a text is a file that Rails has encrypted: data, a vector of 12 bytes and a sum of 16,
// each in base64 (edgeguides.rubyonrails.org/security.html, custom credentials).
func isRailsFile(v []byte) bool {
	parts := bytes.Split(v, []byte("--"))
	return len(parts) == 3 && len(parts[0]) >= 24 && len(parts[1]) == 16 && len(bytes.TrimRight(parts[2], "=")) == 22
}

// fieldBefore returns the name of the field of JSON whose value begins at text[at].
func fieldBefore(text []byte, at int) []byte {
	before, ok := bytes.CutSuffix(text[max(0, at-longestName):at], []byte{'"'})
	before = bytes.TrimRight(bytes.TrimRight(before, "\\"), " ")
	name, colon := bytes.CutSuffix(before, []byte{':'})
	name = bytes.TrimRight(name, " \"\\")
	if !ok || !colon {
		return nil
	}
	return name[bytes.LastIndexByte(name, '"')+1:]
}
