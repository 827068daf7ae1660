// Package page writes a conversation, or the context of a model, as a document for readers:
// Markdown or text.
package page

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"ctxtool/internal/base/parallel"
	"ctxtool/internal/out/transcript"
	"ctxtool/internal/read/outline"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A Page is a conversation as a document for readers.
type Page struct {
	Session *sessionfmt.Session
	About   outline.About // of the session
	// Chapters are the parts of the conversation, in order.
	Chapters []transcript.Blocks

	Markdown bool
	File     bool // anchors, a table of contents
	Parts    Parts
	MaxLines int      // of a block, whose middle is cut; 0 for all
	Budget   int      // in characters; 0 for no limit
	Notes    []string // for the head
	// Used is what the session used, where the conversation is not all of it; nil for what that did and what its
	// sub-agents used besides.
	Used        *Spent
	SubAgents   Spent         // of sub-agents
	NoSubAgents bool          // leaves out what they used
	Models      *models.Table // with prices; nil for the built-in one
	// Asset returns the address of an image on the page, or "" for data that is not an image;
	// with write it stores the image there. It may be nil.
	Asset func(mime string, data jsonl.Value, write bool) (address string, err error)
	// Scan receives everything that is written, with the record that it comes from, -1 for
	// none, in any order and possibly concurrently. It may be nil.
	Scan func(record int, text []byte)

	pen   pen
	story *transcript.Story
	fold  folder
	turns []turnLine
	cwd   string // the folder that the session is about, with a slash, or empty
	drawn bool   // the page is being written

	// Buffers for pieces.
	buf, whole, shortened []byte
}

// Spent is tokens and dollars of calls.
type Spent struct {
	Input, Output, CacheRead, CacheWrite int64
	Dollars                              float64 // as recorded, and by the table of prices
	Computed                             bool    // some are by the table
}

// plus returns both together.
func (s Spent) plus(o Spent) Spent {
	return Spent{s.Input + o.Input, s.Output + o.Output, s.CacheRead + o.CacheRead, s.CacheWrite + o.CacheWrite,
		s.Dollars + o.Dollars, s.Computed || o.Computed}
}

// String returns the dollars in words.
func (s Spent) String() string { return phrase.If(s.Computed, "~") + fmt.Sprintf("$%.2f", s.Dollars) }

// clone returns the page with buffers of its own, for another goroutine.
func (p *Page) clone() *Page {
	mine := *p
	mine.buf, mine.whole, mine.shortened = nil, nil, nil
	return &mine
}

// A turnLine is a turn in a table of contents.
type turnLine struct {
	turn  int
	words string
}

// A TooLargeError is the error for a page whose parts that are never folded exceed the budget.
type TooLargeError struct{ Need, Budget int } // characters

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the parts that are never folded need %d characters, over the budget of %d", e.Need, e.Budget)
}

