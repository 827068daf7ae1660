package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ctxtool/internal/phrase"
	"ctxtool/internal/transcript"
	"ctxtool/replay/models"
	"ctxtool/replay/tokens"
)

// Limits that keep the head of a page within 20 lines.
const (
	goalSize   = 400 // characters of the goal
	lastSize   = 400 // characters of the last answer
	headFiles  = 5
	headFails  = 3
	headModels = 3
)

// head returns the head: what happened, and what is never folded.
func (p *Page) head() ([]byte, error) {
	s := p.story
	name := cmp.Or(p.Name, beginning(s.Goal(), headingWords), "Session")
	dst := p.pen.heading(nil, 1, "", p.pen.inline(nil, phrase.Cut(name, headingWords)))
	dst = p.fact(dst, "Goal", p.pen.inline(nil, beginning(s.Goal(), goalSize)))
	dst = p.fact(dst, "Outcome", p.outcome())
	dst = p.fact(dst, "Changed", p.changed())
	dst = p.fact(dst, "Failed", p.failed())
	dst = p.fact(dst, "Session", p.span())
	dst = p.fact(dst, "Used", p.used())
	dst = p.fact(dst, "Compacted", p.compacted())
	dst = p.remarks(dst)
	dst = p.contents(dst)
	return p.lists(dst), nil
}

// contextHead returns the head of a context: its model and its size.
func (p *Page) contextHead() ([]byte, error) {
	e := p.Context
	counts, err := e.Count(&tokens.Pi)
	if err != nil {
		return nil, err
	}
	model, limit, _, err := e.Model()
	if err != nil {
		return nil, err
	}
	size, err := e.Size()
	if err != nil {
		return nil, err
	}
	at := "the beginning"
	if e.Leaf >= 0 {
		at = "entry " + p.Session.ID(e.Leaf)
	}
	line := p.pen.inline([]byte("Context of request "+fmt.Sprint(e.RequestIndex)+", at "), at)
	dst := p.pen.heading(nil, 1, "", line)
	dst = p.fact(dst, "Session", p.pen.inline(nil, phrase.Cut(p.Name, headingWords)))
	if model != (models.Ref{}) {
		dst = p.fact(dst, "Model", p.pen.code(nil, model.Name()))
	}
	total := size.Tokens
	name, more := size.Rest(counts.Total)
	line = fmt.Appendf(nil, "%s%s tokens: system %s, tools %s, messages %s%s", phrase.If(size.Estimated > 0, "~"),
		phrase.Short(int64(total)), phrase.Short(int64(counts.System)), phrase.Short(int64(counts.Tools)), phrase.Short(int64(counts.Messages)),
		phrase.If(more != 0, ", %s %s", name, phrase.Short(int64(more))))
	dst = p.fact(dst, "Size", append(line, phrase.If(limit > 0, "; window %s", phrase.Short(limit))+phrase.If(limit > 0 && int64(total) > limit, ", exceeded")...))
	dst = p.fact(dst, "Messages", fmt.Appendf(nil, "%d cached, %d uncached; %s", e.Cached(), e.Uncached(), phrase.Count(len(e.Transforms), "transform")))
	dst = p.remarks(dst)
	return p.contents(dst), nil
}

// remarks appends notes on the page itself, and an empty line.
func (p *Page) remarks(dst []byte) []byte {
	if t := p.fold.tally(); t.n > 0 {
		dst = p.fact(dst, "Folded to fit", fmt.Appendf(nil, "%s, the oldest and largest first", &t))
	}
	for _, n := range p.Notes {
		dst = p.fact(dst, "Note", p.pen.inline(nil, n))
	}
	return append(dst, '\n')
}

// fact appends a line of the head, unless it is empty.
func (p *Page) fact(dst []byte, word string, line []byte) []byte {
	if len(line) == 0 {
		return dst
	}
	return p.pen.item(dst, append(append(p.pen.strong(nil, word), ": "...), line...))
}

// beginning returns a text's first paragraph on one line, with what follows if it is short,
// and without fenced code and marks of Markdown.
func beginning(text string, most int) string {
	var words []string
	size, fenced := 0, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if size > most || line == "" && size > most/4 {
			break
		}
		if fenced || line == "" {
			continue
		}
		line = strings.ReplaceAll(strings.TrimLeft(line, "#-* "), "**", "")
		line = strings.ReplaceAll(line, "`", "")
		words = append(words, line)
		size += utf8.RuneCountInString(line)
	}
	if len(words) == 0 { // nothing but code
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "```") {
				return phrase.Cut(line, most)
			}
		}
	}
	return phrase.Cut(strings.Join(words, " "), most)
}

