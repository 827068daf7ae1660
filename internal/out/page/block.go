package page

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"ctxtool/internal/out/transcript"
	"ctxtool/internal/read/phrase"
)

// piece appends a part of a block: the part that is never folded, or the rest. For content
// that was rewritten, it names the entry that did so.
func (p *Page) piece(dst []byte, b *transcript.Block, part int) ([]byte, error) {
	start := len(dst)
	dst, err := p.block(dst, b, part)
	if len(dst) > start && b.By != b.Record && b.By >= 0 {
		by := p.pen.code(nil, p.Session.ID(b.By))
		dst = p.pen.item(dst, fmt.Appendf(nil, "rewritten by %s, a %s", by, p.Session.Kind(b.By)))
		dst = append(dst, '\n')
	}
	return dst, err
}

func (p *Page) block(dst []byte, b *transcript.Block, part int) ([]byte, error) {
	section := b.Kind == transcript.Prompt || b.Kind == transcript.Branch && b.Value == nil
	if b.Kind == transcript.Call || b.Kind == transcript.Shell {
		return p.nested(p.call(dst, b, part), &b.Call, part), nil
	}
	if section != (part == never) {
		return dst, nil
	}
	switch b.Kind {
	case transcript.Prompt:
		return p.prompt(dst, b), nil
	case transcript.Answer:
		return p.pen.text(dst, b.Text), nil
	case transcript.Thinking:
		return p.opened(dst, title{before: "Thinking", after: lineCount(b.Text)}, b.Text), nil
	case transcript.Skill:
		return p.opened(dst, title{"Skill", b.Title, ", for the model only" + lineCount(b.Text)}, b.Text), nil
	case transcript.Custom:
		return p.custom(dst, b), nil
	case transcript.Image:
		return p.image(dst, b)
	case transcript.System:
		return p.system(dst, b), nil
	case transcript.Ephemeral:
		if p.Parts&showEphemerals == 0 {
			return p.note(dst, "Request-only messages", phrase.Count(lineNumber(b.Text), "line"), nil), nil
		}
		return p.opened(dst, title{before: "Request-only messages, for the model only" + lineCount(b.Text)},
			b.Text), nil
	}
	return p.remark(dst, b), nil
}

// briefAnswer is the number of characters of an answer that is folded into a line.
const briefAnswer = 300

// brief appends a part of a block as a line, if it has such a form.
func (p *Page) brief(dst []byte, b *transcript.Block, part int) []byte {
	switch {
	case part == never:
	case b.Kind == transcript.Call && !(b.Call.Failed && b.Call.Runs()):
		return p.callLine(dst, &b.Call, oneLine(p.near(b.Call.Subject())))
	case b.Kind == transcript.Answer && utf8.RuneCount(b.Text) > briefAnswer:
		return p.pen.line(dst, p.pen.inline(nil, beginningOf(b.Text, briefAnswer)))
	}
	return dst
}

// remark appends a note on the conversation itself, as a quotation.
func (p *Page) remark(dst []byte, b *transcript.Block) []byte {
	switch b.Kind {
	case transcript.Failure:
		return p.note(dst, "Answer "+map[string]string{"aborted": "aborted", "error": "failed"}[b.Title], "",
			p.folded(b.Text))
	case transcript.Compaction:
		if b.Cut == nil {
			return p.note(dst, "Compaction", "without effect here", nil)
		}
		return p.note(dst, "Compacted", cutWords(b.Cut),
			p.opened(nil, title{before: "Summary" + lineCount(b.Text)}, b.Text))
	case transcript.Branch:
		return p.branch(dst, b)
	case transcript.Edit:
		return p.edit(dst, b)
	case transcript.Transform:
		return p.transform(dst, b)
	case transcript.Setting:
		return p.note(dst, strings.ToUpper(b.Title[:1])+b.Title[1:], string(b.Text), nil)
	case transcript.Label:
		if len(b.Text) == 0 {
			return p.note(dst, "Label cleared", b.Title, nil)
		}
		return p.note(dst, "Label", string(b.Text)+", on "+b.Title, nil)
	case transcript.Finding:
		return p.note(dst, "Damage", string(b.Text), nil)
	}
	return dst
}

