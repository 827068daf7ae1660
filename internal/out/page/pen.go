package page

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/base/markdown"
	"ctxtool/internal/base/sorting"
	"ctxtool/internal/out/transcript"
	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt"
)

// A pen writes the pieces of a page in one form. A text is content of the session, which is
// escaped; a line is output of the pen. All methods append to dst.
type pen interface {
	inline(dst []byte, text string) []byte  // a text on a line
	code(dst []byte, text string) []byte    // a name or a command on a line
	strong(dst []byte, words string) []byte // our own words

	heading(dst []byte, level int, anchor string, line []byte) []byte
	item(dst, line []byte) []byte
	line(dst, line []byte) []byte // a paragraph of one line
	text(dst, text []byte) []byte // paragraphs, lists and fences
	fence(dst []byte, info string, text []byte) []byte
	quote(dst, page []byte) []byte
	open(dst []byte, title title) []byte // what follows can be opened
	close(dst []byte) []byte
	link(dst []byte, anchor string, line []byte) []byte
	picture(dst []byte, file string) []byte
}

// A title is the line that opens a text: words, a name or a command, and more words, which
// begin with a comma.
type title struct{ before, code, after string }

// A markdownPen writes GitHub's Markdown.
type markdownPen struct{ anchors bool }

func (markdownPen) inline(dst []byte, text string) []byte {
	return markdown.AppendInline(dst, []byte(text))
}
func (markdownPen) code(dst []byte, text string) []byte {
	return markdown.AppendCode(dst, []byte(text))
}
func (markdownPen) strong(dst []byte, words string) []byte {
	return append(append(append(dst, "**"...), words...), "**"...)
}

func (p markdownPen) heading(dst []byte, level int, anchor string, line []byte) []byte {
	if p.anchors && anchor != "" {
		dst = append(dst, `<a id="`+anchor+"\"></a>\n\n"...)
	}
	dst = append(append(dst, strings.Repeat("#", level)...), ' ')
	return append(append(dst, line...), "\n\n"...)
}

func (markdownPen) item(dst, line []byte) []byte {
	return append(append(append(dst, "- "...), line...), '\n')
}

func (markdownPen) line(dst, line []byte) []byte { return append(append(dst, line...), "\n\n"...) }

func (markdownPen) text(dst, text []byte) []byte {
	at := len(dst)
	if dst = markdown.AppendText(dst, text); len(dst) > at {
		dst = append(dst, '\n')
	}
	return dst
}

func (markdownPen) fence(dst []byte, info string, text []byte) []byte {
	return append(markdown.AppendFence(dst, info, text), '\n')
}

// quote puts a mark before each line of a page, and none after the last one.
func (markdownPen) quote(dst, page []byte) []byte {
	for line := range bytes.Lines(bytes.TrimRight(page, "\n")) {
		dst = append(dst, '>')
		if len(line) > 1 || line[0] != '\n' {
			dst = append(dst, ' ')
		}
		dst = append(dst, line...)
	}
	return append(dst, "\n\n"...)
}

func (markdownPen) open(dst []byte, t title) []byte {
	dst = markdown.AppendHTML(append(dst, "<details><summary>"...), []byte(t.before))
	if t.code != "" {
		dst = markdown.AppendHTML(append(dst, " <code>"...), []byte(t.code))
		dst = append(dst, "</code>"...)
	}
	return append(markdown.AppendHTML(dst, []byte(t.after)), "</summary>\n\n"...)
}

func (markdownPen) close(dst []byte) []byte { return append(dst, "</details>\n\n"...) }

func (markdownPen) link(dst []byte, anchor string, line []byte) []byte {
	dst = append(append(append(dst, '['), line...), "](#"...)
	return append(append(dst, anchor...), ')')
}

func (markdownPen) picture(dst []byte, file string) []byte {
	return append(append(append(dst, "![image](<"...), file...), ">)\n\n"...)
}

// A textPen writes plain text. The methods that it does not have are those of Markdown.
type textPen struct{ markdownPen }

func (textPen) inline(dst []byte, text string) []byte {
	return append(dst, sessionfmt.Clean(strings.Join(strings.Fields(text), " "))...)
}
func (p textPen) code(dst []byte, text string) []byte  { return p.inline(dst, text) }
func (textPen) strong(dst []byte, words string) []byte { return append(dst, words...) }

func (textPen) heading(dst []byte, level int, _ string, line []byte) []byte {
	mark := "="
	if level > 1 {
		mark = "-"
	}
	dst = append(append(dst, line...), '\n')
	return append(append(dst, strings.Repeat(mark, min(78, max(3, len(line))))...), "\n\n"...)
}

func (textPen) text(dst, text []byte) []byte { return append(cleaned(dst, text, ""), '\n') }

func (textPen) fence(dst []byte, _ string, text []byte) []byte {
	return append(cleaned(dst, text, "    "), '\n')
}

func (p textPen) open(dst []byte, t title) []byte {
	dst = p.inline(dst, t.before)
	if t.code != "" {
		dst = p.inline(append(dst, ' '), t.code)
	}
	return append(p.inline(dst, t.after), "\n\n"...)
}

func (textPen) close(dst []byte) []byte { return dst }

func (textPen) link(dst []byte, _ string, line []byte) []byte { return append(dst, line...) }

func (textPen) picture(dst []byte, file string) []byte {
	return append(append(append(dst, "[image: "...), file...), "]\n\n"...)
}