// Write writes the page. It reads the conversation twice: first for the head and, if there is
// a budget, the size of each block; then to write. It holds a few chapters in memory.
func (p *Page) Write(w io.Writer) error {
	p.pen = textPen{}
	if p.Markdown {
		p.pen = markdownPen{anchors: p.File}
	}
	if p.cwd = strings.TrimRight(p.About.CWD, "/"); p.cwd != "" {
		p.cwd += "/"
	}
	if err := p.survey(); err != nil {
		return err
	}
	first, err := p.head()
	if err != nil {
		return err
	}
	if err := p.fold.fit(p.Budget, utf8.RuneCount(first)+foldedLine); err != nil {
		return err
	}
	if p.fold.tally().n > 0 { // the head lists what was folded
		if first, err = p.head(); err != nil {
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

// near returns a path or a command as it would be written in the session's folder.
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

// inPath reports whether a path may continue after the byte c.
func inPath(c byte) bool {
	return c >= utf8.RuneSelf || c|0x20-'a' < 26 || c-'0' < 10 || strings.IndexByte("._-/~@+", c) >= 0
}

// survey reads the conversation without writing it.
func (p *Page) survey() error {
	p.story, p.fold, p.turns = transcript.NewStory(p.Models), folder{}, nil
	p.story.NoSubAgents = p.NoSubAgents
	last := -1 // the unit of the last answer
	for _, blocks := range p.Chapters {
		for b, err := range blocks(p.story, p.Budget > 0) {
			if err != nil {
				return err
			}
			if b.Kind == transcript.Prompt && p.File {
				p.turns = append(p.turns, turnLine{b.Turn, heading(b.Text)})
			}
			if p.Budget == 0 || !p.Parts.has(b) {
				continue
			}
			if b.Kind == transcript.Answer && !p.story.Aside {
				last = len(p.fold.units) + ifNeeded
			}
			for part := range parts {
				u, err := p.measure(b, part)
				if err != nil {
					return err
				}
				p.fold.add(u)
			}
		}
	}
	if last >= 0 {
		text, _ := p.story.Last()
		p.fold.keep(last, int32(utf8.RuneCount(p.pen.text(nil, []byte(text)))))
	}
	return nil
}

// measure measures a part of a block, whole and as a line.
func (p *Page) measure(b *transcript.Block, part int) (u unit, err error) {
	u = unit{kind: b.Kind, turn: int32(b.Turn), must: part == never}
	if !u.must && p.fold.must > p.Budget { // folding does not help
		return u, nil
	}
	if p.buf, err = p.piece(p.buf[:0], b, part); err != nil {
		return u, err
	}
	u.size = int32(utf8.RuneCount(p.buf))
	if u.size > 0 && isItem(p.buf) {
		u.size++ // a line feed, where it is the last of them
	}
	if p.buf = p.brief(p.buf[:0], b, part); u.size > 0 && len(p.buf) > 0 {
		u.brief = int32(utf8.RuneCount(p.buf)) + 1 // as above
	}
	return u, nil
}

// write writes what is not folded. Chapters are written on all CPUs, except with a budget:
// then a page is short, and a note on what is folded may span chapters.
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
		s := &sheet{p: p.clone(), w: all}
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

// Parts are the kinds of content that a page shows besides prompts and answers.
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

// pageParts are the parts in display order, each with the kinds of blocks that only it shows.
var pageParts = []struct {
	name  string
	part  Parts
	about string
	first bool // shown unless excluded
	kinds []transcript.Kind
}{
	{"thinking", showThinking, "the thinking of the model", true, []transcript.Kind{transcript.Thinking}},
	{"calls", showCalls, "calls of tools, and the user's own commands", true,
		[]transcript.Kind{transcript.Call, transcript.Shell}},
	{"results", showResults, "the results of the calls", true, nil},
	{"edits", showEdits, "edits and transforms of the context", true,
		[]transcript.Kind{transcript.Edit, transcript.Transform}},
	{"hidden", showHidden, "skills and messages that only the model saw", true,
		[]transcript.Kind{transcript.Skill, transcript.Custom}},
	{"images", showImages, "images, or what stands for them", true, []transcript.Kind{transcript.Image}},
	{"settings", showSettings, "changes of model and thinking level, labels", true,
		[]transcript.Kind{transcript.Setting, transcript.Label}},
	{"system", showSystem, "the texts of system messages, prompt and tools", false, nil},
	{"ephemerals", showEphemerals, "messages that only one request had", false, nil},
}

// PartNames returns the names of the parts, in display order.
func PartNames() (names []string) {
	for _, p := range pageParts {
		names = append(names, p.name)
	}
	return names
}

// PartHelp returns the list of parts for help texts.
func PartHelp() string {
	var b strings.Builder
	for _, p := range pageParts {
		fmt.Fprintf(&b, "  %-10s  %s%s\n", p.name, p.about, phrase.If(!p.first, "; only if included"))
	}
	return b.String()
}

// ParseParts returns the parts to show, given those to include and to exclude.
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
				return 0, fmt.Errorf("unknown part %q: expected one of %s", sessionfmt.Quote(name),
					strings.Join(PartNames(), ", "))
			case k == 0:
				parts |= pageParts[i].part
			default:
				parts &^= pageParts[i].part
			}
		}
	}
	return parts, nil
}

// has reports whether a page shows a block, perhaps as a line.
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
