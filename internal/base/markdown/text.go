package markdown

import (
	"bytes"
	"regexp"
	"sync"
)

// AppendText appends text, which may well be Markdown, as blocks. It is taken
// apart line by line and written again: paragraphs, whose line ends are hard
// breaks; fenced code, under fences of our own; headings as bold lines; items
// of lists; tables and indented code in fences; bold and code spans. All else
// is text, quotes included.
//
// dst has to end with an empty line, or with the line that a quote or an item
// of a list opens. What is appended ends with one line feed and opens with no
// empty line; text without any sign adds nothing. It stays what it is if each
// line is prefixed, say with "> ", and between elements of HTML that have empty
// lines around them.
func AppendText(dst, text []byte) []byte {
	w := writer{dst: dst, rest: lineFeeds(text), empty: len(dst)}
	for len(w.rest) > 0 {
		w.next()
	}
	return w.dst
}

// AppendLine appends a text of one line as inline Markdown of a paragraph or of an item of a list,
// in which code spans and bold stay what they are.
func AppendLine(dst, line []byte) []byte {
	dst, n := appendStart(dst, line, plain)
	return appendRich(dst, line[n:])
}

// block is what was written last.
type block int

const (
	nothing   block = iota // or an empty line
	paragraph              // or an item of a list
	closed                 // what no line continues
)

// maxDepth is how deep lists are nested; what is deeper is put at this depth.
const maxDepth = 6

// item is an item of a list that is open.
type item struct {
	column  int // of its mark, in the text that is read
	content int // of its content, in the text that is written
	ordered bool
}

type writer struct {
	dst   []byte
	empty int    // length of dst before anything was written
	rest  []byte // not read yet
	last  block
	items [maxDepth]item
	depth int // open items
}

// next reads a line, or the lines that belong together, and writes them.
func (w *writer) next() {
	line, rest, _ := bytes.Cut(w.rest, []byte{'\n'})
	column, body := indent(line)
	if len(body) == 0 {
		w.rest, w.last = rest, nothing
		return
	}
	if ticks, info := fenceOpens(body); ticks > 0 {
		w.fence(body[0], ticks, info, column, rest)
		return
	}
	if n := w.table(body); n > 0 {
		w.code("text", n, column, column)
		return
	}
	if column >= 4 && w.last != paragraph && w.depth == 0 {
		n, _ := w.together(func(_, column int, body []byte) bool { return len(body) == 0 || column >= 4 })
		w.code("text", n, column, 4)
		return
	}
	w.rest = rest
	if body[0] == '#' && column < 4 && heading().Match(body) {
		title := heading().FindSubmatch(body)
		w.depth, w.last = 0, closed
		w.gap()
		w.dst = append(w.dst, "<b>"...)
		w.dst = appendRich(w.dst, title[1])
		w.dst = append(w.dst, "</b>\n"...)
		return
	}
	if mark, content, ok := listItem(body); ok {
		w.item(column, mark, content)
		return
	}
	if w.last != paragraph {
		w.within(column)
	}
	w.paragraph(w.content())
	w.line(body)
}

// content returns the column of what belongs to the innermost open item.
func (w *writer) content() int {
	if w.depth == 0 {
		return 0
	}
	return w.items[w.depth-1].content
}

// within closes the items to which a block at this column does not belong.
func (w *writer) within(column int) {
	for w.depth > 0 && column < w.items[w.depth-1].column+2 {
		w.depth--
	}
}

// paragraph opens a paragraph at a column, or continues with the one that is open.
func (w *writer) paragraph(column int) {
	if w.last == paragraph {
		w.dst = append(w.dst[:len(w.dst)-1], "  \n"...)
	} else {
		w.gap()
	}
	w.dst = appendRun(w.dst, ' ', column)
	w.last = paragraph
}

// gap writes the empty line before a block, if there is something before it.
func (w *writer) gap() {
	if len(w.dst) > w.empty {
		w.dst = append(w.dst, '\n')
	}
}

func (w *writer) line(body []byte) {
	w.dst = append(AppendLine(w.dst, body), '\n')
}

