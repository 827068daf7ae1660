package render

import (
	"fmt"
	"strings"

	"ctxtool/internal/markdown"
	"ctxtool/internal/transcript"
)

// call appends a call of a tool, or a command. The line of a command that failed is
// never folded.
func (p *Page) call(dst []byte, b *transcript.Block, part int) []byte {
	c := &b.Call
	info, body := p.body(c)
	if c.Command && oneLine(p.near(c.Subject)) != p.near(c.Subject) { // the line has not all of it
		body = append(fmt.Appendf(nil, "$ %s\n", strings.TrimRight(c.Subject, "\n")), body...)
	}
	body = p.cut(body)
	head := title{c.Name, oneLine(p.near(c.Subject)), callWords(c)}
	if c.Failed && c.Command {
		if part == never {
			line := p.pen.code(append(p.pen.strong(nil, "Failed"), ": "...), oneLine(p.near(c.Subject)))
			return p.pen.line(dst, append(line, exitWords(c)...))
		}
		head = title{before: "Output", after: linesOf(c.Result)}
	} else if part == never {
		return dst
	}
	switch {
	case len(body) > 0 && (p.Parts&showResults != 0 || info == "diff"):
		return p.pen.close(p.pen.fence(p.pen.open(dst, head), info, body))
	case c.Failed && c.Command:
		return dst
	}
	return p.callLine(dst, c)
}

// callLine appends a call as an item of a list.
func (p *Page) callLine(dst []byte, c *transcript.ToolCall) []byte {
	line := p.pen.inline(nil, c.Name)
	if c.Subject != "" {
		line = p.pen.code(append(line, ' '), oneLine(p.near(c.Subject)))
	}
	return p.pen.item(dst, append(line, callWords(c)...))
}

// body is what a page shows of a call: the diff of an edit, else the result.
func (p *Page) body(c *transcript.ToolCall) (info string, body []byte) {
	if c.Failed {
		return "text", c.Result
	}
	switch c.Change {
	case transcript.Edits:
		if diff := c.Diff(); diff != "" {
			return "diff", []byte(diff)
		}
		return "diff", replaced(c.Replacements())
	case transcript.Writes:
		return markdown.Info(c.Path), []byte(c.Args.Get("content").Text())
	}
	if c.Command {
		return "text", c.Result
	}
	return markdown.Info(c.Path), c.Result
}

// replaced is the diff of replacements, line by line.
func replaced(all []transcript.Replacement) (diff []byte) {
	for k, r := range all {
		if k > 0 {
			diff = append(diff, "...\n"...)
		}
		diff = appendDiff(diff, diffLines(r.Old, r.New))
	}
	return diff
}

// callWords says what came of a call.
func callWords(c *transcript.ToolCall) string {
	switch {
	case !c.Answered:
		return ", no result"
	case c.Failed:
		return ", failed" + exitWords(c)
	case c.Change == transcript.Edits && c.Diff() != "":
		added, removed := transcript.CountDiff(c.Diff())
		return fmt.Sprintf(", +%d −%d", added, removed)
	case c.Change == transcript.Writes:
		return ", written" + lineCount([]byte(c.Args.Get("content").Text()))
	case c.Change == transcript.Edits:
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

func exitWords(c *transcript.ToolCall) string {
	if c.Exit > 0 {
		return fmt.Sprintf(", exit %d", c.Exit)
	}
	return ""
}

// longLine is how many characters of a command its line has.
const longLine = 200

// oneLine is a command on a line: its first one, or the beginning of that.
func oneLine(text string) string {
	first, more, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if first = strings.TrimSpace(first); strings.TrimSpace(more) != "" {
		first += " …"
	}
	return cutWordsAt(first, longLine)
}
