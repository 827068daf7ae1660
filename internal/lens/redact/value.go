package redact

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// isValue reports whether v is the secret value of the name: the surer the name and the link are, the less random it
// has to be.
func (a *assignment) isValue(v []byte, quoted bool) bool {
	cut := untilElision(v)
	if len(cut) < len(v) && len(cut) >= shortestForm/2 && madeOf(cut[:min(len(cut), judged)]).random() {
		v = cut // it breaks off
	}
	if a.name.codes {
		return a.how == assigns && isCodeOf(v)
	}
	if a.name.strength == idName {
		return a.how == assigns && isUUID(v)
	}
	if len(v) < 6 || len(v) < 8 && (a.name.strength != passName && a.name.strength != weakPass || a.how < assigns) {
		return false
	}
	head := v[:min(len(v), judged)]
	letters := !slices.ContainsFunc(head, func(c byte) bool { return c < utf8.RuneSelf && !isAlpha(c) })
	if letters && (isTitle(head) || a.how == near && a.words == 0 && !quoted && len(head) < 20 &&
		!(a.name.strength == passName && isJumbled(head))) {
		return false // a word
	}
	wide := 0
	for _, c := range head {
		if c >= utf8.RuneSelf {
			wide++
		}
	}
	if a.name.strength == passName && (a.how == assigns || quoted || a.said) &&
		isPhraseName(a.text, a.name.start, a.name.end) && isPhrase(head) {
		return true
	}
	m := madeOf(head)
	if 3*wide > len(head) || letters && wide > 0 && !isJumbled(head) {
		return false // words of another language
	}
	if m.odd == 0 && m.signs == 0 || repeats(head) || isPlain(v) || a.name.strength < passName && isFile(v) {
		return false
	}
	if !quoted && a.how < assigns && m.digits == 0 && isIdent(head) && !isJumbled(head) && !a.said {
		return false // a name in code
	}
	n, how := a.name.strength, a.how
	short := isAllHex(v) && len(v) <= 16
	if (short || len(v) == 40 && isAllHex(v)) && a.words > 0 && !quoted || isColons(v) && n < passName {
		return false // a commit, the id of a key, or a fingerprint
	}
	if short && n < passName && n != weakPass && !(n == strongName && len(v) == 16 && how >= beside && a.words == 0 &&
		m.letters > 2 && m.digits > 2 && !hasUpper(v) && (how == assigns || a.inTable())) || isPoint(v) || isDotted(v) {
		return false
	}
	if n == weakName && isBareKey(a.text[a.name.start:a.name.end]) && !isKeyCode(v) {
		return false // the key of a row
	}
	if n == passName && (a.words == 0 || a.said) && hasKinds(head, 4) {
		return true
	}
	if n == strongName && how >= beside && (a.words == 0 || a.said) && hasKinds(head, 4) && !isFile(v) &&
		isOneWord(head) {
		return true // a person has chosen it
	}
	if n < passName && how < assigns && !quoted && len(v) <= 12 && isAllHex(v) {
		return false // a commit
	}
	if n == passName && human(head) && isOneWord(head) && (a.said || how == assigns || quoted && how >= beside ||
		a.words < 3 && a.alone) {
		return true
	}
	if n == strongName && a.alone && a.words == 0 && a.secretly() && human(head) && isOneWord(head) {
		return true
	}
	if n == passName && a.directive && (a.alone || quoted) && isOneWord(head) &&
		(m.chosen() && m.digits > 0 || human(head) || isWords(head, 2)) {
		return true
	}
	some := m.random() || m.odd > 4 && 3*m.odd >= m.letters+m.digits && m.changes > 1
	switch {
	case n == passName && how == assigns && a.words == 0:
		return m.random() || m.chosen() || human(head) || a.generated(head, quoted) || isWords(head, 2)
	case n == passName && how >= beside:
		return m.random() || m.chosen() || a.generated(head, quoted) || a.said && (human(head) || isWords(head, 2)) ||
			letters && isJumbled(head)
	case n == passName && a.words == 0 && letters && isJumbled(head):
		return true
	case n == passName:
		return a.said && isWords(head, 2) || a.words == 0 && a.generated(head, quoted) || m.random() ||
			m.chosen() && m.odd > 3 && m.digits > 0 && m.letters > 0 && m.changes > 0
	case n == weakPass && (a.said || how == assigns) && human(head) && isOneWord(head):
		return true
	case n == weakPass && a.words == 0 && how < assigns && hasKinds(head, 4) && isOneWord(head):
		return true
	case n == weakPass && how == assigns:
		return m.random() || m.chosen() || a.generated(head, quoted)
	case n == weakPass && how == beside:
		return m.random() || m.chosen() && m.odd > 3 && m.digits > 0 && m.changes > 0
	case n == strongName && how == assigns && a.words == 0 && a.secretly() && human(head) && isOneWord(head):
		return true
	case n == strongName && how >= beside:
		return some || how == assigns && (len(v) >= 16 && isCode(v) || isLogin(head))
	case n == strongName:
		return m.random() && m.digits > 0 && (!isDigest(v) || a.words == 0 || quoted || a.said)
	case n == mediumName && how == assigns && quoted && isAuth(a.text[a.name.start:a.name.end]) && m.signs > 0 &&
		human(head):
		return isOneWord(head)
	case n == mediumName && how == assigns:
		return m.random() && (a.name.upper || !isDigest(v))
	case n == mediumName && how == beside:
		return m.random() && m.digits > 0 && (a.name.upper || !isDigest(v))
	case n == weakName && hasKinds(head, 4) && (how == assigns || m.random() && a.words < 4) &&
		roleOf(a.text[a.name.start:a.name.end])&isKeyWord != 0 && lower(a.text[a.name.start]) != 'k':
		return true
	case n == weakName && how == assigns:
		return m.random() && m.digits > 0 && len(v) >= 16 && !isDigest(v)
	}
	return false
}