// beginningOf is beginning for a text that may be long.
func beginningOf(text []byte, most int) string {
	const enough = 8 << 10 // bytes, for whatever stands between words
	if len(text) <= enough {
		return beginning(string(text), most)
	}
	return beginning(strings.ToValidUTF8(string(text[:enough]), ""), most)
}

// shortAnswer is the number of characters up to which an answer is too short for a result.
const shortAnswer = 40

func (p *Page) outcome() []byte {
	last, before := p.story.Last()
	if last == "" {
		return []byte("no answer")
	}
	words := beginning(last, lastSize)
	if utf8.RuneCountInString(words) < shortAnswer && before != "" {
		words = beginning(before, lastSize-shortAnswer) + " … " + words
	}
	return p.pen.inline(nil, words)
}

// changed returns the files that were changed most.
func (p *Page) changed() (line []byte) {
	files := slices.Clone(p.story.Files)
	if len(files) == 0 {
		return nil
	}
	slices.SortStableFunc(files, func(a, b *transcript.File) int { return b.Added + b.Removed - a.Added - a.Removed })
	line = append(line, phrase.Count(len(files), "file")...)
	sep := ": "
	for _, f := range files[:min(headFiles, len(files))] {
		line = p.file(append(line, sep...), f)
		sep = ", "
	}
	return append(line, phrase.If(len(files) > headFiles, ", and %d more", len(files)-headFiles)...)
}

// file appends a file with the size of its changes.
func (p *Page) file(line []byte, f *transcript.File) []byte {
	line = p.pen.code(line, p.near(f.Path))
	line = append(line, phrase.If(f.Added+f.Removed > 0, " +%d −%d", f.Added, f.Removed)...)
	switch {
	case f.Written > 0 && f.Edited > 0:
		line = append(line, " (written and edited)"...)
	case f.Written > 0:
		line = append(line, " (written)"...)
	case !f.Told:
		line = append(line, " (edited)"...)
	}
	return line
}

// failed returns the commands that failed, first those that did not pass later.
func (p *Page) failed() (line []byte) {
	all := byOutcome(p.story.Commands)
	others := phrase.Count(p.story.Failures, "other call")
	if len(all) == 0 {
		return append(line, phrase.If(p.story.Failures > 0, "no command; %s", others)...)
	}
	passed := 0
	for _, c := range all {
		if c.Passed {
			passed++
		}
	}
	line = fmt.Appendf(line, "%s, %s passed later", phrase.Count(len(all), "command"), cmp.Or(phrase.If(passed > 0, "%d", passed), "none"))
	sep := ": "
	for _, c := range all[:min(headFails, len(all))] {
		line = p.command(append(line, sep...), c, 80)
		sep = "; "
	}
	return append(line, phrase.If(len(all) > headFails, "; and %d more", len(all)-headFails)+
		phrase.If(p.story.Failures > 0, "; and %s", others)...)
}

// byOutcome sorts commands: first those that never passed, the latest first; last those that
// only search, and fail if they find nothing.
func byOutcome(all []*transcript.Command) []*transcript.Command {
	all = slices.Clone(all)
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b *transcript.Command) int { return rank(a) - rank(b) })
	return all
}

func rank(c *transcript.Command) (n int) {
	if looks(c.Line) {
		n = 2
	}
	if c.Passed {
		n++
	}
	return n
}

// looks reports whether a command only searches.
func looks(line string) bool {
	for part := range strings.SplitSeq(line, "&&") {
		name, _, _ := strings.Cut(strings.TrimSpace(part), " ")
		switch name {
		case "cd":
			continue
		case "grep", "rg", "find", "fd", "ls", "cat", "head", "tail", "which", "test", "[", "diff", "stat":
			return true
		}
		return false
	}
	return false
}

