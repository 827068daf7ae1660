package redact

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ends are the characters at which a value without quotes ends.
var ends = func() (t [256]bool) {
	for _, c := range []byte(" \t\r\n\"'`<>,;&|(){}[]\\") {
		t[c] = true
	}
	for c := range byte(' ') {
		t[c] = true
	}
	return t
}()

// runEnd returns where a value without quotes ends.
func (a *assignment) runEnd(at int) int {
	end, most := at, min(len(a.text), at+longestValue)
	if a.s.runStart <= at && at < a.s.runEnd {
		return min(a.s.runEnd, len(a.text))
	}
	for end < most && !ends[a.text[end]] {
		size := 1
		if a.text[end] >= utf8.RuneSelf {
			r := rune(0)
			if r, size = utf8.DecodeRune(a.text[end:]); r >= 0x2e80 || !unicode.IsLetter(r) {
				break // a quotation mark, a dash, a frame, or a script without spaces between words
			}
		}
		end += size
	}
	a.cost += end - at
	for end > at+1 && bytes.IndexByte([]byte(".:!?"), a.text[end-1]) >= 0 && end < most {
		end--
	}
	a.s.runStart, a.s.runEnd = at, end
	return end
}

// candidate decides what text[start:end] is: the value, the name of another value, or a word.
func (a *assignment) candidate(start, end int, quoted bool) {
	if end <= start {
		a.at = max(a.at, start+1)
		return
	}
	text := a.text
	after := end
	if quoted && after < len(text) && text[after] == '\\' {
		after++
	}
	if quoted && after < len(text) && (text[after] == '"' || text[after] == '\'' || text[after] == '`') {
		after++
	}
	if !quoted && a.name.strength >= weakPass && a.how == assigns {
		end = a.ampersand(start, end)
		after = end
	}
	v := text[start:end]
	a.alone = !quoted && endsLine(text, end)
	if string(v) == "secret" && start > 0 && text[start-1] == '!' { // !secret NAME, as in Home Assistant
		a.stop = true
		return
	}
	if a.skip {
		a.skip, a.at = false, max(after, a.at)
		return
	}
	if !quoted && a.words == 0 && end-start < 3 && digits(v) == len(v) && byteAt(text, end) == ':' {
		a.at = end // password #1: X
		return
	}
	if key, rest := a.otherName(v, after, quoted); key != nil {
		typed := a.how == assigns && !quoted && a.text[a.name.end] == ':' && fillers[string(lowered(key))]
		if low := string(lowered(key)); low == "secure" || referKeys[low] { // encrypted for a service, or elsewhere
			a.stop = true
			return
		}
		if isValueKey(key) || typed {
			a.at, a.how = rest, assigns
			return
		}
		if a.object && a.name.plural {
			a.at, a.how = rest, assigns
			return
		}
		if !a.pair && !a.object || a.lines > 4 {
			if a.lines > 0 || a.how > near || quoted {
				a.stop = true
				return
			}
			if rest < end { // another name with its value
				a.at, a.words = end, a.words+1
				return
			}
		} else {
			a.at, a.how, a.skip = rest, near, true
			if a.words++; a.words > 3*longestWords {
				a.stop = true
			}
			return
		}
	}
	if a.how == near && a.words == 0 && quoted {
		a.how = beside
	}
	if !quoted && after < len(text) && text[after] == '(' {
		call := lowered(v[bytes.LastIndexAny(v, ".:")+1:])
		if a.how == assigns && a.words == 0 && wrapCalls[string(call)] {
			a.at = after + 1
			return
		}
		if fillCalls[string(lowered(v[bytes.LastIndexByte(v, '.')+1:]))] && a.words == 0 {
			a.at, a.how = after, assigns // getByLabel("Password").fill("X")
			return
		}
		a.words += 2 // a call
		a.at = after
		a.valued = a.valued || a.how == assigns
		a.how = near
		return
	}
	if a.isSealed(start, end) {
		a.stop = true
		return
	}
	if open := start - 2; quoted && a.words > 0 && open > 0 && text[open] == '[' && isAlnum(text[open-1]) {
		a.at = after // an index
		return
	}
	code := !quoted && a.how < assigns && byteAt(text, end) == ')' && bytes.IndexByte(v, '.') > 0 && isIdent(v)
	if next := byteAt(text, end); a.lines > 0 && a.how < assigns && (next == ',' || next == ' ') {
		code = code || len(v) == 40 && isAllHex(v) // the commit of the next row
	}
	if quoted && a.inLiterals(start, end) || !quoted && byteAt(text, end) == '\\' && a.inLines(start, end) {
		return
	}
	if a.isValue(v, quoted) && !code && !(a.name.strength < passName && isDigest(v) && a.summed()) {
		a.take(start, end)
		return
	}
	if isAddress(v) { // it is the value, and the line is no heading
		a.stop, a.number = true, true
		return
	}
	a.at = max(after, a.at)
	fill := fillers[string(lowered(v))] || linkWords[string(lowered(v))]
	if fill {
		a.said = linkWords[string(lowered(v))] && !a.sum
		if a.how == near && a.words == 0 && linkWords[string(lowered(v))] {
			a.how = beside
		}
		return
	}
	if !quoted && end < len(text) && text[end] == '.' && end+1 < len(text) && text[end+1] == ' ' {
		a.stop = true
		return
	}
	if a.words++; a.words > longestWords || a.lines > 0 && !a.pair {
		a.stop = true
	}
	a.valued = a.valued || a.how == assigns
	a.how, a.said, a.sum = near, false, a.sum || sumWords[string(lowered(v))]
}

