package redact

import (
	"bytes"
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"slices"
	"strings"
	"sync"
)

// This file finds tokens without a prefix: by a marker within them, and by their exact length and parts.

// markerSets are the characters of markers, by their index.
var markerSets = sync.OnceValue(func() (all []*[256]bool) {
	for _, m := range markers {
		all = append(all, setOf(m.Set))
	}
	return all
})

// mostMarked is how many characters of a token are read on either side of its marker.
const mostMarked = 256

// markedAt adds the token around a marker, which begins at text[at].
func (s *Scanner) markedAt(dst []hit, text []byte, k int32, at int) []hit {
	m, in := &markers[k], markerSets()[k]
	if at < s.markEnds[k] || !bytes.HasPrefix(text[at:], []byte(m.Marker)) {
		return dst
	}
	start, end := at, at+len(m.Marker)
	for start > 0 && at-start < mostMarked && in[text[start-1]] {
		start--
	}
	for end < len(text) && end-at < mostMarked && in[text[end]] {
		end++
	}
	s.read += end - start
	s.markEnds[k] = end
	if m.Head != "" {
		n := bytes.Index(text[start:at], []byte(m.Head))
		if n < 0 {
			return dst
		}
		start += n
	}
	if at-start < m.Before || at-start >= mostMarked || end-at-len(m.Marker) < m.After || repeats(text[start:at]) ||
		2*madeOf(text[start:min(at, start+judged)]).odd < min(at-start, judged) && m.Head == "" {
		return dst
	}
	return append(dst, hit{rule: s.r.ofMarker[k], start: start, end: end, value: string(text[start:end])})
}

// shortestForm is the length of the shortest run of letters, digits, dashes and underscores that formAt looks at.
const shortestForm = 24

// formAt returns where the token begins and ends that the run text[start:end] is a part of, by its form alone.
func formAt(text []byte, start, end int) (from, to int, ok bool) {
	v := text[start:end]
	switch n := len(v); {
	case n > 180 || n < shortestForm:
	case n == 51 && (v[0] == '5' || v[0] == '9') || n == 52 && (v[0] == 'K' || v[0] == 'L' || v[0] == 'c'):
		return start, end, isAlnums(v) && (checked58(v) || v[0] != '9' && v[0] != 'c' && isMixedCode(v) &&
			!bytes.ContainsAny(v, "0OIl")) // a key of Bitcoin (en.bitcoin.it/wiki/Wallet_import_format)
	case n == 56 && v[0] == 'S': // a seed of Stellar (stellar.org/protocol/sep-23)
		return start, end, isOf(v, base32Letters) && hasKinds(v, 2)
	case n == 50 && v[32] == '-' && v[41] == '-': // a key of Mailgun (documentation.mailgun.com)
		return start, end, isAllHex(v[:32]) && isAllHex(v[33:41]) && isAllHex(v[42:])
	case n == 34 && v[0] == '1' && v[1] == '1': // a token of Jenkins (www.jenkins.io/doc/book/system-administration)
		return start, end, isAllHex(v) && madeOf(v).letters > 6
	case n == 48 && v[27] == '_': // a token of ngrok (ngrok.com/docs/agent)
		return start, end, isMixedCode(v[:27]) && isMixedCode(v[28:])
	case n == 42 && v[0] == '0' && v[1] == '0': // a token of Okta (developer.okta.com/docs/guides/create-an-api-token)
		return start, end, isMixedCode(v[2:]) && !isAllHex(v)
	case n == 106 && v[64] == '_' && v[69] == '_': // a token of Webex (developer.webex.com/docs/bots)
		return start, end, isUUID(v[70:])
	case n == 180 && v[0] == 's' && v[1] == 'k': // a token of Sanity (www.sanity.io/docs/http-auth)
		return start, end, isAlnums(v) && isMixedCode(v[2:])
	case n == 55 && v[6] == '-': // a recovery password of BitLocker (learn.microsoft.com/windows/security)
		return start, end, isBitLocker(v)
	case n == 41 && v[8] == '-' && v[31] == '-' && v[36] == '-': // a key of bunny.net (docs.bunny.net/reference)
		return start, end, isAllHex(v[:8]) && isAllHex(v[19:31]) && isAllHex(v[37:])
	case n > 31 && n < 36 && (v[0] == 'u' || v[0] == 'm') && v[n-25] == '-': // uptimerobot.com/api
		return start, end, digits(v[1:]) == n-26 && isAllHex(v[n-24:])
	}
	return joined(text, start, end)
}

