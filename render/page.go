package render

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"unicode/utf8"

	"ctxtool/internal/transcript"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
)

// A Page is a conversation as a document for people.
type Page struct {
	Session *sessionfmt.Session
	// Context is an envelope to show in place of a conversation.
	Context *replay.Envelope
	// Blocks goes through the conversation, twice for one page; it tells the story
	// of it, unless that is nil.
	Blocks func(story *transcript.Story) iter.Seq2[*transcript.Block, error]

	Markdown bool
	File     bool // anchors, a table of contents
	Parts    PageParts
	MaxLines int      // of a block, others are left out of its middle; 0 for all
	Budget   int      // characters; 0 for any number
	Notes    []string // that belong to the head
	// Asset is the address of an image on the page, empty for what is none; with
	// write it stores it there. It may be nil.
	Asset func(mime string, data sessionfmt.Value, write bool) (address string, err error)
	// Scan sees everything that is written, with the entry that it comes from, -1
	// for none. It may be nil.
	Scan func(record int, text []byte)

	pen    pen
	story  *transcript.Story
	fold   folder
	drawn  bool // the page is being written
	listed bool // what was written last is a line of a list
	buf    []byte
	turns  []turnLine
	skip   map[transcript.Kind]int // blocks that are not among the parts
}

// A turnLine is what a table of contents says of a turn.
type turnLine struct {
	turn  int
	words string
}

// A TooLargeError is a page of which even what is never folded exceeds the budget.
type TooLargeError struct{ Need, Budget int } // characters

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("what is never folded needs %d characters, and the budget is %d", e.Need, e.Budget)
}

// Write writes the page. First it goes through the conversation to learn what
// happened and how long everything is, then again to write; in memory it has a
// block at a time.
func (p *Page) Write(w io.Writer) error {
	p.pen = textPen{}
	if p.Markdown {
		p.pen = markdownPen{anchors: p.File}
	}
	write := p.head
	if p.Context != nil {
		write = p.contextHead
		p.Blocks = func(story *transcript.Story) iter.Seq2[*transcript.Block, error] {
			return transcript.Context(p.Context, story)
		}
	}
	if err := p.survey(); err != nil {
		return err
	}
	head, err := write()
	if err != nil {
		return err
	}
	if err := p.fold.fit(p.Budget, utf8.RuneCount(head)+foldedLine); err != nil {
		return err
	}
	if p.fold.tally().n > 0 { // the head says what was folded
		if head, err = write(); err != nil {
			return err
		}
	}
	if err := p.put(w, -1, head); err != nil {
		return err
	}
	return p.write(w)
}

// survey goes through the conversation without writing it.
func (p *Page) survey() error {
	p.story, p.skip = transcript.NewStory(), map[transcript.Kind]int{}
	p.fold = folder{}
	last := -1
	for b, err := range p.Blocks(p.story) {
		if err != nil {
			return err
		}
		if !p.Parts.has(b) {
			p.skip[b.Kind]++
			continue
		}
		if b.Kind == transcript.Prompt && p.File {
			p.turns = append(p.turns, turnLine{b.Turn, beginning(string(b.Text), headingWords)})
		}
		for part := range parts {
			u, err := p.measure(b, part)
			if err != nil {
				return err
			}
			if b.Kind == transcript.Answer && part == ifNeeded && !p.story.Aside {
				last = len(p.fold.units)
			}
			p.fold.add(u)
		}
	}
	if last >= 0 {
		p.buf = p.pen.text(p.buf[:0], []byte(p.story.Last))
		p.fold.keep(last, int32(utf8.RuneCount(p.buf)))
	}
	return nil
}

// measure is a part of a block as folding sees it.
func (p *Page) measure(b *transcript.Block, part int) (u unit, err error) {
	u = unit{kind: b.Kind, turn: int32(b.Turn), must: part == never}
	if p.Budget == 0 || !u.must && p.fold.hopeless(p.Budget) {
		return u, nil
	}
	if p.buf, err = p.piece(p.buf[:0], b, part); err != nil {
		return u, err
	}
	u.size = int32(utf8.RuneCount(p.buf))
	if p.buf = p.brief(p.buf[:0], b, part); u.size > 0 && len(p.buf) > 0 {
		u.brief = int32(utf8.RuneCount(p.buf)) + 1 // a line feed, where it is the last of them
	}
	return u, nil
}

// write goes through the conversation, and writes what is not folded.
func (p *Page) write(w io.Writer) error {
	p.drawn = true
	var left tally
	k := 0
	for b, err := range p.Blocks(nil) {
		if err != nil {
			return err
		}
		if !p.Parts.has(b) {
			continue
		}
		for part := range parts {
			u := p.fold.units[k]
			k++
			p.buf = p.buf[:0]
			switch u.shape {
			case gone:
				left.add(u)
				continue
			case brief:
				p.buf = p.brief(p.buf, b, part)
			default:
				if p.buf, err = p.piece(p.buf, b, part); err != nil {
					return err
				}
			}
			if len(p.buf) == 0 {
				continue
			}
			if err := p.mark(w, &left); err != nil {
				return err
			}
			if err := p.put(w, b.Record, p.buf); err != nil {
				return err
			}
		}
	}
	return p.mark(w, &left)
}

// mark says that something was folded here.
func (p *Page) mark(w io.Writer, left *tally) error {
	if left.n == left.kinds[transcript.Thinking] || p.fold.silent {
		*left = tally{}
		return nil
	}
	line := fmt.Appendf(nil, "*… folded: %s*", left)
	*left = tally{}
	return p.put(w, -1, p.pen.line(nil, line))
}

// put writes a piece of the page.
func (p *Page) put(w io.Writer, record int, text []byte) error {
	if p.Scan != nil {
		p.Scan(record, text)
	}
	// The lines of calls are a list, and something else begins behind an empty line.
	item := bytes.Count(text, []byte{'\n'}) == 1
	if p.listed && !item {
		if _, err := w.Write([]byte{'\n'}); err != nil {
			return err
		}
	}
	p.listed = item
	_, err := w.Write(text)
	return err
}