// note appends a quoted note: our words, a text, and more below it.
func (p *Page) note(dst []byte, words, text string, below []byte) []byte {
	line := p.pen.strong(nil, words)
	if text != "" {
		line = p.pen.inline(append(line, ": "...), text)
	}
	return p.pen.quote(dst, append(p.pen.line(nil, line), below...))
}

// longText is the number of lines up to which a text is not folded.
const longText = 12

func (p *Page) folded(text []byte) []byte {
	if bytes.Count(text, []byte{'\n'}) >= longText {
		return p.opened(nil, title{before: "More" + lineCount(text)}, text)
	}
	return p.pen.text(nil, text)
}

// opened appends a text below a line that opens it.
func (p *Page) opened(dst []byte, t title, text []byte) []byte {
	dst = p.pen.open(dst, t)
	dst = p.pen.text(dst, p.cut(text))
	return p.pen.close(dst)
}

// lineCount returns the number of lines of a text, in words.
func lineCount(text []byte) string {
	if len(text) == 0 {
		return ", empty"
	}
	return ", " + phrase.Count(lineNumber(text), "line")
}

func lineNumber(text []byte) int {
	return bytes.Count(bytes.TrimRight(text, "\n"), []byte{'\n'}) + 1
}

// widest is the number of bytes of a line that are shown if lines are omitted.
const widest = 600

// cut omits lines from the middle of a text, and the ends of long lines. The result is valid
// until the next cut.
func (p *Page) cut(text []byte) []byte {
	if p.MaxLines == 0 {
		return text
	}
	n := lineNumber(text)
	if n <= p.MaxLines {
		p.shortened = appendLines(p.shortened[:0], text)
		return p.shortened
	}
	p.shortened = appendLines(p.shortened[:0], text[:lineEnd(text, (p.MaxLines+1)/2)])
	p.shortened = fmt.Appendf(p.shortened, "… %d lines omitted …\n", n-p.MaxLines)
	p.shortened = appendLines(p.shortened, text[lastLines(text, p.MaxLines/2):])
	return p.shortened
}

// lineEnd returns the offset of the end of the first n lines of a text.
func lineEnd(text []byte, n int) (end int) {
	for ; n > 0; n-- {
		k := bytes.IndexByte(text[end:], '\n')
		if k < 0 {
			return len(text)
		}
		end += k + 1
	}
	return end
}

// lastLines returns the offset of the last n lines of a text.
func lastLines(text []byte, n int) int {
	at := len(bytes.TrimRight(text, "\n"))
	if n == 0 {
		return len(text)
	}
	for ; n > 0; n-- {
		if at = bytes.LastIndexByte(text[:at], '\n'); at < 0 {
			return 0
		}
	}
	return at + 1
}

// appendLines appends lines, each cut to what is shown of it.
func appendLines(dst, text []byte) []byte {
	for line := range bytes.Lines(text) {
		if len(line) <= widest {
			dst = append(dst, line...)
			continue
		}
		end := widest
		for end > 0 && !utf8.RuneStart(line[end]) {
			end--
		}
		dst = fmt.Appendf(append(dst, line[:end]...), " … %d bytes omitted\n", len(line)-end)
	}
	return dst
}

// headingWords is the number of characters of a prompt in its heading.
const headingWords = 72

// prompt appends the heading of a turn, and its prompt.
func (p *Page) prompt(dst []byte, b *transcript.Block) []byte {
	words := heading(b.Text)
	dst = p.pen.heading(dst, 2, turnAnchor(b.Turn), p.pen.inline(fmt.Appendf(nil, "Turn %d: ", b.Turn), words))
	if words == string(bytes.TrimSpace(b.Text)) {
		return dst
	}
	return p.pen.quote(dst, p.pen.text(nil, b.Text))
}

func turnAnchor(turn int) string { return fmt.Sprintf("turn-%d", turn) }

func (p *Page) custom(dst []byte, b *transcript.Block) []byte {
	if b.Hidden {
		return p.opened(dst, title{"Message", b.Title, ", for the model only" + lineCount(b.Text)}, b.Text)
	}
	line := p.pen.strong(nil, "Message")
	if b.Title != "" {
		line = p.pen.code(append(line, ": "...), b.Title)
	}
	return p.pen.quote(dst, append(p.pen.line(nil, line), p.folded(b.Text)...))
}