// item writes an item of a list. mark is its number, empty for a bullet.
func (w *writer) item(column int, mark, content []byte) {
	sibling := false // an item of the same list is open
	ordered := len(mark) > 0
	for w.depth > 0 && column < w.items[w.depth-1].column+2 {
		w.depth--
		sibling = column >= w.items[w.depth].column && w.items[w.depth].ordered == ordered ||
			w.depth == 0 && w.items[0].ordered == ordered
	}
	if w.depth == maxDepth {
		w.depth--
		sibling = w.items[w.depth].ordered == ordered
	}
	// Right below a paragraph a number other than 1 does not open a list.
	nested := w.depth > 0 && (!ordered || string(mark) == "1")
	if !sibling && !nested {
		w.gap()
	}
	at := w.content()
	w.dst = appendRun(w.dst, ' ', at)
	start := len(w.dst)
	w.dst = append(w.dst, mark...)
	if ordered {
		w.dst = append(w.dst, ". "...)
	} else {
		w.dst = append(w.dst, "- "...)
	}
	w.items[w.depth] = item{column, at + len(w.dst) - start, ordered}
	w.depth++
	w.line(content)
	w.last = paragraph
}

// fence reads fenced code up to its end, or to the end of the text, and writes it.
func (w *writer) fence(c byte, n int, info string, column int, rest []byte) {
	text := rest
	for len(rest) > 0 {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		if _, body := indent(line); runLen(body, c) >= n && len(body) == runLen(body, c) {
			text, rest = text[:len(text)-len(rest)], after
			break
		}
		rest = after
	}
	w.rest = text
	w.code(info, len(text), column, column)
	w.rest = rest
}

// code writes the next n bytes of what is to be read as a fence.
func (w *writer) code(info string, n, column, outdent int) {
	w.within(column)
	w.gap()
	if info = Language(info); info == "" {
		info = "text"
	}
	w.dst = appendFence(w.dst, info, w.rest[:n], w.content(), outdent)
	w.rest, w.last = w.rest[n:], closed
}

// together returns the length of the lines that come next and belong together. in reports whether the line of a
// number is one of them, by its column and its content; empty lines at the end are none.
func (w *writer) together(in func(k, column int, body []byte) bool) (length, lines int) {
	for rest := w.rest; len(rest) > 0; lines++ {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		column, body := indent(line)
		if !in(lines, column, body) {
			break
		}
		rest = after
		if len(body) > 0 {
			length = len(w.rest) - len(rest)
		}
	}
	return length, lines
}

// table returns the length of the table that comes next: lines that all open with a pipe, or lines with pipes
// below the second of which is a ruler. 0 is none.
func (w *writer) table(body []byte) int {
	if bytes.IndexByte(body, '|') < 0 {
		return 0
	}
	piped := body[0] == '|'
	length, lines := w.together(func(k, _ int, body []byte) bool {
		ruler := len(bytes.Trim(body, "|:- \t")) == 0 && bytes.IndexByte(body, '|') >= 0 &&
			bytes.IndexByte(body, '-') >= 0
		if k == 1 && ruler {
			piped = false
			return true
		}
		return bytes.IndexByte(body, '|') >= 0 && (!piped || body[0] == '|') && (k != 1 || piped)
	})
	if lines < 2 {
		return 0
	}
	return length
}

// indent returns the column at which a line begins, and the line without white space around it.
func indent(line []byte) (int, []byte) {
	column, i := 0, 0
	for ; i < len(line) && isSpace(line[i]); i++ {
		if line[i] == '\t' {
			column += 3 - column%4
		}
		column++
	}
	return column, trimEnd(line[i:])
}

// fenceOpens tells whether a line opens fenced code: the length of the fence,
// 0 if it does not, and what follows it.
func fenceOpens(body []byte) (int, string) {
	c := body[0]
	if c != '`' && c != '~' {
		return 0, ""
	}
	n := runLen(body, c)
	if n < 3 || c == '`' && bytes.IndexByte(body[n:], '`') >= 0 {
		return 0, ""
	}
	return n, string(trim(body[n:min(len(body), n+40)]))
}

var heading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?$`) })

// listItem returns the number of an item, empty for a bullet, and its content.
func listItem(body []byte) (mark, content []byte, ok bool) {
	n := 0
	for n < len(body) && n < minHash && isDigit(body[n]) {
		n++
	}
	if n+2 >= len(body) || n == minHash {
		return nil, nil, false
	}
	switch c := body[n]; {
	case n > 0 && c != '.' && c != ')', n == 0 && c != '-' && c != '*' && c != '+', !isSpace(body[n+1]),
		len(bytes.Trim(body, "-*_ \t")) == 0:
		return nil, nil, false
	}
	return body[:n], trim(body[n+1:]), true
}