// inTable reports whether the sign that divides the cells of a table lies between the name and the value.
func (a *assignment) inTable() bool {
	return bytes.ContainsAny(a.text[a.name.end:a.at], "|│")
}

// isTitle reports whether a text is one word of letters, all small but the first, as labels in any language are.
func isTitle(v []byte) bool {
	vowels := 0
	for i, c := range v {
		if i > 0 && c-'A' < 26 {
			return false
		}
		if c >= utf8.RuneSelf || strings.IndexByte("aeiouy", lower(c)) >= 0 {
			vowels++
		}
	}
	return v[0]-'a' >= 26 && 4*vowels >= len(v)
}

// isJumbled reports whether letters are capital and small in no order.
func isJumbled(v []byte) bool {
	changes := 0
	for i := 1; i < len(v); i++ {
		if (v[i]-'a' < 26) != (v[i-1]-'a' < 26) {
			changes++
		}
	}
	return changes > 3 && 2*madeOf(v).odd >= len(v)
}

// isOneWord reports whether a text has no character by which code goes on.
func isOneWord(v []byte) bool {
	return !bytes.ContainsAny(v, "(){}[]<>;,|\\ \t") && !bytes.Contains(v, []byte("->"))
}

// secretly reports whether the name has a word for a secret that a person may choose, rather than a token or a key.
func (a *assignment) secretly() bool {
	return bytes.Contains(bytes.ToLower(a.text[a.name.start:a.name.end]), []byte("secret"))
}

// isAuth reports whether a name is auth alone, as in the configuration of Redis.
func isAuth(name []byte) bool { return bytes.EqualFold(name, []byte("auth")) }

// isLogin reports whether a text is a user, a colon and a password that a person made.
func isLogin(v []byte) bool {
	user, password, ok := bytes.Cut(v, []byte(":"))
	return ok && len(user) > 1 && isIdent(user) && human(password) && !isVersion(password)
}

