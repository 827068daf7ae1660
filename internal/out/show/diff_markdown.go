package show

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/base/markdown"
	"ctxtool/internal/lens/diff"
	"ctxtool/internal/read/linediff"
	"ctxtool/internal/read/phrase"
	"ctxtool/stats/table"
)

// writeDiffMarkdown writes a comparison as a page for a review.
func writeDiffMarkdown(w *bufio.Writer, d *diff.Difference) error {
	x := comparison{d}
	p := &diffPage{w: w, x: x}
	p.contexts()
	if err := x.prompt(func(name string) { fmt.Fprintf(w, "\n## %s\n", name) }, p.item); err != nil ||
		!x.MessagesDiffer() {
		return err
	}
	w.WriteString("\n## Messages\n\n")
	open := false // whether a list is open
	for _, c := range x.Messages {
		var err error
		if open, err = p.message(c, open); err != nil {
			return err
		}
	}
	return nil
}

// contexts writes what is compared, and the sizes.
func (p *diffPage) contexts() {
	text, x := markdownProse(p.w), p.x
	text.line("# Two contexts\n")
	for _, side := range []struct {
		name   string
		of     diff.Side
		tokens int
	}{{"A", x.A, x.Tokens.A.Total}, {"B", x.B, x.Tokens.B.Total}} {
		after := markup("")
		if side.of.Entry != "" {
			after = ", after entry " + text.code(side.of.Entry)
		}
		text.line("- **%v**: %v%v, before request %v: %v, %v", side.name, text.code(source(side.of.Source)), after,
			side.of.RequestIndex, phrase.Count(side.of.Cached+side.of.Uncached, "message"),
			phrase.Count(side.tokens, "token"))
	}
	if x.Equal() {
		text.line("- **Both are the same**")
		return
	}
	text.line("- **Shared**: %v", strings.TrimPrefix(x.sharedWords(), "shared prefix: "))
	if m := x.Model; m != nil {
		text.line("- **Model**: %v to %v%v", text.code(nameOfModel(m.A)), text.code(nameOfModel(m.B)),
			markup(p.cause(nil, m.Cause)))
	}
	for _, o := range x.Options {
		text.line("- **Option** %v: %v to %v%v", o.Name, text.code(unset(o.A)), text.code(unset(o.B)),
			markup(p.cause(nil, o.Cause)))
	}
	writeMarkdownTable(p.w, table.Of(x.categories(), slices.Concat([]col[*category]{
		{Name: "", Value: func(c *category) any { return c.name }},
	}, sidesColumns("tokens A", "tokens B", "change", tokensOf),
		sidesColumns("bytes A", "bytes B", "change", bytesOf))))
}

type diffPage struct {
	w *bufio.Writer
	x comparison
}

// code appends a name as a code span.
func code(dst []byte, text string) []byte { return markdown.AppendCode(dst, []byte(text)) }

func (p *diffPage) cause(dst []byte, c diff.Cause) []byte {
	if c.IsZero() {
		return dst
	}
	dst = code(append(dst, ", by "...), orDash(c.Entry))
	dst = append(dst, " ("+c.Kind...)
	if c.Op >= 0 {
		dst = fmt.Appendf(dst, ", op %d", c.Op)
	}
	return append(dst, ')')
}

func (p *diffPage) item(c itemDiff) {
	line := append(code([]byte{'\n'}, c.Name), " "+string(c.Change)...)
	p.w.Write(append(p.cause(line, c.Cause), "\n\n"...))
	if c.Change != diff.Moved {
		p.fence(c.old, c.new)
	}
}

// fence writes the difference of two texts.
func (p *diffPage) fence(old, new string) {
	all := linediff.Fold(linediff.Lines(old, new))
	for i, l := range all {
		if l.Mark == '@' {
			all[i].Text = "@ " + l.Text + " @@"
		}
	}
	p.w.Write(markdown.AppendFence(nil, "diff", linediff.Append(nil, all)))
}

// message writes a run of messages as an item of a list, and the lines that changed below
// it. It reports whether the list continues.
func (p *diffPage) message(c diff.MessageChange, open bool) (bool, error) {
	line := fmt.Appendf(nil, "- **%s** %s", c.Change, placesOf(c))
	if c.Count > 1 {
		line = fmt.Appendf(line, " (%s)", phrase.Count(c.Count, "message"))
	}
	line = fmt.Appendf(p.cause(line, c.Cause), ", %s", phrase.Count(c.Tokens, "token"))
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
