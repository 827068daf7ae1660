package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
)

// Parts finds parts of values, of at least minPart bytes, that look random.
type parts struct {
	values []string
	rules  []int32
	at     map[uint32]partOf
	filter [1 << 12]uint64 // the hashes of its keys
}

// A partOf is where a piece of 4 bytes is in a value.
type partOf struct{ value, offset int32 }

// mostPieces limits the pieces of all values, and longestPart how much of a value has any.
const (
	mostPieces  = 1 << 17
	longestPart = 4096
)

// A part has a piece at one of pieceStride places in a row, wherever it begins.
const (
	pieceSize   = 4
	pieceStride = minPart - pieceSize + 1
)

func newParts(values map[string]int32, key, home int32) *parts {
	p := &parts{at: map[uint32]partOf{}}
	for _, v := range slices.Sorted(maps.Keys(values)) {
		p.values, p.rules = append(p.values, v), append(p.rules, values[v])
		rule := values[v]
		if rule == home {
			continue
		}
		v = v[:min(len(v), longestPart)]
		done := 0
		for from := 0; from+minPart <= len(v); from++ {
			last := from+minPart == len(v) && rule != key // what remains of a value whose beginning is left out
			if !last && !partial([]byte(v[from:from+minPart])) || rule == key && from < keyHead || isConstant(v, from) {
				continue
			}
			for at := max(done, from); at+pieceSize <= from+minPart && len(p.at) < mostPieces; at++ {
				done = at + 1
				piece := binary.LittleEndian.Uint32([]byte(v[at:]))
				if _, ok := p.at[piece]; !ok {
					p.at[piece] = partOf{int32(len(p.values) - 1), int32(at)}
					h := hashOf(piece)
					p.filter[h>>6] |= 1 << (h & 63)
				}
			}
		}
	}
	return p
}

// keyHead is how much of the data of a private key says what kind it is: other keys have the same.
const keyHead = 96

// keyConstants are in the data of many keys, also of public ones, in base64: the names of algorithms, the beginnings of
// OpenSSH's keys (RFC 4253, 6.6; RFC 5656, 3.1; RFC 8709, 4) and lines of PEM.
var keyConstants = func() []string {
	all := []string{
		"BgkqhkiG9w0BAQEFAA", "YJKoZIhvcNAQEBBQA", "GCSqGSIb3DQEBAQUAA", "CCqGSM49AwEH", "KoZIzj0DAQ", "qGSM49AgEG",
		"hkjOPQMBBw", "MCowBQYDK2VwAyEA", "MC4CAQAwBQYDK2VwBCIEI", "MCowBQYDK2VuAyEA",
	}
	for _, text := range []string{
		"\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x20",
		"\x00\x00\x00\x07ssh-rsa\x00\x00\x00\x03\x01\x00\x01\x00\x00\x01\x01\x00",
		"\x00\x00\x00\x07ssh-rsa\x00\x00\x00\x03\x01\x00\x01\x00\x00\x01\x81\x00",
		"\x00\x00\x00\x13ecdsa-sha2-nistp256\x00\x00\x00\x08nistp256\x00\x00\x00\x41\x04",
		"\x00\x00\x00\x13ecdsa-sha2-nistp384\x00\x00\x00\x08nistp384\x00\x00\x00\x61\x04",
		"\x00\x00\x00\x13ecdsa-sha2-nistp521\x00\x00\x00\x08nistp521\x00\x00\x00\x85\x04",
		"\x00\x00\x00\x1ask-ssh-ed25519@openssh.com\x00\x00\x00\x20", "-----BEGIN CERTIFICATE-----\nMI",
		"-----END CERTIFICATE-----\n", "-----BEGIN PUBLIC KEY-----\nMI", "-----BEGIN RSA PRIVATE KEY-----\nMI",
		"-----BEGIN EC PRIVATE KEY-----\nMH", "-----BEGIN OPENSSH PRIVATE KEY-----\n",
		"-----BEGIN PRIVATE KEY-----\nMI",
		"-----BEGIN ENCRYPTED PRIVATE KEY-----\nMI", "-----END PRIVATE KEY-----\n", "-----END RSA PRIVATE KEY-----\n",
	} {
		for shift := range 3 { // where the text begins within three bytes
			code := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), text...))
			all = append(all, code[(shift*4+2)/3:len(code)-1])
		}
	}
	return all
}()