// command appends a command that failed, cut to a number of characters.
func (p *Page) command(line []byte, c *transcript.Command, most int) []byte {
	line = p.pen.code(line, phrase.Cut(oneLine(p.near(c.Line)), most))
	return append(line, phrase.If(c.Exit > 0, " exit %d", c.Exit)+phrase.If(c.Times > 1, ", %d times", c.Times)+phrase.If(c.Passed, ", passed later")...)
}

// span returns the models, the numbers of turns, requests and calls, and the time.
func (p *Page) span() (line []byte) {
	s := p.story
	for k, m := range s.Models[:min(headModels, len(s.Models))] {
		line = p.pen.code(append(line, phrase.If(k > 0, ", ")...), m.Name())
	}
	line = append(line, phrase.If(len(s.Models) > headModels, " and %d more", len(s.Models)-headModels)+phrase.If(len(s.Models) > 0, "; ")...)
	line = fmt.Appendf(line, "%s, %s, %s", phrase.Count(s.Turns, "turn"), phrase.Count(s.Requests, "request"), phrase.Count(s.Calls, "call"))
	if s.From != "" {
		line = p.pen.inline(append(line, "; "...), minute(s.From))
		from, err1 := time.Parse(time.RFC3339, s.From)
		to, err2 := time.Parse(time.RFC3339, s.To())
		if err1 == nil && err2 == nil && to.After(from) {
			line = fmt.Appendf(line, ", %s", spell(to.Sub(from)))
		}
	}
	return line
}

// minute returns a timestamp up to its minute.
func minute(stamp string) string {
	if len(stamp) < 19 || stamp[10] != 'T' {
		return stamp
	}
	return stamp[:10] + " " + stamp[11:16]
}

// spell returns a duration in its two largest units.
func spell(d time.Duration) string {
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("over %d days", int(d.Hours()/24))
	case d >= time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d s", int(d.Seconds()))
}

// used returns the tokens and the cost of the requests.
func (p *Page) used() (line []byte) {
	u := p.story.Usage
	if u.Input+u.Output+u.CacheRead+u.CacheWrite == 0 {
		return nil
	}
	line = fmt.Appendf(line, "%s tokens in, %s out%s%s", phrase.Short(u.Input), phrase.Short(u.Output),
		phrase.If(u.CacheRead > 0, ", %s read from cache", phrase.Short(u.CacheRead)), phrase.If(u.CacheWrite > 0, ", %s written to it", phrase.Short(u.CacheWrite)))
	cost := u.Cost.Total + p.story.Computed
	return append(line, phrase.If(cost > 0, "; %s$%.2f", phrase.If(p.story.Computed > 0, "~"), cost)...)
}

func (p *Page) compacted() (line []byte) {
	cuts := p.story.Cuts
	if len(cuts) == 0 {
		return nil
	}
	messages, tokens := 0, 0
	for _, c := range cuts {
		messages += max(0, c.Before-c.After+1)
		tokens = max(tokens, c.Tokens)
	}
	return fmt.Appendf(line, "%s in %s%s", phrase.Count(messages, "message"), phrase.Count(len(cuts), "compaction"),
		phrase.If(tokens > 0, ", the largest at %s tokens", phrase.Short(int64(tokens))))
}

func (p *Page) contents(dst []byte) []byte {
	if !p.File || len(p.turns) == 0 {
		return dst
	}
	dst = p.pen.heading(dst, 2, "", []byte("Contents"))
	for _, t := range p.turns {
		line := p.pen.inline(p.turnName(t.turn), t.words)
		dst = p.pen.item(dst, p.pen.link(nil, turnAnchor(t.turn), line))
	}
	return append(dst, '\n')
}

// lists appends all files that were changed and all commands that failed, unless the lines
// above have them all.
func (p *Page) lists(dst []byte) []byte {
	if n := len(p.story.Files); n > headFiles {
		dst = p.pen.open(dst, title{before: "Files changed: " + fmt.Sprint(n)})
		for _, f := range p.story.Files {
			dst = p.pen.item(dst, p.file(nil, f))
		}
		dst = p.pen.close(append(dst, '\n'))
	}
	if n := len(p.story.Commands); n > headFails {
		dst = p.pen.open(dst, title{before: "Commands that failed: " + fmt.Sprint(n)})
		for _, c := range byOutcome(p.story.Commands) {
			dst = p.pen.item(dst, p.command(nil, c, longLine))
		}
		dst = p.pen.close(append(dst, '\n'))
	}
	return dst
}
