// Package linediff compares texts line by line, with the same result on every machine.
package linediff

import (
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"

	"ctxtool/internal/read/phrase"
)

// A Line is a line of a comparison: removed ('-'), added ('+') or common (' '). The text has no
// line end.
type Line struct {
	Mark byte
	Text string
}

// mostCompared is the maximum number of pairs of lines to compare, after removing common lines
// at both ends. Beyond it the texts count as completely different, since comparing takes
// quadratic time.
const mostCompared = 1 << 22

// Lines compares two texts line by line.
func Lines(old, new string) (all []Line) {
	a, b := splitLines(old), splitLines(new)
	head, tail := common(a, b)
	all = marked(all, ' ', a[:head])
	from, to := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(from)*len(to) > mostCompared {
		all = marked(marked(all, '-', from), '+', to)
	} else {
		m := diffmatchpatch.New()
		m.DiffTimeout = 0 // the same diff on every machine
		x, y, lines := m.DiffLinesToRunes(joinLines(from), joinLines(to))
		for _, d := range m.DiffCharsToLines(m.DiffMainRunes(x, y, false), lines) {
			mark := map[diffmatchpatch.Operation]byte{diffmatchpatch.DiffDelete: '-', diffmatchpatch.DiffInsert: '+',
				diffmatchpatch.DiffEqual: ' '}[d.Type]
			all = marked(all, mark, splitLines(d.Text))
		}
	}
	return marked(all, ' ', a[len(a)-tail:])
}

// common returns the length of the common beginning of two lists, and of the common end of the
// rest.
func common[T comparable](a, b []T) (head, tail int) {
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

func marked(dst []Line, mark byte, lines []string) []Line {
	for _, text := range lines {
		dst = append(dst, Line{mark, text})
	}
	return dst
}

// splitLines returns the lines of a text without line ends.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func joinLines(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

// Append appends a comparison in diff format.
func Append(dst []byte, all []Line) []byte {
	for _, l := range all {
		dst = append(append(append(dst, l.Mark), l.Text...), '\n')
	}
	return dst
}

// contextLines is how many lines are shown around each change.
const contextLines = 3

// Fold removes lines far from any change, and puts one line with their number in place.
func Fold(all []Line) (out []Line) {
	near := make([]bool, len(all))
	for i, l := range all {
		if l.Mark != ' ' {
			for k := max(0, i-contextLines); k < min(len(all), i+contextLines+1); k++ {
				near[k] = true
			}
		}
	}
	for i := 0; i < len(all); i++ {
		if near[i] {
			out = append(out, all[i])
			continue
		}
		n := i
		for n < len(all) && !near[n] {
			n++
		}
		out = append(out, Line{'@', phrase.Count(n-i, "line") + " the same"})
		i = n - 1
	}
	return out
}

// ShortLine is the maximum length in bytes of lines that are compared by word.
const ShortLine = 400

// Words compares two lines by word: pieces of the old one with '-' or ' ', of the new one with
// '+' or ' '. It does not compare long lines.
func Words(old, new string) (was, is []Line) {
	if len(old) > ShortLine || len(new) > ShortLine {
		return []Line{{' ', old}}, []Line{{' ', new}}
	}
	m := diffmatchpatch.New()
	m.DiffTimeout = 0
	for _, d := range m.DiffCleanupSemantic(m.DiffMain(old, new, false)) {
		switch d.Type {
		case diffmatchpatch.DiffDelete:
			was = append(was, Line{'-', d.Text})
		case diffmatchpatch.DiffInsert:
			is = append(is, Line{'+', d.Text})
		default:
			was, is = append(was, Line{' ', d.Text}), append(is, Line{' ', d.Text})
		}
	}
	return was, is
}

// contextRunes is how many common characters of two long lines are kept before and after the
// difference.
const contextRunes = 60

// Narrow shortens the common beginning and end of two long lines.
func Narrow(old, new string) (string, string) {
	if len(old) <= ShortLine && len(new) <= ShortLine {
		return old, new
	}
	a, b := []rune(old), []rune(new)
	head, tail := common(a, b)
	cut := func(r []rune) string {
		var text strings.Builder
		from, to := max(0, head-contextRunes), min(len(r), len(r)-tail+contextRunes)
		if from > 0 {
			text.WriteString("…")
		}
		text.WriteString(phrase.Cut(string(r[from:to]), ShortLine))
		if to < len(r) {
			text.WriteString("…")
		}
		return text.String()
	}
	return cut(a), cut(b)
}
