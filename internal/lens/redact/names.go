package redact

import (
	"bytes"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A strength is how surely a name is that of a secret.
type strength uint8

const (
	noName     strength = iota
	idName              // secret id: an id, or the secret beside it
	weakName            // key, auth: also names much else
	weakPass            // pass: also a verb
	mediumName          // mailgun key, salt
	strongName          // token, client secret, api key
	passName            // password: its value may be chosen by a person
)

// A role is what a word says about the name that it is part of.
type role uint8

const (
	isPassword  role = 1 << iota
	isSecret         // token, secret
	isKeyWord        // key: with a qualifier, a secret
	isMedium         // auth, salt
	isQualifier      // api, in api key
	isPublic         // cache, in cache key: no secret
	isProperty       // type, in token type: no secret, but about one
	isCount          // max, in max tokens: no secret
)

const isHead = isPassword | isSecret | isKeyWord | isMedium

// longestName is how many bytes of a name are read on either side of a word.
const longestName = 64

// longestHeading is how many bytes before a word such as key are read for what kind of key it is.
const longestHeading = 24

// A naming is a name of a secret in a text.
type naming struct {
	start, end int
	strength   strength
	codes      bool // of several codes, see codeName
	plural     bool // of several keys, each of which has a name: securityKeys
	upper      bool // in capital letters, as variables of the environment are
}

// nameAt returns the name around a word of nameWords, text[at:end]. Its strength is noName if it names no secret.
func nameAt(text []byte, at, end int) naming {
	if r, _ := utf8.DecodeRune(text[at:]); r >= 0x2e80 {
		for _, n := range [...]int{15, 12, 9, 6} {
			if at+n <= len(text) {
				if s, ok := unspaced[string(text[at:at+n])]; ok {
					return naming{start: at, end: at + n, strength: s}
				}
			}
		}
		if before := bytes.TrimRight(text[max(0, at-longestHeading):at], " _-"); unspacedKeys[string(text[at:end])] {
			for _, word := range keyHeadings {
				if n := len(before) - len(word); n >= 0 && bytes.EqualFold(before[n:], []byte(word)) {
					return naming{start: at, end: end, strength: strongName}
				}
			}
		}
		return naming{start: at, end: end}
	}
	if to, ok := codeName(text, at, end); ok {
		return naming{start: at, end: to, strength: strongName, codes: true}
	}
	n := naming{start: at, end: end}
	for n.start > 0 && at-n.start < longestName {
		size := nameRuneBefore(text[:n.start])
		if size == 0 {
			break
		}
		n.start -= size
	}
	for n.end < len(text) && n.end-end < longestName {
		size := nameRune(text[n.end:])
		if size == 0 {
			break
		}
		n.end += size
	}
	for n.end > end && (text[n.end-1] == '-' || text[n.end-1] == '.' || text[n.end-1] == '_') {
		n.end--
	}
	return n
}

// endsName reports whether a name may end at text[end]: base64 does not go on.
func endsName(text []byte, end int) bool {
	c := byteAt(text, end)
	return !isAlnum(c) && c != '+' && c != '/'
}

// nameRune returns the size of the character at the start of b if names have it, 0 otherwise.
func nameRune(b []byte) int {
	if c := b[0]; c < utf8.RuneSelf {
		if isAlnum(c) || c == '_' || c == '-' || c == '.' {
			return 1
		}
		return 0
	}
	r, n := utf8.DecodeRune(b)
	if r < 0x2e80 && (unicode.IsLetter(r) || unicode.IsMark(r)) {
		return n
	}
	return 0
}

func nameRuneBefore(b []byte) int {
	if c := b[len(b)-1]; c < utf8.RuneSelf {
		return nameRune(b[len(b)-1:])
	}
	r, n := utf8.DecodeLastRune(b)
	if r < 0x2e80 && (unicode.IsLetter(r) || unicode.IsMark(r)) {
		return n
	}
	return 0
}

// A nameWord is a word of a name: a range of the name in small letters, and the number of dots before it.
type nameWord struct{ start, end, dots int }

// A nameReader splits names into words. It keeps its memory.
type nameReader struct {
	known map[string]strength // of names that were judged
	low   []byte
	words [16]nameWord // in low
	n     int
}

// split splits a name: db_password, dbPassword and DB-Password are two words.
func (r *nameReader) split(name []byte) {
	r.low, r.n = r.low[:0], 0
	start, dots := 0, 0
	cut := func() {
		if len(r.low) > start && r.n < len(r.words) {
			r.words[r.n] = nameWord{start, len(r.low), dots}
			r.n++
		}
		start = len(r.low)
	}
	for i, c := range name {
		switch {
		case c == '_' || c == '-' || c == '.' || c == ' ':
			if cut(); c == '.' {
				dots++
			}
			continue
		case c-'0' < 10 && i > 0 && !(name[i-1]-'0' < 10), i > 0 && name[i-1]-'0' < 10 && !(c-'0' < 10):
			cut()
		case c-'A' < 26 && i > 0 && (name[i-1]-'a' < 26 || lowerBefore(name[:i]) ||
			i+1 < len(name) && name[i+1]-'a' < 26 && name[i-1]-'A' < 26):
			cut()
		}
		r.low = append(r.low, lower(c))
	}
	cut()
	if strings.IndexFunc(string(r.low), func(c rune) bool { return c >= utf8.RuneSelf && unicode.IsUpper(c) }) >= 0 {
		r.low = append(r.low[:0], strings.ToLower(string(r.low))...)
	}
}

func (r *nameReader) word(k int) []byte {
	return r.low[r.words[k].start:min(r.words[k].end, len(r.low))]
}

func (r *nameReader) role(k int) role {
	word := r.word(k)
	if is, ok := nameRoles[string(word)]; ok {
		return is
	}
	switch n := len(word); {
	case n > 4 && string(word[n-4:]) == "pass" && !notPasswords[string(word)], n > 3 && string(word[n-3:]) == "pwd",
		n > 2 && string(word[n-2:]) == "pw" && shortHeads[string(word[:n-2])]:
		return isPassword
	}
	for _, end := range wholeNames {
		if len(word) > len(end) && string(word[len(word)-len(end):]) == end {
			return nameRoles[end]&(isPassword|isSecret) | isSecret
		}
	}
	return 0
}

// mostJudged is how many names a nameReader remembers: few names are most of all.
const mostJudged = 1 << 12

// judge returns the strength of a name.
func (r *nameReader) judge(name []byte) strength {
	is, ok := r.known[string(name)]
	if !ok {
		is = r.judged(name)
		if r.known == nil || len(r.known) == mostJudged {
			r.known = map[string]strength{}
		}
		r.known[string(name)] = is
	}
	return is
}

// judged is judge for a name that was not judged before.
func (r *nameReader) judged(name []byte) strength {
	r.split(name)
	head, kind := -1, role(0)
	for k := range r.n {
		if is := r.role(k); is&isHead != 0 {
			head, kind = k, is
		}
	}
	if head < 0 {
		return noName
	}
	before := 0
	qualified, primary := false, false
	for k := range head {
		is := r.role(k)
		primary = primary || string(r.word(k)) == "primary"
		if r.words[k].dots == r.words[head].dots {
			if is&isPublic != 0 && kind&isPassword == 0 && string(r.word(head)) != "secret" ||
				is&isCount != 0 && is&isHead == 0 && is&isQualifier == 0 {
				return noName
			}
			before++
		}
		qualified = qualified || is&(isQualifier|isHead) != 0
	}
	if head > 0 && harmlessPairs[string(r.word(head-1))+"-"+string(r.word(head))] && r.n == head+1 {
		return noName
	}
	other := false
	for k := head + 1; k < r.n; k++ {
		word := r.word(k)
		if string(word) == "id" && string(r.word(head)) == "secret" && k == r.n-1 {
			return idName
		}
		if r.role(k)&isProperty != 0 {
			return noName
		}
		qualified = qualified || r.role(k)&isQualifier != 0
		other = other || isAlpha(word[0]) && !neutralWords[string(word)] && r.role(k)&isQualifier == 0
	}
	word := string(r.word(head))
	switch {
	case word == "pass" || word == "pw" || word == "passe" || word == "parole" || word == "pat" || word == "bearer":
		switch {
		case before > 0 || name[0]-'A' < 26:
			return strongPass(word)
		case kind&isPassword != 0:
			return weakPass
		}
		return weakName
	case word == "keys" && head > 0 && (string(r.word(head-1)) == "private" || string(r.word(head-1)) == "secret"):
		return mediumName
	case word == "tokens" || word == "keys" || word == "secrets" || word == "passwords":
		return weakName
	case kind&isPassword != 0:
		return passName
	case kind&isSecret != 0 && other:
		return mediumName
	case kind&isSecret != 0:
		return strongName
	case primary && !qualified: // of a table, or of a service
		return weakName
	case kind&isKeyWord != 0 && qualified && !other:
		return strongName
	case kind&isMedium != 0 && qualified && !other:
		return strongName
	case before > 0 || kind&isMedium != 0:
		return mediumName
	}
	return weakName
}

func strongPass(word string) strength {
	if word == "pat" || word == "bearer" {
		return strongName
	}
	return passName
}

// lowerBefore reports whether a text ends in a small letter beyond ASCII.
func lowerBefore(text []byte) bool {
	r, _ := utf8.DecodeLastRune(text)
	return r >= utf8.RuneSelf && unicode.IsLower(r)
}

// spaced judges a name with the words beside it: access key, mot de passe. It extends the name to them.
func (s *Scanner) spaced(text []byte, n naming) naming {
	start := n.start
	for range 2 { // words before it
		if start < 2 || text[start-1] != ' ' || !isWordByte(text[start-2]) && !isAlnum(text[start-2]) {
			break
		}
		at := start - 1
		for at > 0 && start-at < 24 && (isWordByte(text[at-1]) || isAlnum(text[at-1])) {
			at--
		}
		if roleOf(text[at:start-1])&(isQualifier|isHead|isPublic) == 0 {
			break
		}
		start = at
	}
	for n.end+1 < len(text) && text[n.end] == ' ' && isWordByte(text[n.end+1]) { // and after it
		end := n.end + 1
		for end < len(text) && end-n.end < 24 && isWordByte(text[end]) {
			end++
		}
		is := roleOf(text[n.end+1 : end])
		if end < len(text) && isAlnum(text[end]) {
			break // a value
		}
		if is&isHead == 0 && (is&isProperty == 0 || is&isQualifier != 0) {
			break
		}
		n.end = end
		if is&isProperty != 0 {
			break
		}
	}
	n.strength = s.namer.judge(text[start:n.end])
	to := qualifiedAfter(text, n.end)
	if to > n.end && roleOf(text[start:n.end])&(isKeyWord|isSecret|isPassword) != 0 {
		n.end, n.strength = to, max(n.strength, strongName)
	}
	return n
}

// within judges the name of one of several keys, and of a key that only what it is part of says more of: crypt in
// 'crypt' => ['key' => X], LongTermKey in [LongTermKey] and Key=X below.
func (s *Scanner) within(text []byte, n naming) naming {
	if n.strength != weakName {
		return n
	}
	name := text[n.start:n.end]
	switch string(lowered(name[max(0, len(name)-4):])) {
	case "keys", "rets", "kens": // keys, secrets, tokens
		if s.namer.judge(name[:len(name)-1]) >= mediumName {
			n.plural, n.strength = true, strongName
		}
		return n
	}
	if !isBareKey(name) {
		return n
	}
	low, end := max(0, n.start-longestName), n.start
	before := bytes.TrimRight(text[low:end], " \t\r\n\"'\\")
	if len(before) == 0 || len(before) == end-low || bytes.IndexByte([]byte("{[]("), before[len(before)-1]) < 0 {
		return n
	}
	before = bytes.TrimRight(before, " \t\r\n\"'\\{[](=:>")
	at := len(before)
	for at > 0 && nameRuneBefore(before[:at]) > 0 {
		at -= nameRuneBefore(before[:at])
	}
	if at < len(before) {
		s.joint = append(append(s.joint[:0], before[at:]...), "_key"...)
		n.strength = max(n.strength, s.namer.judge(s.joint))
	}
	return n
}

// qualifiedAfter returns where the words end that qualify a name before them and precede a colon, as in Romance and
// Slavic languages: clé d'API, chave de acesso, ключ API.
func qualifiedAfter(text []byte, at int) int {
	rest := text[at:min(len(text), at+longestName)]
	if len(rest) == 0 || rest[0] != ' ' || bytes.IndexByte(rest, ':') < 0 {
		return at
	}
	n := 0
	for _, before := range []string{" d'", " d’", " de ", " di ", " da ", " do ", " "} {
		if bytes.HasPrefix(rest, []byte(before)) {
			n = len(before)
			break
		}
	}
	end := n
	for end < len(rest) && isWordByte(rest[end]) {
		end++
	}
	colon := bytes.TrimLeft(rest[end:], " \u00a0")
	if n == 0 || roleOf(rest[n:end])&isQualifier == 0 || len(colon) == 0 ||
		colon[0] != ':' && colon[0] != '|' && !bytes.HasPrefix(colon, []byte("│")) {
		return at
	}
	return at + end
}

func isWordByte(c byte) bool { return isAlpha(c) || c >= utf8.RuneSelf }

// roleOf returns the role of a word in any case.
func roleOf(word []byte) role {
	var low [32]byte
	if n := len(word); n == 0 || n >= len(low) || roleSizes()[lower(word[0])]&(1<<n) == 0 {
		return 0
	}
	for i, c := range word {
		low[i] = lower(c)
	}
	return nameRoles[string(low[:len(word)])]
}

// roleSizes are the sizes of the words of nameRoles by the first byte, as bits: most words of a text have no role.
var roleSizes = sync.OnceValue(func() *[256]uint32 {
	sizes := new([256]uint32)
	for word := range nameRoles {
		sizes[word[0]] |= 1 << len(word)
	}
	return sizes
})

// afterUser returns the name p at text[at] if a user stands before it: u: ann p: X.
func afterUser(text []byte, at int) naming {
	from := max(0, at-longestName)
	fields := bytes.Fields(bytes.TrimRight(text[from:at], " ,;/|"))
	if n := len(fields); n > 0 && (isUserName(fields[n-1]) || n > 1 && isUserName(fields[n-2])) {
		return naming{start: at, end: at + 1, strength: passName}
	}
	return naming{start: at, end: at + 1}
}

// isUserName reports whether a word is the name of a user, with or without a value.
func isUserName(word []byte) bool {
	n := bytes.IndexAny(word, ":=")
	return n > 0 && userNames[lowerASCII(string(bytes.TrimLeft(word[:n], "\"'`([")))]
}

// inCodeRun reports whether a name is a part of base64.
func inCodeRun(name []byte) bool {
	if len(name) < 12 || !hasKinds(name, 3) {
		return false
	}
	m := madeOf(name)
	return m.random() && m.digits > 0
}
