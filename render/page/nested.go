package page

import "ctxtool/internal/transcript"

// nested appends the calls that a tool made itself, an item each.
func (p *Page) nested(dst []byte, c *transcript.ToolCall, part int) []byte {
	if part == never {
		return dst
	}
	for call := range c.Nested.Get("calls").Elements {
		n := transcript.NestedCall(call)
		line := p.pen.inline(append(p.pen.inline(nil, c.Name), " called "...), n.Name)
		if about := n.Subject(); about != "" {
			line = p.pen.code(append(line, ' '), oneLine(p.near(about)))
		}
		if words := callWords(&n); !n.Answered || n.Failed {
			line = append(line, words...)
		}
		dst = p.pen.item(dst, line)
	}
	if complete := c.Nested.Get("complete"); string(complete) == "false" {
		dst = p.pen.item(dst, append(p.pen.inline(nil, c.Name), " made calls that the file does not record completely"...))
	}
	return dst
}
