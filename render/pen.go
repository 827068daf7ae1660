package render

import (
	"bytes"
	"strings"

	"ctxtool/internal/markdown"
	"ctxtool/sessionfmt"
)

// A pen writes the pieces that a page is made of, in one form. A text is what
// somebody else wrote, and comes out as text whatever is in it; a line is one that a
// pen has written before. All append to dst.
type pen interface {
	inline(dst []byte, text string) []byte  // a text on a line
	code(dst []byte, text string) []byte    // a name or a command on a line
	strong(dst []byte, words string) []byte // words of ours

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

// A title is the line of what can be opened: words, a name or a command, and more
// words, which begin with a comma.
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

func (markdownPen) quote(dst, page []byte) []byte { return append(quoted(dst, page), '\n') }

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

// A textPen writes plain text.
type textPen struct{}

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

func (textPen) item(dst, line []byte) []byte { return markdownPen{}.item(dst, line) }
func (textPen) line(dst, line []byte) []byte { return markdownPen{}.line(dst, line) }

func (textPen) text(dst, text []byte) []byte { return append(cleaned(dst, text, ""), '\n') }

func (textPen) fence(dst []byte, _ string, text []byte) []byte {
	return append(cleaned(dst, text, "    "), '\n')
}

func (textPen) quote(dst, page []byte) []byte { return append(quoted(dst, page), '\n') }

func (p textPen) open(dst []byte, t title) []byte {
	if dst = p.inline(dst, t.before); t.code != "" {
		dst = p.inline(append(dst, ' '), t.code)
	}
	return append(p.inline(dst, t.after), "\n\n"...)
}

func (textPen) close(dst []byte) []byte { return dst }

func (textPen) link(dst []byte, _ string, line []byte) []byte { return append(dst, line...) }

func (textPen) picture(dst []byte, file string) []byte {
	return append(append(append(dst, "[image: "...), file...), "]\n\n"...)
}

// quoted puts a mark before each line of a page, but not behind its last one.
func quoted(dst, page []byte) []byte {
	for line := range bytes.Lines(bytes.TrimRight(page, "\n")) {
		dst = append(dst, '>')
		if len(line) > 1 || line[0] != '\n' {
			dst = append(dst, ' ')
		}
		dst = append(dst, line...)
	}
	return append(dst, '\n')
}

// cleaned appends lines without what a terminal would obey.
func cleaned(dst, text []byte, indent string) []byte {
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) > 0 {
			dst = append(dst, indent...)
			for k, cell := range strings.Split(string(line), "\t") {
				if k > 0 {
					dst = append(dst, '\t')
				}
				dst = append(dst, sessionfmt.Clean(cell)...)
			}
		}
		dst = append(dst, '\n')
	}
	return dst
}