// sealers are words in braces before an encrypted value.
var sealers = wordSet("aes cipher desede des des3 encrypted enc kms rsa")

// isSealed reports whether a value is encrypted to be published: ENC[...], ENC(...), {aes}X, a sealed secret of
// Kubernetes.
func (a *assignment) isSealed(start, end int) bool {
	v := a.text[start:end]
	if next := byteAt(a.text, end); string(v) == "ENC" && (next == '[' || next == '(') {
		return true
	}
	if start > 0 && a.text[start-1] == '}' {
		open := bytes.LastIndexByte(a.text[max(0, start-longestWord):start], '{')
		return open >= 0 && sealers[string(lowered(a.text[max(0, start-longestWord)+open+1:start-1]))]
	}
	return len(v) > 250 && v[0] == 'A' && v[1] == 'g'
}

// ampersand returns where a password ends that has an ampersand within it, unless a parameter of a URL follows.
func (a *assignment) ampersand(start, end int) int {
	to := end
	for to+1 < len(a.text) && a.text[to] == '&' && isAlnum(a.text[to+1]) && to-start < longestName {
		for to++; to < len(a.text) && !ends[a.text[to]]; to++ {
			if a.text[to] == '=' {
				return end
			}
		}
	}
	return to
}

// endsLine reports whether nothing follows on the line but the end of a sentence and spaces.
func endsLine(text []byte, at int) bool {
	for at < len(text) && (text[at] == '.' || text[at] == '!' || text[at] == '?') {
		at++
	}
	for at < len(text) && (text[at] == ' ' || text[at] == '\r' || text[at] == '\t') {
		at++
	}
	return at == len(text) || text[at] == '\n' || text[at] == '"' || text[at] == '\\' && byteAt(text, at+1) == 'n'
}

// sumWords are words for what stands for a secret, but is none.
var sumWords = wordSet(`hash digest checksum fingerprint sha sha1 sha256 md5 id commit revision etag uuid`)

func lowered(v []byte) []byte {
	if len(v) > 16 {
		return nil
	}
	low := make([]byte, len(v))
	for i, c := range v {
		low[i] = lower(c)
	}
	return low
}

// otherName returns the name of another value, which v is or begins with, and where that value begins.
func (a *assignment) otherName(v []byte, after int, quoted bool) (key []byte, rest int) {
	at := after
	for at < len(a.text) && at-after < 16 && (a.text[at] == ' ' || a.text[at] == '\t') {
		at++
	}
	signs := bytes.Count(v, []byte("="))
	value := a.lines == 0 && (a.how == assigns ||
		a.directive && a.alone && a.name.strength == passName && human(v) ||
		a.said && human(v) || a.how == beside && signs > 1 && human(v)) ||
		a.alone && a.words == 0 && signs > 1 && human(v)
	if at < len(a.text) && (a.text[at] == ':' || a.text[at] == '=' && !bytes.HasPrefix(a.text[at:], []byte("=="))) &&
		!(quoted && value) {
		return v, at + 1
	}
	if quoted || value {
		return nil, 0
	}
	n := 0
	for n < len(v) && nameRune(v[n:]) == 1 {
		n++
	}
	if next := byteAt(a.text, after); n > 0 && n+1 == len(v) && v[n] == '=' && isAlpha(v[0]) &&
		(isQuote(next) || next == '{') {
		return v[:n], after // an attribute
	}
	if n > 0 && n < 40 && n+1 < len(v) && isAlpha(v[0]) && v[len(v)-1] != '=' &&
		(v[n] == '=' || v[n] == ':' && v[n+1] != '/') {
		return v[:n], after - len(v) + n + 1
	}
	return nil, 0
}

