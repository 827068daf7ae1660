// Package page writes a conversation, or what a model had, as a page for people who read it:
// Markdown, or text.
package page

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"ctxtool/internal/parallel"
	"ctxtool/internal/phrase"
	"ctxtool/internal/transcript"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Page is a conversation as a document for people.
type Page struct {
	Session *sessionfmt.Session
	Name    string // of the session, empty for none
	// Context is an envelope to show in place of a conversation.
	Context *replay.Envelope
	// Chapters are the parts of the conversation, in order.
	Chapters []transcript.Blocks

	Markdown bool
	File     bool // anchors, a table of contents
	Parts    Parts
	MaxLines int      // of a block, others are left out of its middle; 0 for all
	Budget   int      // characters; 0 for any number
	Notes    []string // that belong to the head
	// Asset is the address of an image on the page, empty for what is none; with
	// write it stores it there. It may be nil.
	Asset func(mime string, data jsonl.Value, write bool) (address string, err error)
	// Scan sees everything that is written, with the entry that it comes from, -1
	// for none, and not always in order: several may call it at a time. It may be nil.
	Scan func(record int, text []byte)

	pen   pen
	story *transcript.Story
	fold  folder
	turns []turnLine
	cwd   string // the folder that the session is about, with a slash, or empty
	drawn bool   // the page is being written

	// What pieces are made in, one after the other.
	whole, shortened []byte
}