// cleaned appends indented lines without control characters.
func cleaned(dst, text []byte, indent string) []byte {
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) > 0 {
			dst = append(append(dst, indent...), phrase.Clean(string(line))...)
		}
		dst = append(dst, '\n')
	}
	return dst
}

// The two parts of a block: the one that is never folded, and the rest. Either may be empty.
const (
	never = iota
	ifNeeded
	parts
)

// Characters that are reserved: for the line of the head on what was folded, and for a mark
// where something was folded.
const (
	foldedLine = 300
	foldedMark = 120
)

// smallest is the number of characters from which folding is worth a mark.
const smallest = 60

// A unit is a part of a block, as folding sees it.
type unit struct {
	size  int32 // in characters
	brief int32 // its size as a line, 0 if it has no such form
	turn  int32
	kind  transcript.Kind
	must  bool
	shape shape
}

// A shape is how much of a unit is shown.
type shape uint8

const (
	whole shape = iota
	brief       // a line
	gone
)

// A folder makes a page fit.
type folder struct {
	units  []unit
	must   int  // characters that are never folded
	all    int  // characters in all
	silent bool // there are no marks
}

func (f *folder) add(u unit) {
	f.units = append(f.units, u)
	f.all += int(u.size)
	if u.must {
		f.must += int(u.size)
	}
}

// keep sets a unit's size, and that it is never folded.
func (f *folder) keep(k int, size int32) {
	f.all += int(size - f.units[k].size)
	f.units[k].must, f.units[k].size = true, size
	f.must += int(size)
}

// fit folds the oldest and largest units first, until the page is within the budget. head is
// the size of the head.
func (f *folder) fit(budget, head int) error {
	if budget == 0 || f.must <= budget && head+f.all <= budget {
		return nil
	}
	if head+f.must > budget {
		return &TooLargeError{head + f.must, budget}
	}
	if !f.reduce(budget-head, foldedMark) {
		for k := range f.units {
			f.units[k].shape = whole
		}
		f.silent = true
		f.reduce(budget-head, 0)
	}
	return nil
}

// A fold is a unit that takes a smaller shape.
type fold struct {
	unit   int
	to     shape
	weight int64 // saved characters times the age of the turn
}

// folds returns all possible folds, the oldest and largest first. A unit becomes a line before
// it is removed, if that saves most of it.
func (f *folder) folds() (all []fold) {
	last := int64(0)
	for _, u := range f.units {
		last = max(last, int64(u.turn))
	}
	for k, u := range f.units {
		age := last - int64(u.turn) + 1
		switch {
		case u.must || u.size == 0:
		case u.brief > 0 && u.brief < u.size/2:
			all = append(all, fold{k, brief, age * int64(u.size-u.brief)},
				fold{k, gone, age * int64(u.brief) / worth(u)})
		default:
			all = append(all, fold{k, gone, age * int64(u.size) / worth(u)})
		}
	}
	sorting.By(all, func(a, b fold) int { return cmp.Compare(b.weight, a.weight) })
	return all
}

// worth returns the factor by which a unit is kept longer than its size implies: a line of
// what was done, or a result.
func worth(u unit) int64 {
	switch {
	case u.kind == transcript.Answer && (u.brief > 0 || u.size <= briefAnswer):
		return 32
	case u.brief > 0:
		return 2
	}
	return 1
}

// reduce folds until at most limit characters are left, and reports whether it could. A run
// of removed units costs a mark of that many characters.
func (f *folder) reduce(limit, mark int) bool {
	left := f.all
	for _, d := range f.folds() {
		if left <= limit {
			return true
		}
		u := &f.units[d.unit]
		if mark > 0 && d.to == gone && u.size < smallest {
			continue // the mark would be as long
		}
		was := int(u.size)
		if u.shape == brief {
			was = int(u.brief)
		}
		u.shape = d.to
		if d.to == brief {
			left += int(u.brief) - was
		} else {
			left += mark*(1-f.beside(d.unit, -1)-f.beside(d.unit, 1)) - was
		}
	}
	return left <= limit
}

// beside returns 1 if the next unit in that direction, ignoring empty ones, is removed, so
// that one mark is enough for both, and else 0.
func (f *folder) beside(k, step int) int {
	for k += step; k >= 0 && k < len(f.units); k += step {
		if u := f.units[k]; u.size > 0 {
			if u.shape == gone {
				return 1
			}
			break
		}
	}
	return 0
}

func (f *folder) tally() (t tally) {
	for _, u := range f.units {
		if u.shape != whole {
			t.add(u)
		}
	}
	return t
}

type tally struct {
	n, size int
	kinds   [32]int
}

func (t *tally) add(u unit) {
	t.n++
	t.size += int(u.size)
	if u.shape == brief {
		t.size -= int(u.brief)
	}
	t.kinds[u.kind]++
}

// String returns what was folded: the three most frequent kinds, and the number of others.
func (t *tally) String() string {
	var kinds []transcript.Kind
	for k, n := range t.kinds {
		if n > 0 {
			kinds = append(kinds, transcript.Kind(k))
		}
	}
	slices.SortStableFunc(kinds, func(a, b transcript.Kind) int { return t.kinds[b] - t.kinds[a] })
	var words []string
	rest := t.n
	for _, k := range kinds[:min(3, len(kinds))] {
		words = append(words, phrase.Count(t.kinds[k], k.String()))
		rest -= t.kinds[k]
	}
	if rest > 0 {
		words = append(words, fmt.Sprintf("%d more", rest))
	}
	return fmt.Sprintf("%s (%s characters)", strings.Join(words, ", "), phrase.Short(int64(t.size)))
}
