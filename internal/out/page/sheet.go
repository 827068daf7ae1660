package page

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"ctxtool/internal/base/markdown"
	"ctxtool/internal/out/transcript"
	"ctxtool/internal/read/activity"
	"ctxtool/internal/read/linediff"
	"ctxtool/internal/read/phrase"
)

// A sheet writes a part of a page.
type sheet struct {
	p      *Page
	w      io.Writer
	units  []unit // not yet written, if there is a budget
	left   tally  // folded since the last piece
	listed bool   // the last piece is an item of a list
}

func (s *sheet) chapter(blocks transcript.Blocks) error {
	for b, err := range blocks(nil, true) {
		if err != nil {
			return err
		}
		if !s.p.Parts.has(b) {
			continue
		}
		for part := range parts {
			if err := s.part(b, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// part writes a part of a block, in its shape.
func (s *sheet) part(b *transcript.Block, part int) (err error) {
	var u unit
	if s.p.Budget > 0 {
		u, s.units = s.units[0], s.units[1:]
	}
	buf := s.p.buf[:0]
	switch u.shape {
	case gone:
		s.left.add(u)
		return nil
	case brief:
		buf = s.p.brief(buf, b, part)
	default:
		buf, err = s.p.piece(buf, b, part)
	}
	s.p.buf = buf
	if err != nil || len(buf) == 0 {
		return err
	}
	if err := s.mark(); err != nil {
		return err
	}
	return s.put(b.Record, buf, isItem(buf))
}

// isItem reports whether a piece of a page is an item of a list: only items do not end with
// an empty line.
func isItem(piece []byte) bool {
	n := len(piece)
	return n < 2 || piece[n-2] != '\n'
}

// mark writes what was folded here, unless it is only thinking.
func (s *sheet) mark() error {
	if s.left.n == 0 {
		return nil
	}
	t := s.left
	s.left = tally{}
	if t.n == t.kinds[transcript.Thinking] || s.p.fold.silent {
		return nil
	}
	return s.put(-1, s.p.pen.line(nil, fmt.Appendf(nil, "*… folded: %s*", &t)), false)
}

// put writes a piece. Items of a list are adjacent; anything else begins after an empty line.
func (s *sheet) put(record int, piece []byte, item bool) error {
	if s.p.Scan != nil {
		s.p.Scan(record, piece)
	}
	if err := s.leave(item); err != nil {
		return err
	}
	_, err := s.w.Write(piece)
	return err
}

func (s *sheet) leave(item bool) (err error) {
	if s.listed && !item {
		_, err = s.w.Write([]byte{'\n'})
	}
	s.listed = item
	return err
}

func (s *sheet) end() error {
	if err := s.mark(); err != nil {
		return err
	}
	return s.leave(false)
}

// call appends a call of a tool, or a command. The line of a failed command is never folded.
func (p *Page) call(dst []byte, b *transcript.Block, part int) []byte {
	c := &b.Call
	if part == never && !(c.Failed && c.Runs()) {
		return dst
	}
	p.whole = c.AppendSubject(append(p.whole[:0], "$ "...))
	near := p.near(string(p.whole[2:]))
	line := oneLine(near)
	if part == never {
		failed := p.pen.code(append(p.pen.strong(nil, "Failed"), ": "...), line)
		return p.pen.line(dst, append(failed, exitWords(c)...))
	}
	info, body := p.body(c)
	if c.Runs() && line != near { // the line is cut
		p.whole = append(append(bytes.TrimRight(p.whole, "\n"), '\n'), body...)
		body = p.whole
	}
	body = p.cut(body)
	head := title{c.Tool, line, callWords(c)}
	if c.Failed && c.Runs() {
		head = title{before: "Output", after: linesOf(c.Result)}
	}
	switch {
	case len(body) > 0 && (p.Parts&showResults != 0 || info == "diff"):
		return p.pen.close(p.pen.fence(p.pen.open(dst, head), info, body))
	case c.Failed && c.Runs():
		return dst
	}
	return p.callLine(dst, c, line)
}

// callLine appends a call as an item of a list, with its subject.
func (p *Page) callLine(dst []byte, c *transcript.ToolCall, about string) []byte {
	line := p.pen.inline(nil, c.Tool)
	if c.Subject() != "" {
		line = p.pen.code(append(line, ' '), about)
	}
	return p.pen.item(dst, append(line, callWords(c)...))
}

// body returns what a page shows of a call: the diff of an edit, else the result.
func (p *Page) body(c *transcript.ToolCall) (info string, body []byte) {
	if c.Failed {
		return "text", c.Result
	}
	switch c.Action {
	case activity.Edit:
		if diff := c.Diff(); diff != "" {
			return "diff", []byte(diff)
		}
		return "diff", replaced(c.Replacements())
	case activity.Write:
		return markdown.Info(c.Path()), []byte(c.Args.Get("content").Text())
	}
	if c.Runs() {
		return "text", c.Result
	}
	return markdown.Info(c.Path()), c.Result
}

// replaced returns the diff of replacements, line by line.
func replaced(all []activity.Replacement) (diff []byte) {
	for k, r := range all {
		if k > 0 {
			diff = append(diff, "...\n"...)
		}
		diff = linediff.Append(diff, linediff.Lines(r.Old, r.New))
	}
	return diff
}

func callWords(c *transcript.ToolCall) string {
	switch {
	case !c.Answered:
		return ", no result"
	case c.Failed:
		return ", failed" + exitWords(c)
	case c.Action == activity.Edit && c.Diff() != "":
		added, removed := transcript.CountDiff(c.Diff())
		return fmt.Sprintf(", +%d −%d", added, removed)
	case c.Action == activity.Write:
		return ", written" + lineCount([]byte(c.Args.Get("content").Text()))
	case c.Action == activity.Edit:
		return ", edited"
	}
	return linesOf(c.Result)
}

func linesOf(text []byte) string {
	if len(text) == 0 {
		return ", no output"
	}
	return lineCount(text)
}

func exitWords(c *transcript.ToolCall) string { return phrase.If(c.Exit > 0, ", exit %d", c.Exit) }

// longLine is the number of characters of a command on its line.
const longLine = 200

// oneLine returns a command's first line, cut to longLine.
func oneLine(text string) string {
	first, more, _ := strings.Cut(strings.TrimSpace(text), "\n")
	first = strings.TrimSpace(first)
	if strings.TrimSpace(more) != "" {
		first += " …"
	}
	return phrase.Cut(first, longLine)
}

// nested appends the calls that a tool made itself, an item each.
func (p *Page) nested(dst []byte, c *transcript.ToolCall, part int) []byte {
	if part == never {
		return dst
	}
	for call := range c.Nested.Get("calls").Elements {
		n := transcript.NestedCall(call)
		line := p.pen.inline(append(p.pen.inline(nil, c.Tool), " called "...), n.Tool)
		if about := n.Subject(); about != "" {
			line = p.pen.code(append(line, ' '), oneLine(p.near(about)))
		}
		if words := callWords(&n); !n.Answered || n.Failed {
			line = append(line, words...)
		}
		dst = p.pen.item(dst, line)
	}
	if complete := c.Nested.Get("complete"); string(complete) == "false" {
		dst = p.pen.item(dst,
			append(p.pen.inline(nil, c.Tool), " made calls that the file does not record completely"...))
	}
	return dst
}
