package redact

import (
	"bytes"
	"slices"
)

// A spot is a word, and where it ends in a text.
type spot struct{ word, end int32 }

// lineWords are the words of a line, in order: what is outside its strings and what is inside of them both need
// these.
type lineWords struct {
	all   []spot
	known bool          // they were looked for
	lanes [lanes][]spot // by part of the text that the automaton reads
}

// longestListed is the length of lines whose words are kept, in bytes: others may have too many.
const longestListed = 1 << 18

// list finds the words of a line, except in the data of its images and the like.
func (s *Scanner) list(line []byte, tokens []token) {
	l := &s.lineWords
	if l.all, l.known = l.all[:0], len(line) <= longestListed; !l.known {
		return
	}
	from := 0
	for i := range tokens {
		if t := &tokens[i]; !t.searched() && t.end-t.start > 2*margin {
			l.add(s.r.words, line, from, t.start+margin)
			from = t.end - margin
		}
	}
	l.add(s.r.words, line, from, len(line))
}

// add adds the words of line[from:to].
func (l *lineWords) add(words *automaton, line []byte, from, to int) {
	size := max(1, (to-from)/lanes)
	words.each(line[from:to], func(word int32, end int) {
		lane := &l.lanes[min((end-1)/size, lanes-1)]
		*lane = append(*lane, spot{word, int32(from + end)})
	})
	for k := range l.lanes {
		l.all, l.lanes[k] = append(l.all, l.lanes[k]...), l.lanes[k][:0]
	}
}

// in calls found for each word in line[start:end], with its end. It returns false if the words of the line are not
// known.
func (l *lineWords) in(start, end int, found func(word int32, end int)) bool {
	if !l.known {
		return false
	}
	k, _ := slices.BinarySearchFunc(l.all, start, func(w spot, at int) int { return int(w.end) - at - 1 })
	for ; k < len(l.all) && int(l.all[k].end) <= end; k++ {
		found(l.all[k].word, int(l.all[k].end))
	}
	return true
}

// wordsOfLine is words for a part of the line.
func (s *Scanner) wordsOfLine(dst []hit, line []byte, start, end int) []hit {
	if !s.lineWords.in(start, end, func(word int32, at int) {
		if at-s.r.uses[word][0].size >= start {
			dst = s.use(dst, line, word, at)
		}
	}) {
		return s.words(dst, line, start, end)
	}
	return dst
}

// shortest is the length of the shortest text, in bytes, of which a part may be decoded: a row of a dump.
const shortest = 15

// bland reports whether a short string without a backslash has no secret but those that the search of the line finds.
func (s *Scanner) bland(text []byte, t *token) bool {
	if len(text) >= shortest {
		return false
	}
	signs := uint8(0)
	for _, c := range text {
		signs |= special[c]
	}
	if signs != 0 || bytes.IndexByte(text, '=') >= 0 || !t.searched() {
		return false
	}
	if t.at&(isID|isWord) == 0 {
		return true
	}
	none := len(s.r.always) == 0 && s.r.parts == nil
	return none && s.lineWords.in(t.start, t.end, func(word int32, end int) {
		none = none && end-s.r.uses[word][0].size < t.start
	}) && none
}
