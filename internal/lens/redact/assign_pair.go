package redact

import (
	"bytes"
	"unicode"
)

// This file reads values that stand before their name, and names that are values themselves.

// paired reports whether the name is the value of a name: name: PASSWORD, key="password".
func (a *assignment) paired() bool {
	i := a.name.start
	for i > 1 && a.text[i-1] == '/' && a.name.start-i < longestLink { // it ends a path
		for i--; i > 0 && a.name.start-i < longestLink && isShape(a.text[i-1]); i-- {
		}
	}
	at := i
	for most := 8; i > 0 && most > 0 && bytes.IndexByte([]byte(" \"'`\t>\\"), a.text[i-1]) >= 0; most-- {
		if a.text[i-1] == '>' && i > 1 {
			end := i - 1
			for i = end; i > 0 && end-i < 16 && isAlpha(a.text[i-1]); i-- {
			}
			return i > 0 && a.text[i-1] == '<' && nameKeys[string(lowered(a.text[i:end]))]
		}
		i--
	}
	if i == 0 || a.text[i-1] != ':' && a.text[i-1] != '=' {
		return flagged(a.text[:i])
	}
	for i--; i > 0 && bytes.IndexByte([]byte(" \"'`\t\\"), a.text[i-1]) >= 0; i-- {
		if at-i > 24 {
			return false
		}
	}
	end := i
	for i > 0 && end-i < 16 && (isWordByte(a.text[i-1]) || a.text[i-1] == '_') {
		i--
	}
	return i < end && nameKeys[string(lowered(a.text[i:end]))]
}

// flagged reports whether a text ends in an option for the name of a value: --name.
func flagged(before []byte) bool {
	i := len(before)
	for i > 0 && len(before)-i < 16 && (isAlpha(before[i-1]) || before[i-1] == '-') {
		i--
	}
	name := bytes.TrimLeft(before[i:], "-")
	return len(name) > 1 && len(name) < len(before)-i && nameKeys[string(lowered(name))]
}

// The words that last looks for.
const (
	lastValue = iota
	lastAs
	lastVal
)

// A lastWord is where the last of a word is in what was searched of a text, -1 for nowhere.
type lastWord struct{ at, searched int }

// last returns where a word is last in a.text[from:a.name.start], -1 for nowhere. What was searched for the name before
// is not searched again.
func (a *assignment) last(from, which int, word string) int {
	known, to := &a.s.lasts[which], a.name.start
	if known.searched > to {
		*known = lastWord{at: -1}
	}
	start := max(from, known.searched-len(word)+1)
	a.cost += max(0, to-start)
	if n := bytes.LastIndex(a.text[min(start, to):to], []byte(word)); n >= 0 {
		known.at = start + n
	}
	if known.searched = to; known.at < from {
		return -1
	}
	return known.at
}

// before looks for the value of a pair before its name: value: X, name: PASSWORD.
func (a *assignment) before() {
	from := max(0, a.name.start-longestLink)
	at, size := a.last(from, lastValue, "alue")-from, len("alue")
	if at < 0 {
		if at, size = a.last(from, lastVal, " val ")-from, len(" val"); at < 0 {
			return
		}
	}
	b := assignment{s: a.s, text: a.text[:a.name.start], name: a.name}
	b.name.start, b.name.end = from+at, from+at+size
	b.at = b.name.end
	for b.at < len(b.text) && !b.stop {
		b.step()
	}
	a.found, a.cost = b.found, a.cost+b.cost+b.at-b.name.end
}

// reversed looks for a value before its name in a call whose second argument has a label, as in Swift:
// setValue("X", forHTTPHeaderField: "KEY").
func (a *assignment) reversed() {
	if start := a.name.start; start < minPart || !isQuote(a.text[start-1]) ||
		bytes.IndexByte(a.text[start-minPart/2:start], ':') < 0 {
		return
	}
	from := max(0, a.name.start-longestLink)
	from += bytes.LastIndexByte(a.text[from:a.name.start], '\n') + 1
	before := bytes.TrimRight(bytes.TrimRight(a.text[from:a.name.start], "\"'\\"), " ")
	a.cost += len(before)
	label, ok := bytes.CutSuffix(before, []byte(":"))
	if !ok {
		return
	}
	label = bytes.TrimRightFunc(label, unicode.IsLetter)
	comma := len(bytes.TrimRight(label, " "))
	if comma == len(before)-1 || comma < minPart || label[comma-1] != ',' {
		return
	}
	end := comma - 1
	for end > 0 && (isQuote(label[end-1]) || label[end-1] == '\\') {
		end--
	}
	start := end
	for start > 0 && !isQuote(label[start-1]) && label[start-1] != ' ' {
		start--
	}
	if a.how = assigns; start > 1 && end < comma-1 && a.isValue(label[start:end], true) {
		a.found = append(a.found, [2]int{from + start, from + end})
	}
}

// as looks for a value before its name: use X as the password, X is the password.
func (a *assignment) as() {
	from := max(0, a.name.start-longestName)
	from += bytes.LastIndexByte(a.text[from:a.name.start], '\n') + 1
	at := a.last(from, lastAs, " as ") - from
	is := at < 0
	if is {
		at = bytes.LastIndex(a.text[from:a.name.start], []byte(" is the "))
	}
	if at < 0 {
		return
	}
	for _, c := range a.text[from+at : a.name.start] {
		if !isWordByte(c) && c != ' ' && c != '_' && c != '-' {
			return
		}
	}
	end := from + at
	for end > from && bytes.IndexByte([]byte("\"'`)*"), a.text[end-1]) >= 0 {
		end--
	}
	start := end
	for start > 0 && end-start < longestValue && !ends[a.text[start-1]] {
		start--
	}
	a.cost += end - start
	a.how = near
	v := a.text[start:end]
	if a.isValue(v, false) || is && a.name.strength == passName && human(v) && isOneWord(v) {
		a.found = append(a.found, [2]int{start, end})
	}
}
