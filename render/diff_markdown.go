package render

import (
	"bufio"
	"fmt"

	"ctxtool/internal/markdown"
	"ctxtool/replay/diff"
)

// markdown writes a comparison as a page for a review.
func (x comparison) markdown(w *bufio.Writer) error {
	p := &diffPage{w: w, x: x, pen: markdownPen{}}
	p.head()
	if err := x.prompt(func(name string) { fmt.Fprintf(w, "\n## %s\n", name) }, p.item); err != nil || !x.MessagesDiffer() {
		return err
	}
	w.WriteString("\n## Messages\n\n")
	open := false // a list is
	for _, c := range x.Messages {
		var err error
		if open, err = p.message(c, open); err != nil {
			return err
		}
	}
	return nil
}

type diffPage struct {
	w   *bufio.Writer
	x   comparison
	pen markdownPen
}

// head says what is compared, and how large both sides are.
func (p *diffPage) head() {
	x, w := p.x, p.w
	w.WriteString("# Two contexts\n\n")
	for _, s := range []struct {
		name string
		side diff.Side
		n    int
	}{{"A", x.A, x.Tokens.A.Total}, {"B", x.B, x.Tokens.B.Total}} {
		w.Write(p.pen.code(fmt.Appendf(nil, "- **%s**: ", s.name), source(s.side.Source)))
		if s.side.Entry != "" {
			w.Write(p.pen.code([]byte(", behind entry "), s.side.Entry))
		}
		fmt.Fprintf(w, ", before request %d: %s, %s\n", s.side.RequestIndex, count(s.side.Cached+s.side.Uncached, "message"), count(s.n, "token"))
	}
	if x.Equal() {
		w.WriteString("- **Both are the same**\n")
		return
	}
	fmt.Fprintf(w, "- **Shared**: %s\n", x.sharedWords()[len("shared prefix: "):])
	if x.Model != nil {
		w.Write(p.cause(p.pen.code(append(p.pen.code([]byte("- **Model**: "), nameOfModel(x.Model.A)), " to "...), nameOfModel(x.Model.B)), x.Model.Cause))
		w.WriteByte('\n')
	}
	for _, c := range x.Options {
		line := append(p.pen.code(append([]byte("- **Option** "), c.Name+": "...), unset(c.A)), " to "...)
		w.Write(p.cause(p.pen.code(line, unset(c.B)), c.Cause))
		w.WriteByte('\n')
	}
	w.WriteString("\n|  | tokens A | tokens B | change | bytes A | bytes B | change |\n|---|---:|---:|---:|---:|---:|---:|\n")
	for _, c := range x.categories() {
		fmt.Fprintf(w, "| %s |", c.name)
		for _, cell := range c.cells() {
			fmt.Fprintf(w, " %s |", cell)
		}
		w.WriteByte('\n')
	}
}

// cause appends by what a difference came.
func (p *diffPage) cause(dst []byte, c diff.Cause) []byte {
	if c.IsZero() {
		return dst
	}
	dst = p.pen.code(append(dst, ", by "...), orDash(c.Entry))
	dst = append(dst, " ("+c.Kind...)
	if c.Op >= 0 {
		dst = fmt.Appendf(dst, ", op %d", c.Op)
	}
	return append(dst, ')')
}

func (p *diffPage) item(c itemDiff) {
	line := append(p.pen.code([]byte{'\n'}, c.Name), " "+string(c.Change)...)
	p.w.Write(append(p.cause(line, c.Cause), "\n\n"...))
	if c.Change != diff.Moved {
		p.fence(c.old, c.new)
	}
}

// fence writes what differs between two texts.
func (p *diffPage) fence(old, new string) {
	all := folded(diffLines(old, new))
	for i, l := range all {
		if l.mark == '@' {
			all[i].text = "@ " + l.text + " @@"
		}
	}
	p.w.Write(markdown.AppendFence(nil, "diff", appendDiff(nil, all)))
}

// message writes a stretch of messages as an item of a list, and the lines that changed
// below it. It returns whether the list goes on.
func (p *diffPage) message(c diff.MessageChange, open bool) (bool, error) {
	line := fmt.Appendf(nil, "- **%s** %s", c.Change, placesOf(c))
	if c.Count > 1 {
		line = fmt.Appendf(line, " (%s)", count(c.Count, "message"))
	}
	line = fmt.Appendf(p.cause(line, c.Cause), ", %s", count(c.Tokens, "token"))
	changed := c.A >= 0 && c.B >= 0 && c.Change != diff.Kept && c.Change != diff.Moved
	if c.Count == 1 && c.Change != diff.Kept {
		what, err := p.x.gist(c)
		if err != nil {
			return open, err
		}
		line = markdown.AppendInline(append(line, ": "...), []byte(what))
	}
	p.w.Write(append(line, '\n'))
	if !changed {
		return true, nil
	}
	old, new, err := p.x.texts(c)
	if err != nil {
		return open, err
	}
	p.w.WriteByte('\n')
	p.fence(old, new)
	p.w.WriteByte('\n')
	return false, nil
}
