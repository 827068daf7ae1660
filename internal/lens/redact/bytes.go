package redact

import (
	"bytes"
	"crypto/ed25519"
	"strings"
)

// This file decodes byte arrays: text written as the numbers of its bytes, such as [115,107,45], 0x73, 0x6b or Node's
// <Buffer 73 6b>. In strings, decoded finds them; arrays of numbers in the JSON of the line are tokens of the walker.

// leastBytes is how many numbers in a row are decoded at least.
const leastBytes = 16

// hasByteList reports whether eight bytes that may be of a byte array have two digits and a separator.
func hasByteList(b []byte) bool {
	digits, separators := 0, 0
	for _, c := range b {
		switch {
		case isHex(c):
			digits++
		case c != 'x' && c != 'X':
			separators++
		}
	}
	return digits >= 2 && separators > 0
}

// byteRange returns the range around text[i] whose bytes all have the given bit of codeKinds.
func byteRange(text []byte, i int, kind uint8) (start, end int) {
	for start = i; start > 0 && codeKinds[text[start-1]]&kind != 0; start-- {
	}
	for end = i; end < len(text) && codeKinds[text[end]]&kind != 0; end++ {
	}
	return start, end
}

// byteLists calls found for each sequence of leastBytes numbers and more in text[start:end], which byteRange has
// returned, with the bytes that the numbers stand for. These are valid during the call only.
func (s *Scanner) byteLists(text []byte, start, end int, found func(plain []byte, start, end int)) {
	if end-start < 2*leastBytes-1 {
		return // too short, with the separators
	}
	for _, bare := range []bool{false, true} {
		from, to, decoded := start, start, s.numbers[:0]
		flush := func() {
			if len(decoded) >= leastBytes {
				found(decoded, from, to)
			}
			decoded = decoded[:0]
		}
		for i := start; i < end; {
			n := separator(text[i:end])
			if n > 0 {
				i += n
				continue
			}
			for n = i + 1; n < end && separator(text[n:end]) == 0; n++ {
			}
			c, ok := byteNumber(text[i:n], bare)
			if !ok {
				flush()
			} else {
				if len(decoded) == 0 {
					from = i
				}
				decoded, to = append(decoded, c), n
			}
			i = n
		}
		flush()
		s.numbers = decoded
	}
}

// separator returns the length of the separator of numbers at the start of b, 0 for none. A line break may be spelled
// as JSON does, also within JSON.
func separator(b []byte) int {
	switch b[0] {
	case ',', ' ', '\n', '\r', '\t', ';', ':':
		return 1
	case '\\':
		n := 1
		for n < min(len(b), 8) && b[n] == '\\' {
			n++
		}
		if n < len(b) && (b[n] == 'n' || b[n] == 'r' || b[n] == 't') {
			return n + 1
		}
	}
	return 0
}