func (p *Page) system(dst []byte, b *transcript.Block) []byte {
	if p.Parts&showSystem == 0 {
		line := p.pen.inline([]byte("System: "), phrase.Cut(b.Title, longLine)+lineCount(b.Text))
		return p.pen.item(dst, line)
	}
	if b.Value != nil && json.Valid(b.Text) { // a tool
		dst = p.pen.open(dst, title{"System:", b.Title, ""})
		return p.pen.close(p.pen.fence(dst, "json", p.cut(phrase.Indent(b.Text))))
	}
	return p.opened(dst, title{"System:", phrase.Cut(b.Title, longLine), lineCount(b.Text)}, b.Text)
}

// branch appends the summary of another branch, or the beginning of one.
func (p *Page) branch(dst []byte, b *transcript.Block) []byte {
	if b.Value != nil {
		return p.note(dst, "Summary of a branch", "", p.folded(b.Text))
	}
	line := []byte("Another root")
	if b.Title != "" {
		line = p.pen.code([]byte("Branch from "), b.Title)
	}
	return p.pen.heading(dst, 2, "", line)
}

func (p *Page) edit(dst []byte, b *transcript.Block) []byte {
	switch r := b.Value.Get("replacement"); {
	case !r.Exists():
		return p.note(dst, "Edit", b.Title+" has no replacement", nil)
	case r.IsNull():
		return p.note(dst, "Edit", b.Title+" is omitted from the context", nil)
	}
	return p.note(dst, "Edit", "in the context "+b.Title+" now reads", p.folded(b.Text))
}

// transform appends the title of a transform, and why it changed the cached prefix. For one
// with a renderer of its own it appends its Markdown, or else its data
// (docs/session-format.md 3.2).
func (p *Page) transform(dst []byte, b *transcript.Block) []byte {
	display := b.Value.Get("display")
	summary := display.Get("summary").Text()
	words := b.Title + phrase.If(summary != "", " — %s", summary)
	if b.Cut != nil {
		words += "; " + cutWords(b.Cut)
	}
	var below []byte
	for op := range b.Value.Get("patch").Elements {
		line := p.pen.code(nil, op.Get("op").Text())
		if why := op.Get("invalidateCacheReason").Text(); why != "" {
			line = p.pen.inline(append(line, ": "...), why)
		}
		below = p.pen.item(below, line)
	}
	if len(below) > 0 {
		below = append(below, '\n')
	}
	if md := display.Get("markdown"); md.IsString() {
		below = append(below, p.folded(md.AppendText(nil))...)
	}
	if props := display.Get("rendererProps"); props.Exists() {
		below = p.pen.open(below, title{"Data for", display.Get("rendererId").Text(), ""})
		below = p.pen.close(p.pen.fence(below, "json", p.cut(phrase.Indent(props))))
	}
	if b.Cut != nil && len(b.Text) > 0 {
		below = p.opened(below, title{before: "Summary" + lineCount(b.Text)}, b.Text)
	}
	return p.note(dst, "Transform", words, below)
}

// cutWords returns what a compaction replaced, in words.
func cutWords(c *transcript.Cut) string {
	return phrase.Count(max(0, c.Before-c.After+1), "message") + " became a summary" +
		phrase.If(c.Tokens > 0, "; %s tokens before", phrase.Short(int64(c.Tokens)))
}

// image appends an image, or a line for it.
func (p *Page) image(dst []byte, b *transcript.Block) ([]byte, error) {
	if b.Unseen != "" {
		dst = p.pen.line(dst, p.pen.inline([]byte("Not seen by a model that takes no images: "), b.Unseen))
	}
	if p.Asset != nil {
		name, err := p.Asset(b.Title, b.Value, p.drawn)
		if err != nil {
			return dst, err
		}
		if name != "" {
			return p.pen.picture(dst, name), nil
		}
	}
	line := p.pen.inline([]byte("Image: "), b.Title)
	return p.pen.line(dst, fmt.Appendf(line, ", %s bytes", phrase.Short(int64(len(b.Value)*3/4)))), nil
}