// joined is formAt for tokens of two parts that a sign divides: text[start:end] is one of them.
func joined(text []byte, start, end int) (from, to int, ok bool) {
	v, next := text[start:end], byte(0)
	to = end
	if end+1 < len(text) {
		next = text[end]
		for to = end + 1; to < len(text) && to-end < mostMarked && isShape(text[to]); to++ {
		}
	}
	rest := text[min(end+1, to):to]
	switch n := len(v); {
	case n == 32 && next == '.' && len(rest) == 16: // a key of Zhipu (docs.z.ai)
		return start, to, isAllHex(v) && isMixedCode(rest)
	case n == 24 && next == ':' && len(rest) == 64: // a key of Ghost (ghost.org/docs/admin-api)
		return start, to, isAllHex(v) && isAllHex(rest)
	case n == 26 && next == ':' && len(rest) == 36: // a key of NGC (docs.nvidia.com/ngc)
		return start, to, isAlnums(v) && isUUID(rest)
	case n == 36 && (next == ':' || next == '|') && len(rest) >= 30: // fal.ai/docs; qdrant.tech/documentation/cloud
		return start, to, isUUID(v) && (isAllHex(rest) || isMixedCode(rest)) && len(rest) != 36
	}
	if start == 0 || len(v) < 27 {
		return 0, 0, false
	}
	at := start - 1
	switch c := text[at]; {
	case c == '|' && len(v) >= 27 && len(v) <= 64:
		// laravel.com/docs/sanctum; developers.facebook.com/docs/facebook-login
		for from = at; from > 0 && at-from < 20 && text[from-1]-'0' < 10; from-- {
		}
		if from > 0 && text[from-1] == '|' { // |1|salt|hash, a host that ssh knows
			return 0, 0, false
		}
		return from, end, from < at && isMixedCode(v) && (len(v) == 27 || len(v) == 40 || len(v) == 48)
	case c == ':' && len(v) == 43 && start > 14 && text[start-8] == '.': // a key of Ably (ably.com/docs/auth)
		return start - 14, end, isAlnums(text[start-14:start-8]) && isAlnums(text[start-7:at]) && isMixedCode(v)
	case c == ':' && len(v) == 32 && start > 25 && text[start-2] == '=' && text[start-3] == '=': // help.tableau.com
		return start - 25, end, isAlnums(v) && isMixedCode(v)
	}
	return 0, 0, false
}

// isBitLocker reports whether a text is eight numbers of six digits. Each is a multiple of 11, but one that is mistyped
// tells as much.
func isBitLocker(v []byte) bool {
	for part := range bytes.SplitSeq(v, []byte("-")) {
		if len(part) != 6 || digits(part) != 6 {
			return false
		}
	}
	return !repeats(v)
}

const base32Letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

func isOf(v []byte, letters string) bool {
	return !slices.ContainsFunc(v, func(c byte) bool { return strings.IndexByte(letters, c) < 0 })
}

func isAlnums(v []byte) bool {
	return !slices.ContainsFunc(v, func(c byte) bool { return !isAlnum(c) })
}

// isMixedCode reports whether a text has capital letters, small letters and digits in no order.
func isMixedCode(v []byte) bool {
	m := madeOf(v[:min(len(v), judged)])
	return hasKinds(v, 3) && m.changes > 1 && 2*m.odd >= m.letters+m.digits && !repeats(v)
}

func isUUID(v []byte) bool {
	if len(v) != 36 {
		return false
	}
	for i, c := range v {
		if dash := i == 8 || i == 13 || i == 18 || i == 23; dash != (c == '-') || !dash && !isHex(c) {
			return false
		}
	}
	return true
}

// base62 are the digits of base62.
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// checked62 reports whether the rest of a token of GitHub or npm ends in its checksum, the CRC-32 of what precedes it
// in six digits of base62 (github.blog, 5 April 2021: new authentication token formats).
// Such a token is one wherever it stands. One with another checksum is still taken: it may be mistyped, and its other
// characters are as secret.
func checked62(prefix string, rest []byte) bool {
	return len(rest) == 36 && len(prefix) == 4 && prefix[3] == '_' && string(rest[30:]) == checksum62(rest[:30])
}

// checksum62 returns the CRC-32 of a text in six digits of base62.
func checksum62(text []byte) string {
	var to [6]byte
	sum := crc32.ChecksumIEEE(text)
	for i := len(to) - 1; i >= 0; i-- {
		to[i], sum = base62[sum%62], sum/62
	}
	return string(to[:])
}

// base58 are the digits of base58.
const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// checked58 reports whether a text is base58 with the checksum of Bitcoin.
func checked58(v []byte) bool {
	sum := new(big.Int)
	for _, c := range v {
		k := strings.IndexByte(base58, c)
		if k < 0 {
			return false
		}
		sum.Add(sum.Mul(sum, big.NewInt(58)), big.NewInt(int64(k)))
	}
	data := sum.Bytes()
	if len(data) < 5 {
		return false
	}
	once := sha256.Sum256(data[:len(data)-4])
	twice := sha256.Sum256(once[:])
	return bytes.Equal(twice[:4], data[len(data)-4:])
}