// byteNumber returns the byte that a number stands for: decimal or 0x and hex, or two digits of hex if bare.
func byteNumber(b []byte, bare bool) (c byte, ok bool) {
	if bare {
		if len(b) != 2 {
			return 0, false
		}
	} else if len(b) > 2 && b[0] == '0' && b[1]|0x20 == 'x' {
		b, bare = b[2:], true
	}
	if len(b) > 3 {
		return 0, false
	}
	n := 0
	for _, d := range b {
		switch {
		case d-'0' < 10 && bare:
			n = n<<4 | int(d-'0')
		case d-'0' < 10:
			n = n*10 + int(d-'0')
		case bare && isHex(d):
			n = n<<4 | int(d|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return byte(n), n < 256
}

// inBytes adds whole, if the bytes that its numbers stand for are text with a secret or a pair of keys. Zeros replace
// the numbers, so that an array remains one.
func (s *Scanner) inBytes(dst []hit, plain []byte, text []byte, whole hit) []hit {
	whole.text = zeros(text[whole.start:whole.end], len(plain))
	long := len(plain) == 64 || len(plain) == 32
	named := !isText(plain) && !repeats(plain) && (long && namesKeyPair(text[:whole.start]) ||
		len(plain) <= mostKeyBytes && s.namesBytes(text, whole.start, plain))
	if named || isKeyPair(plain) || isPrivateDER(plain) {
		whole.rule, whole.value = s.r.key, string(plain)
		return append(dst, whole)
	}
	if plain = bytes.TrimRight(plain, "\x00"); !isText(plain) || len(plain) == 0 {
		return dst
	}
	plain = bytes.Clone(plain) // it may have byte arrays
	whole.value = string(plain)
	return s.inside(dst, plain, whole)
}

// mostKeyBytes is the length of the longest key that only its name shows, in bytes.
const mostKeyBytes = 128

// byteWords are words between the name of an array of bytes and its numbers: types and constructors.
var byteWords = wordSet(`byte bytes bytearray u8 u1 uint8 uint8_t uint8array unsigned char const static int array vec
	std buffer new from type data of progmem hex base64 key`)

// namesBytes reports whether an array whose numbers begin at text[at] has the name of a secret: APPKEY[16] = {.
func (s *Scanner) namesBytes(text []byte, at int, plain []byte) bool {
	low, end := max(0, at-longestHeading-longestName), len(bytes.TrimRight(text[:at], " \t\r\n"))
	low = max(low, low+bytes.LastIndexAny(text[low:max(low, end)], ";\n)"))
	s.read += at - low
	assigned, bare := false, false
	for end > low {
		if c := text[end-1]; nameRuneBefore(text[:end]) == 0 || c == '.' || c == '-' {
			assigned = assigned || c == ':' || c == '=' || c == '<' && bare
			end--
			continue
		}
		start := end
		for start > low && nameRuneBefore(text[:start]) > 0 {
			start -= nameRuneBefore(text[:start])
		}
		name := text[start:end]
		if word := lowered(name); digits(name) == 0 && !byteWords[string(word)] {
			return assigned && (s.namer.judge(name) >= mediumName)
		} else if string(word) == "key" {
			return assigned && (len(plain) == 16 || len(plain) == 24 || len(plain) == 32) && !isRow(plain)
		}
		bare, end = true, start
	}
	return false
}

// isRow reports whether bytes mostly grow by the same step, as those of examples do.
func isRow(b []byte) bool {
	same := 0
	for i := 2; i < len(b); i++ {
		if b[i]-b[i-1] == b[i-1]-b[i-2] {
			same++
		}
	}
	return 2*same > len(b)
}

// isPrivateDER reports whether bytes begin like a private key in DER: an object of RSA (RFC 8017, A.1.2), of elliptic
// curves (RFC 5915, 3) or of any kind (RFC 5958, 2).
func isPrivateDER(b []byte) bool {
	rest, ok := derInside(b, 0x30)
	if len(b) < leastBytes || !ok || len(rest) < 4 || rest[0] != 2 || rest[1] != 1 || rest[2] > 1 {
		return false
	}
	version, rest := rest[2], rest[3:]
	switch {
	case rest[0] == 4:
		return version == 1 && len(rest) > 1 && rest[1] >= 16 && rest[1] <= 66
	case rest[0] == 2:
		_, ok = derInside(rest, 2)
		return version == 0 && ok && rest[1] >= 0x40
	}
	method, ok := derInside(rest, 0x30)
	return ok && len(method) > 2 && method[0] == 6 && len(rest) >= 2+int(rest[1]) &&
		byteAt(rest, 2+int(rest[1])) == 4
}

// derInside returns what follows the tag and the length of an object of DER that may be cut short.
func derInside(b []byte, tag byte) ([]byte, bool) {
	if len(b) < 2 || b[0] != tag {
		return nil, false
	}
	if n := int(b[1]) - 0x80; n > 0 && n < 4 {
		return b[min(len(b), 2+n):], len(b) > 2+n
	}
	return b[2:], b[1] < 0x80
}

// isKeyPair reports whether bytes are a seed of Ed25519 followed by its public key, as in Solana's id.json
// (docs.solanalabs.com/cli/wallets/file-system).
func isKeyPair(b []byte) bool {
	return len(b) == ed25519.PrivateKeySize && !isText(b) &&
		bytes.Equal(ed25519.NewKeyFromSeed(b[:ed25519.SeedSize]), b)
}

// pairNames are words near the numbers of a key.
var pairNames = automatonOf("keypair id.json secretkey secret_key privatekey private_key wallet.json")

// namesKeyPair reports whether a text ends in a name of a pair of keys, and what precedes its value.
func namesKeyPair(before []byte) bool {
	found := false
	pairNames().from(before[max(0, len(before)-longestName):], 0, 0, func(int32, int) { found = true })
	return found
}

// zeros returns n zeros with the separator that the first two numbers of a list have, if it needs no escape.
func zeros(list []byte, n int) string {
	first := 0
	for first < len(list) && separator(list[first:]) == 0 {
		first++
	}
	last := first
	for last < len(list) && separator(list[last:]) > 0 {
		last++
	}
	between := string(list[first:last])
	if strings.Trim(between, ",;: ") != "" || len(between) == 0 || len(between) > 2 {
		between = ", "
	}
	return "0" + strings.Repeat(between+"0", n-1)
}