func isIdent(v []byte) bool {
	return !slices.ContainsFunc(v, func(c byte) bool { return nameRune([]byte{c}) == 0 })
}

// generated reports whether a value is words of a generator. Tests that pass have such names.
func (a *assignment) generated(v []byte, quoted bool) bool {
	return (quoted || a.name.end-a.name.start > len("pass")) && (isWords(v, 3) || a.how == assigns && isWords(v, 2))
}

// isWords reports whether a text is at least so many words with dashes between them and a number beside them, as
// generators of passwords make them: amber-violin-harbour-42. Words that names have are part of one.
func isWords(v []byte, least int) bool {
	body := bytes.Trim(v, "0123456789")
	if len(body) == 0 {
		return false
	}
	n := len(v) - len(body)
	for part := range bytes.SplitSeq(body, []byte("-")) {
		if d := digits(part); d == len(part) {
			n += d
		}
	}
	if n > 4 || n < 2 && least < 4 || least < 3 && body[0] != v[0] {
		return false
	}
	words := 0
	for word := range bytes.SplitSeq(bytes.Trim(body, "-"), []byte("-")) {
		low := lowered(word)
		if len(word) > 0 && digits(word) == len(word) && words > 0 {
			continue // a number between them
		}
		if len(low) < 3 || !isLowerWord(low) || nameRoles[string(low)] != 0 || neutralWords[string(low)] ||
			fillers[string(low)] {
			return false
		}
		words++
	}
	return words >= least
}

func isLowerWord(v []byte) bool {
	return !slices.ContainsFunc(v, func(c byte) bool { return c-'a' >= 26 })
}

// isPhrase reports whether a text is words with spaces or dashes between them, of which none is one of a sentence.
func isPhrase(v []byte) bool {
	return isWords(bytes.ReplaceAll(v, []byte(" "), []byte("-")), 4)
}

// isCode reports whether a text is of capital letters and digits, both, and of nothing else.
func isCode(v []byte) bool {
	uppers := 0
	for _, c := range v {
		if c-'A' < 26 {
			uppers++
		} else if c-'0' >= 10 {
			return false
		}
	}
	return uppers > 0 && uppers < len(v)
}

func isDigest(v []byte) bool { return digest().Match(v) }

// human reports whether a text looks like a password that a person made of words, digits and signs.
func human(v []byte) bool { return hasKinds(v, 3) }

// hasKinds reports whether a text has digits, and at least so many kinds of characters: capital and small letters,
// digits and signs.
func hasKinds(v []byte, least int) bool {
	var lowers, uppers, digits, signs int
	for _, c := range v {
		switch {
		case c-'a' < 26:
			lowers++
		case c-'A' < 26:
			uppers++
		case c-'0' < 10:
			digits++
		case c != '_' && c != '-' && c != '.' && c != '/' && c != ':' && c != ' ':
			signs++
		}
	}
	kinds := min(lowers, 1) + min(uppers, 1) + min(digits, 1) + min(signs, 1)
	return len(v) >= 8 && digits > 0 && kinds >= least
}

// isPlain reports whether a value is a placeholder, a reference, a version, a date, or the name of a method.
func isPlain(v []byte) bool {
	for _, p := range references {
		if bytes.HasPrefix(v, []byte(p)) {
			if p[0] == '!' || p[0] == '{' || p[0] == '[' || p[0] == '(' { // !vault, or a password
				if len(v) > 1 && !isAlpha(v[1]) && v[1] != p[0] && v[1] != ' ' {
					continue
				}
				if p[0] == '!' && madeOf(v[:min(len(v), judged)]).digits > 0 {
					continue
				}
			}
			if p[0] == '$' && len(v) > 1 && !isAlpha(v[1]) && v[1] != '_' && v[1] != '{' && v[1] != '(' && v[1] != '$' {
				continue
			}
			return true
		}
	}
	head := v[:min(len(v), judged)]
	found := false
	stopWords().from(head, 0, 0, func(int32, int) { found = true })
	for _, sign := range []string{"${", "{{", "$(", "://"} {
		found = found || bytes.Contains(head, []byte(sign))
	}
	return found || isLocation(v) || isNameOfOne(v) || isProduct(v) || isVersion(v) || isMethod(v) || isNumbers(v) ||
		isAddress(v)
}

