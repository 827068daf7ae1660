package render

import (
	"bytes"
	"strings"

	"github.com/sergi/go-diff/diffmatchpatch"
)

// A diffLine is a line of a comparison: one that was there ('-'), is there ('+') or is
// in both (' '). The text has no line end.
type diffLine struct {
	mark byte
	text string
}

// mostCompared is how many pairs of lines are compared, besides what both texts have at
// their beginning and end: beyond it they differ as a whole. Where nothing is alike,
// comparing takes time by their number.
const mostCompared = 1 << 22

// diffLines compares two texts line by line. It is the same on every machine.
func diffLines(old, new string) (all []diffLine) {
	a, b := splitLines(old), splitLines(new)
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	all = marked(all, ' ', a[:head])
	from, to := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(from)*len(to) > mostCompared {
		all = marked(marked(all, '-', from), '+', to)
	} else {
		m := diffmatchpatch.New()
		m.DiffTimeout = 0 // the same diff on every machine
		x, y, lines := m.DiffLinesToRunes(joinLines(from), joinLines(to))
		for _, d := range m.DiffCharsToLines(m.DiffMainRunes(x, y, false), lines) {
			mark := map[diffmatchpatch.Operation]byte{diffmatchpatch.DiffDelete: '-', diffmatchpatch.DiffInsert: '+', diffmatchpatch.DiffEqual: ' '}[d.Type]
			all = marked(all, mark, splitLines(d.Text))
		}
	}
	return marked(all, ' ', a[len(a)-tail:])
}

func marked(dst []diffLine, mark byte, lines []string) []diffLine {
	for _, text := range lines {
		dst = append(dst, diffLine{mark, text})
	}
	return dst
}

// splitLines are the lines of a text without their ends.
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

// appendDiff appends a comparison as a diff has it.
func appendDiff(dst []byte, all []diffLine) []byte {
	for _, l := range all {
		dst = append(append(append(dst, l.mark), l.text...), '\n')
	}
	return dst
}

// around is how many lines are shown around each change.
const around = 3

// folded is a comparison without the lines that are far from any change: one line says
// how many there are.
func folded(all []diffLine) (out []diffLine) {
	near := make([]bool, len(all))
	for i, l := range all {
		if l.mark != ' ' {
			for k := max(0, i-around); k < min(len(all), i+around+1); k++ {
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
		out = append(out, diffLine{'@', count(n-i, "line") + " the same"})
		i = n - 1
	}
	return out
}

// shortLine is up to how many bytes of a line are compared word by word, and shown.
const shortLine = 400

// wordsOf compares two lines: pieces of the old one with '-' or ' ', of the new one with
// '+' or ' '. Long ones are not compared.
func wordsOf(old, new string) (was, is []diffLine) {
	if len(old) > shortLine || len(new) > shortLine {
		return []diffLine{{' ', old}}, []diffLine{{' ', new}}
	}
	m := diffmatchpatch.New()
	m.DiffTimeout = 0
	for _, d := range m.DiffCleanupSemantic(m.DiffMain(old, new, false)) {
		switch d.Type {
		case diffmatchpatch.DiffDelete:
			was = append(was, diffLine{'-', d.Text})
		case diffmatchpatch.DiffInsert:
			is = append(is, diffLine{'+', d.Text})
		default:
			was, is = append(was, diffLine{' ', d.Text}), append(is, diffLine{' ', d.Text})
		}
	}
	return was, is
}

// besides is how many characters are left of what two long lines have in common before
// and behind what differs.
const besides = 60

// narrowed cuts what two long lines have in common.
func narrowed(old, new string) (string, string) {
	if len(old) <= shortLine && len(new) <= shortLine {
		return old, new
	}
	a, b := []rune(old), []rune(new)
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	cut := func(r []rune) string {
		var text bytes.Buffer
		from, to := max(0, head-besides), min(len(r), len(r)-tail+besides)
		if from > 0 {
			text.WriteString("…")
		}
		text.WriteString(cutWordsAt(string(r[from:to]), shortLine))
		if to < len(r) {
			text.WriteString("…")
		}
		return text.String()
	}
	return cut(a), cut(b)
}
