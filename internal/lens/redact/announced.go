package redact

import (
	"bytes"
	"strings"
)

// mostCodes is how many lines of codes are read below what announces them.
const mostCodes = 24

// announced looks for a value that is alone on the line below the one of the name, which ends in a colon: Use this
// password to sign in: and then the password. Below the name of a key the line may end in another sign.
func (a *assignment) announced() {
	rest := a.text[a.name.end:min(len(a.text), a.name.end+longestLink)]
	n := bytes.IndexByte(rest, '\n')
	a.cost += max(0, n)
	if n < 0 || a.name.strength <= weakName {
		return
	}
	line := bytes.TrimRight(rest[:n], " \r*_`")
	colon := bytes.HasSuffix(line, []byte(":")) || bytes.HasSuffix(line, []byte("："))
	if !colon && (len(bytes.Fields(line)) > 1 || a.name.strength != strongName) || summedLine(line) {
		return
	}
	start, _ := lineAround(a.text, a.name.start)
	before := a.text[start:a.name.start]
	a.how, a.words, a.said, a.alone = assigns, 0, true, true
	blank := 0
	for at := a.name.end + n + 1; at < len(a.text) && blank < 3 && len(a.found) < mostCodes; {
		to := at + bytes.IndexByte(a.text[at:min(len(a.text), at+longestRow)], '\n')
		if to < at {
			to = min(len(a.text), at+longestRow)
		}
		from := at + shared(before, a.text[at:to])
		a.cost += to - at
		for from < to && strings.IndexByte(" \t>*|#$`\"'", a.text[from]) >= 0 {
			from++
		}
		end := to
		for end > from && strings.IndexByte(" \t\r|*`\"'", a.text[end-1]) >= 0 {
			end--
		}
		v := a.text[from:end]
		at = to + 1
		if len(v) == 0 {
			blank++
			continue
		}
		if bytes.ContainsAny(v, " \t") || !colon && !(isMixedCode(v) && len(v) >= shortestForm) ||
			!a.isValue(v, false) || a.name.strength < passName && isFile(v) {
			return
		}
		a.found = append(a.found, [2]int{from, end})
		if !a.name.codes {
			return
		}
	}
}

// summedLine reports whether a line has a word for what stands for a secret, but is none.
func summedLine(line []byte) bool {
	for word := range bytes.FieldsSeq(line) {
		if sumWords[string(lowered(bytes.Trim(word, ".,:()")))] {
			return true
		}
	}
	return false
}

// codeName returns the end of a name of codes by which a user signs in who has lost another device, which
// text[at:end] is, and whether it is one.
func codeName(text []byte, at, end int) (int, bool) {
	word := text[at:end]
	if n := bytes.IndexByte(word, ' '); n < 1 || n == len(word)-1 {
		return end, false
	}
	if byteAt(text, end) == 's' {
		end++
	}
	return end, true
}

// isCodeOf reports whether a text is such a code: letters and digits, mostly with a dash between.
func isCodeOf(v []byte) bool {
	m := madeOf(v)
	return len(v) >= 8 && len(v) <= 32 && m.digits > 0 && m.signs == 0 && m.letters > 1 && 2*m.odd >= m.letters &&
		bytes.IndexByte(v, '/') < 0 && bytes.IndexByte(v, '.') < 0
}

// beginsLine reports whether the name is the first word of its line, or follows a user: login ann password X.
func (a *assignment) beginsLine() bool {
	before := a.text[max(0, a.name.start-longestName):a.name.start]
	before = before[bytes.LastIndexByte(before, '\n')+1:]
	if len(bytes.TrimLeft(before, " \t>+-#;|")) == 0 {
		return true
	}
	words := bytes.Fields(before)
	return len(words) > 1 && userNames[string(lowered(words[len(words)-2]))]
}