// isLocation reports whether a value is a place in code: a line of a file, a name with dots before it, a symbol of a
// linker, or the file of a key.
func isLocation(v []byte) bool {
	if n := bytes.LastIndexByte(v, ':'); n > 2 && n+1 < len(v) && digits(v[n+1:]) == len(v)-n-1 && isFile(v[:n]) {
		return true
	}
	for _, end := range []string{"_rsa", "_ed25519", "_ecdsa", "_dsa"} {
		if bytes.HasSuffix(v, []byte(end)) {
			return true
		}
	}
	if bytes.HasPrefix(v, []byte("_ZN")) || bytes.HasPrefix(v, []byte("$s")) && isIdent(v[1:]) && digits(v[2:]) > 0 {
		return true
	}
	dots := 0
	for part := range bytes.SplitSeq(v[:min(len(v), judged)], []byte(".")) {
		if len(part) == 0 || !isAlpha(part[0]) || !isIdent(part) || 3*madeOf(part).odd > len(part) {
			return false
		}
		dots++
	}
	return dots > 3
}

// isProduct reports whether a value is a number times a constant: 30*time.Second.
func isProduct(v []byte) bool {
	n := digits(v)
	if n == 0 || n+1 >= len(v) || v[n] != '*' || !isAlpha(v[n+1]) {
		return false
	}
	return !slices.ContainsFunc(v[n+1:], func(c byte) bool { return !isAlpha(c) && c != '.' && c != '_' })
}

// isAddress reports whether a text is an address in memory: 0xc000123abc.
func isAddress(v []byte) bool {
	digits, ok := bytes.CutPrefix(v, []byte("0x"))
	return ok && len(digits) <= 16 && isAllHex(digits)
}

func isAllHex(v []byte) bool { return !slices.ContainsFunc(v, func(c byte) bool { return !isHex(c) }) }

// isFile reports whether a text is the name of a file: it ends in a dot and letters.
func isFile(v []byte) bool {
	n := len(v)
	for n > 0 && v[n-1]-'a' < 26 {
		n--
	}
	return n > 1 && v[n-1] == '.' && len(v)-n > 1 && len(v)-n < 8
}

// isVersion reports whether a text is a version: 1.2.3-rc1, ^2.0, v1beta1.
func isVersion(v []byte) bool {
	i := 0
	for i < len(v) && bytes.IndexByte([]byte("^~><=v"), v[i]) >= 0 {
		i++
	}
	n := digits(v[i:])
	return n > 0 && n < 5 && i+n < len(v) && v[i+n] == '.' && digits(v[i+n+1:]) > 0 && len(v) < 40
}

// isNumbers reports whether a text is a number, a date, a time or an address.
func isNumbers(v []byte) bool {
	n, others := 0, 0
	for _, c := range v {
		switch {
		case c-'0' < 10:
			n++
		case c == '.' || c == '-' || c == ':' || c == '/' || c == '+' || c == 'T' || c == 'Z' || c == '_':
			others++
		default:
			return false
		}
	}
	return others > 0 || n < 8
}

// isMethod reports whether a text names a cryptographic method: AES-256-GCM.
func isMethod(v []byte) bool {
	if len(v) > 32 {
		return false
	}
	for _, part := range bytes.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("-_/.+:", r) }) {
		if !methods[string(lowered(part))] {
			return false
		}
	}
	return true
}