// summed reports whether the line says before the name that what follows is the fingerprint of a key, not a key.
func (a *assignment) summed() bool {
	start, _ := lineAround(a.text, a.name.start)
	a.cost += a.name.start - start
	found := false
	sums().from(a.text[start:a.name.start], 0, 0, func(int32, int) { found = true })
	return found
}

// sums are words before the name of a key that say that a digest after it is no key.
var sums = automatonOf("cert x.509 x509 fingerprint checksum loaded digest public gpg verified issuer thumbprint")

// shortestPart is the length of the shortest value that is looked for in more than one part.
const shortestPart = 16

// take adds a value. Of a change, the value after the arrow is one too.
func (a *assignment) take(start, end int) {
	if env := a.how == assigns && a.lines == 0 && a.name.upper && end < len(a.text) && a.text[a.name.end] == '='; env {
		for end < len(a.text) && end-start < longestValue && a.text[end] > ' ' && a.text[end] < utf8.RuneSelf &&
			!isQuote(a.text[end]) && a.text[end] != '\\' && a.text[end] != '<' &&
			!(end+1 == len(a.text) || ends[a.text[end+1]] && ends[a.text[end]]) {
			if a.name.strength < passName && bytes.IndexByte([]byte(",;&|"), a.text[end]) >= 0 {
				break
			}
			end++
		}
	}
	a.found = append(a.found, [2]int{start, end})
	end = a.continued(start, end)
	a.at = end
	rest := a.text[end:min(len(a.text), end+8)]
	if i := bytes.Index(rest, []byte("->")); i >= 0 && len(a.found) == 1 {
		a.at += i + 2
		a.how = assigns
		return
	}
	if a.object && a.name.plural && len(a.found) < mostParts {
		a.how = near
		return
	}
	a.stop = true
}

// continued adds the parts in which a value goes on, and returns where they end: each is one random word.
func (a *assignment) continued(start, end int) int {
	literal := isQuote(a.text[start-1])
	if !literal && isAllHex(a.text[start:end]) {
		return a.restOfHex(start, end)
	}
	if end-start < shortestPart {
		return end
	}
	for range mostParts {
		at, ok := joint(a.text, start, end)
		if !ok {
			break
		}
		to := at
		for to < len(a.text) && to-at < longestValue && (inCode[a.text[to]] != 0 || a.text[to] == '=') {
			to++
		}
		a.cost += to - end
		v := a.text[at:to]
		if to < len(a.text) && strings.IndexByte("\n\r;,\"'`\\ )]<", a.text[to]) < 0 || len(v) < minPart ||
			!hasKinds(v, 3) && !literal && len(v) != end-start || !isPart(v, end-start) || isPlain(v) {
			break
		}
		a.found = append(a.found, [2]int{at, to})
		start, end = at, to
	}
	return end
}

// restOfHex adds the rest of a value of hex digits, which its line is too short for.
func (a *assignment) restOfHex(start, end int) int {
	at, ok := joint(a.text, start, end)
	if !ok || end-start < shortestPart || bytes.IndexByte(a.text[end:at], '\n') < 0 {
		return end
	}
	to := at + hexRun(a.text[at:min(len(a.text), at+longestShape)])
	switch to - at + end - start {
	case 32, 40, 48, 64, 96, 128:
		if to-at > 3 && endsLine(a.text, to) {
			a.cost += to - end
			a.found = append(a.found, [2]int{at, to})
			return to
		}
	}
	return end
}

func wordSet(words string) map[string]bool {
	all := map[string]bool{}
	for _, w := range bytes.Fields([]byte(words)) {
		all[string(w)] = true
	}
	return all
}

func isValueKey(key []byte) bool { return valueKeys[string(lowered(bytes.Trim(key, `"'-_ `)))] }