// longestConstant is more than the length of any of them.
const longestConstant = 96

// constant returns how many bytes of value[from:to] are of keyConstants, also if it has only a part of one.
func constant(value string, from, to int) (n int) {
	for _, c := range keyConstants {
		for at := from; at+pieceSize < to; at++ { // the part may begin or end within the constant
			k := strings.Index(c, value[at:at+pieceSize+1])
			if k < 0 {
				continue
			}
			size := pieceSize + 1
			for at+size < to && k+size < len(c) && value[at+size] == c[k+size] {
				size++
			}
			n = max(n, size)
			at += size - 1
		}
	}
	return n
}

// isConstant reports whether the piece of a value from an offset on is part of one of keyConstants.
func isConstant(v string, from int) bool {
	for _, c := range keyConstants {
		around := v[max(0, from-len(c)):min(len(v), from+len(c))]
		if strings.Contains(c, v[from:from+minPart]) || strings.Contains(around, c) {
			return true
		}
	}
	return false
}

// partial reports whether a text is long enough, and random enough, to be part of one value only.
func partial(text []byte) bool {
	m := madeOf(text[:min(len(text), judged)])
	return m.odd >= 5 && m.letters > 0
}

// isWordCode reports whether a short text is in base64 and stands for a word, which other values also have.
func isWordCode(part []byte) bool {
	for skip := 0; skip < 4 && len(part) < 2*minPart && len(part)-skip >= minPart-2; skip++ {
		code := part[skip : len(part)-(len(part)-skip)%4]
		plain := decode(bytes.Clone(code))
		if m := madeOf(plain); isText(plain) && m.odd == 0 && m.letters >= max(4, len(plain)-3) {
			return true
		}
	}
	return false
}

// elides reports whether a text ends in a sign that a part is left out.
func elides(text []byte) bool {
	return slices.ContainsFunc(elisions, func(sign string) bool { return bytes.HasSuffix(text, []byte(sign)) })
}

func hashOf(piece uint32) uint32 { return piece * 0x9e3779b1 >> 14 }

// longestHex is how long a part is at least of which hex digits are all there is: shorter ones
// occur by chance.
const longestHex = 12

// find adds the parts in a text.
func (p *parts) find(dst []hit, text []byte) []hit {
	if len(p.at) == 0 {
		return dst
	}
	for i := 0; i+pieceSize <= len(text); i += pieceStride {
		piece := binary.LittleEndian.Uint32(text[i:])
		if h := hashOf(piece); p.filter[h>>6]>>(h&63)&1 == 0 {
			continue
		}
		of, ok := p.at[piece]
		if !ok {
			continue
		}
		value := p.values[of.value]
		from, to := int(of.offset), int(of.offset)+pieceSize
		start, end := i, i+pieceSize
		for start > 0 && from > 0 && text[start-1] == value[from-1] {
			start, from = start-1, from-1
		}
		for end < len(text) && to < len(value) && text[end] == value[to] {
			end, to = end+1, to+1
		}
		rest := to == len(value) && elides(text[:start])
		if end-start < minPart || !rest && (!partial(text[start:end]) || isWordCode(text[start:end])) {
			continue
		}
		if !rest && to-from < longestConstant && to-from-constant(value, from, to) < minPart {
			continue // other keys have it, too
		}
		if rest || end-start >= longestHex || !isAllHex(text[start:end]) {
			dst = append(dst, hit{rule: p.rules[of.value], start: start, end: end, value: value})
		}
		i = max(i, end-pieceStride)
	}
	return dst
}