// apart is the page for a goroutine of its own, which makes its own pieces.
func (p *Page) apart() *Page {
	mine := *p
	mine.whole, mine.shortened = nil, nil
	return &mine
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
// happened and, where there is a budget, how long everything is; then again to write.
// In memory it has some chapters at a time.
func (p *Page) Write(w io.Writer) error {
	p.pen = textPen{}
	if p.Markdown {
		p.pen = markdownPen{anchors: p.File}
	}
	head := p.head
	if p.Context != nil {
		head, p.Chapters = p.contextHead, []transcript.Blocks{transcript.Context(p.Context)}
	}
	if err := p.located(); err != nil {
		return err
	}
	if err := p.survey(); err != nil {
		return err
	}
	first, err := head()
	if err != nil {
		return err
	}
	if err := p.fold.fit(p.Budget, utf8.RuneCount(first)+foldedLine); err != nil {
		return err
	}
	if p.fold.tally().n > 0 { // the head says what was folded
		if first, err = head(); err != nil {
			return err
		}
	}
	if p.Scan != nil {
		p.Scan(-1, first)
	}
	if _, err := w.Write(first); err != nil {
		return err
	}
	return p.write(w)
}

// located reads from the header which folder paths are shown from.
func (p *Page) located() error {
	header := p.Session.Header()
	if header < 0 {
		return nil
	}
	line, err := p.Session.NewReader().Line(header)
	if cwd := strings.TrimRight(line.Get("cwd").Text(), "/"); cwd != "" {
		p.cwd = cwd + "/"
	}
	return err
}

// near is a path or a command as it would be written in the session's folder.
func (p *Page) near(text string) string {
	if p.cwd == "" {
		return text
	}
	text = strings.TrimPrefix(text, "cd "+p.cwd[:len(p.cwd)-1]+" && ")
	near, start := "", 0
	for at := 0; ; {
		k := strings.Index(text[at:], p.cwd)
		if k < 0 {
			return near + text[start:]
		}
		if at += k; at == 0 || !inPath(text[at-1]) { // else it ends some other path
			near += text[start:at]
			start = at + len(p.cwd)
		}
		at += len(p.cwd)
	}
}

// inPath reports that a path goes on behind a byte.
func inPath(c byte) bool {
	return c >= utf8.RuneSelf || c|0x20-'a' < 26 || c-'0' < 10 || strings.IndexByte("._-/~@+", c) >= 0
}

// A chapter is what a survey has learned of one.
type chapter struct {
	story *transcript.Story
	units []unit
	turns []turnLine
	last  int // the unit of the last answer, -1 for none
}

// survey goes through the conversation without writing it.
func (p *Page) survey() error {
	p.story, p.fold, p.turns = transcript.NewStory(), folder{}, nil
	must := &atomic.Int64{} // characters that are never folded, so far
	last := -1
	return parallel.Ordered(p.Chapters, func(blocks transcript.Blocks) (*chapter, error) {
		return p.apart().read(blocks, must)
	}, func(c *chapter, end bool) error {
		if c.last >= 0 && !p.story.Aside {
			last = len(p.fold.units) + c.last
		}
		p.story.Join(c.story)
		p.fold.add(c.units)
		p.turns = append(p.turns, c.turns...)
		if end && last >= 0 {
			text, _ := p.story.Last()
			p.fold.keep(last, int32(utf8.RuneCount(p.pen.text(nil, []byte(text)))))
		}
		return nil
	})
}

// read surveys a chapter.
func (p *Page) read(blocks transcript.Blocks, must *atomic.Int64) (*chapter, error) {
	c := &chapter{story: transcript.NewStory(), last: -1}
	var buf []byte
	for b, err := range blocks(c.story, p.Budget > 0) {
		if err != nil {
			return nil, err
		}
		if b.Kind == transcript.Prompt && p.File {
			c.turns = append(c.turns, turnLine{b.Turn, beginningOf(b.Text, headingWords)})
		}
		if p.Budget == 0 || !p.Parts.has(b) {
			continue
		}
		for part := range parts {
			u := unit{kind: b.Kind, turn: int32(b.Turn), must: part == never}
			if u.must || must.Load() <= int64(p.Budget) { // else no folding helps
				if u, buf, err = p.measure(u, b, part, buf); err != nil {
					return nil, err
				}
			}
			if u.must {
				must.Add(int64(u.size))
			}
			if b.Kind == transcript.Answer && part == ifNeeded && !c.story.Aside {
				c.last = len(c.units)
			}
			c.units = append(c.units, u)
		}
	}
	return c, nil
}

// measure finds out how long a part of a block is, whole and as a line.
func (p *Page) measure(u unit, b *transcript.Block, part int, buf []byte) (unit, []byte, error) {
	buf, err := p.piece(buf[:0], b, part)
	if err != nil {
		return u, buf, err
	}
	u.size = int32(utf8.RuneCount(buf))
	if u.size > 0 && isItem(buf) {
		u.size++ // a line feed, where it is the last of them
	}
	if buf = p.brief(buf[:0], b, part); u.size > 0 && len(buf) > 0 {
		u.brief = int32(utf8.RuneCount(buf)) + 1 // as above
	}
	return u, buf, nil
}

// write goes through the conversation, and writes what is not folded. A page with a
// budget is short, and what is left out of it goes over chapters; others are written
// by all processors.
func (p *Page) write(w io.Writer) error {
	p.drawn = true
	if p.Budget > 0 {
		s := &sheet{p: p, units: p.fold.units, w: w}
		for _, blocks := range p.Chapters {
			if err := s.chapter(blocks); err != nil {
				return err
			}
		}
		return s.end()
	}
	spare := make(chan *bytes.Buffer, len(p.Chapters))
	return parallel.Ordered(p.Chapters, func(blocks transcript.Blocks) (*bytes.Buffer, error) {
		all := new(bytes.Buffer)
		select {
		case all = <-spare:
		default:
		}
		s := &sheet{p: p.apart(), w: all}
		if err := s.chapter(blocks); err != nil {
			return nil, err
		}
		return all, s.end()
	}, func(all *bytes.Buffer, _ bool) error {
		_, err := all.WriteTo(w)
		spare <- all
		return err
	})
}

// Parts are the kinds of things that a page shows, besides what user and model
// said.
type Parts uint16

const (
	showThinking Parts = 1 << iota
	showCalls
	showResults
	showSystem
	showEphemerals
	showEdits
	showHidden
	showImages
	showSettings
)

// pageParts are the parts by name, in display order, and the kinds of blocks that are shown
// with them alone.
var pageParts = []struct {
	name  string
	part  Parts
	about string
	first bool // shown unless excluded
	kinds []transcript.Kind
}{
	{"thinking", showThinking, "what the model thought", true, []transcript.Kind{transcript.Thinking}},
	{"calls", showCalls, "calls of tools, and the user's own commands", true, []transcript.Kind{transcript.Call, transcript.Shell}},
	{"results", showResults, "what the calls gave", true, nil},
	{"edits", showEdits, "edits and transforms of the context", true, []transcript.Kind{transcript.Edit, transcript.Transform}},
	{"hidden", showHidden, "skills and messages that only the model saw", true, []transcript.Kind{transcript.Skill, transcript.Custom}},
	{"images", showImages, "images, or what stands for them", true, []transcript.Kind{transcript.Image}},
	{"settings", showSettings, "changes of model and thinking level, labels", true, []transcript.Kind{transcript.Setting, transcript.Label}},
	{"system", showSystem, "the texts of system messages, prompt and tools", false, nil},
	{"ephemerals", showEphemerals, "messages that only one request had", false, nil},
}

// PartNames are the names of parts, in display order.
func PartNames() (names []string) {
	for _, p := range pageParts {
		names = append(names, p.name)
	}
	return names
}

// PartHelp says what the parts are, for help texts.
func PartHelp() string {
	var b strings.Builder
	for _, p := range pageParts {
		fmt.Fprintf(&b, "  %-10s  %s%s\n", p.name, p.about, phrase.If(!p.first, "; only if included"))
	}
	return b.String()
}

// ParseParts are the parts to show, from those to include and to exclude.
func ParseParts(include, exclude []string) (parts Parts, err error) {
	for _, p := range pageParts {
		if p.first {
			parts |= p.part
		}
	}
	for k, names := range [][]string{include, exclude} {
		for _, name := range names {
			i := slices.Index(PartNames(), name)
			switch {
			case i < 0:
				return 0, fmt.Errorf("unknown part %q: one of %s", sessionfmt.Quote(name), strings.Join(PartNames(), ", "))
			case k == 0:
				parts |= pageParts[i].part
			default:
				parts &^= pageParts[i].part
			}
		}
	}
	return parts, nil
}

// has reports that a page shows a block, if only in a line.
func (p Parts) has(b *transcript.Block) bool {
	if b.Kind == transcript.Custom && !b.Hidden {
		return true
	}
	for _, part := range pageParts {
		if slices.Contains(part.kinds, b.Kind) {
			return p&part.part != 0
		}
	}
	return true
}
