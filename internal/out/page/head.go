package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ctxtool/internal/out/transcript"
	"ctxtool/internal/read/activity"
	"ctxtool/internal/read/phrase"
	"ctxtool/replay/models"
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
	name := cmp.Or(p.About.Name, beginning(s.First(), headingWords), p.About.First, "Session")
	dst := p.pen.heading(nil, 1, "", p.pen.inline(nil, phrase.Cut(name, headingWords)))
	for _, f := range []struct{ word, line string }{
		{"Goal", p.inline(beginning(cmp.Or(s.Goal(), p.About.First), goalSize))},
		{"Outcome", p.outcome()}, {"Changed", p.changed()}, {"Failed", p.failed()}, {"Session", p.span()},
		{"Used", p.used()}, {"Compacted", p.compacted()},
	} {
		dst = p.fact(dst, f.word, f.line)
	}
	dst = p.remarks(dst)
	dst = p.contents(dst)
	return p.lists(dst), nil
}

// remarks appends notes on the page itself, and an empty line.
func (p *Page) remarks(dst []byte) []byte {
	if t := p.fold.tally(); t.n > 0 {
		dst = p.fact(dst, "Folded to fit", t.String()+", the oldest and largest first")
	}
	for _, n := range p.Notes {
		dst = p.fact(dst, "Note", p.inline(n))
	}
	return append(dst, '\n')
}

// fact appends a line of the head, unless it is empty.
func (p *Page) fact(dst []byte, word, line string) []byte {
	if line == "" {
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

// heading returns the words of a prompt for its heading: what a person typed, else what the agent wrote.
func heading(prompt []byte) string {
	is := activity.ReadPrompt(string(prompt))
	return beginningOf(cmp.Or(is.String(), is.Note), headingWords)
}

// beginningOf is beginning for a text that may be long.
func beginningOf[T string | []byte](text T, most int) string {
	const enough = 8 << 10 // bytes, for whatever stands between words
	if len(text) <= enough {
		return beginning(string(text), most)
	}
	return beginning(strings.ToValidUTF8(string(text[:enough]), ""), most)
}

// shortAnswer is the number of characters up to which an answer is too short for a result.
const shortAnswer = 40

func (p *Page) outcome() string {
	last, before := p.story.Last()
	if last == "" {
		return "no answer"
	}
	words := beginning(last, lastSize)
	if utf8.RuneCountInString(words) < shortAnswer && before != "" {
		words = beginning(before, lastSize-shortAnswer) + " … " + words
	}
	return p.inline(words)
}

// few joins the first of some texts, and says how many others there are.
func few(all []string, most int, sep, rest string) string {
	more := len(all) - most
	return strings.Join(all[:min(most, len(all))], sep) + phrase.If(more > 0, rest+" %d more", more)
}

// changed returns the files that were changed most.
func (p *Page) changed() string {
	if len(p.story.Files) == 0 {
		return ""
	}
	size := func(f *transcript.File) int { return f.Added + f.Removed }
	files := slices.SortedStableFunc(slices.Values(p.story.Files),
		func(a, b *transcript.File) int { return size(b) - size(a) })
	return phrase.Count(len(files), "file") + ": " + few(each(files, p.file), headFiles, ", ", ", and")
}

// each returns what text returns of each element.
func each[T any](all []T, text func(T) string) (texts []string) {
	for _, one := range all {
		texts = append(texts, text(one))
	}
	return texts
}

// file returns a file with the size of its changes.
func (p *Page) file(f *transcript.File) string {
	line := p.code(p.near(f.Path)) + phrase.If(f.Added+f.Removed > 0, " +%d −%d", f.Added, f.Removed)
	switch {
	case f.Written > 0 && f.Edited > 0:
		line += " (written and edited)"
	case f.Written > 0:
		line += " (written)"
	case !f.Told:
		line += " (edited)"
	}
	return line
}

func (p *Page) code(text string) string   { return string(p.pen.code(nil, text)) }
func (p *Page) inline(text string) string { return string(p.pen.inline(nil, text)) }

// failed returns the commands that failed, first those that did not pass later.
func (p *Page) failed() string {
	all, passed := byOutcome(p.story.Commands), 0
	others := phrase.Count(p.story.Failures, "other call")
	if len(all) == 0 {
		return phrase.If(p.story.Failures > 0, "no command; %s", others)
	}
	for _, c := range all {
		if c.Passed {
			passed++
		}
	}
	lines := each(all, func(c *transcript.Command) string { return p.command(c, 80) })
	return fmt.Sprintf("%s, %s passed later: ", phrase.Count(len(all), "command"),
		cmp.Or(phrase.If(passed > 0, "%d", passed), "none")) +
		few(lines, headFails, "; ", "; and") + phrase.If(p.story.Failures > 0, "; and %s", others)
}

// byOutcome sorts commands: first those that never passed, the latest first; last those that
// only search, and fail if they find nothing.
func byOutcome(all []*transcript.Command) []*transcript.Command {
	var ranked [4][]*transcript.Command
	for _, c := range slices.Backward(all) {
		n := rank(c) // parses the line
		ranked[n] = append(ranked[n], c)
	}
	return slices.Concat(ranked[:]...)
}

// rank returns the place of a command among others, from 0 to 3.
func rank(c *transcript.Command) (n int) {
	if activity.ReadScript(c.Line).Looks {
		n = 2
	}
	if c.Passed {
		n++
	}
	return n
}

// command returns a command that failed, cut to a number of characters.
func (p *Page) command(c *transcript.Command, most int) string {
	return p.code(phrase.Cut(oneLine(p.near(c.Line)), most)) + phrase.If(c.Exit > 0, " exit %d", c.Exit) +
		phrase.If(c.Times > 1, ", %d times", c.Times) + phrase.If(c.Passed, ", passed later")
}

// span returns the models, the numbers of turns, requests and calls, and the time.
func (p *Page) span() string {
	s := p.story
	names := each(s.Models, func(m models.Ref) string { return p.code(m.Name()) })
	line := few(names, headModels, ", ", " and") + phrase.If(len(names) > 0, "; ") +
		fmt.Sprintf("%s, %s, %s", phrase.Count(s.Turns, "turn"), phrase.Count(s.Requests, "request"),
			phrase.Count(s.Calls, "call"))
	if s.From == "" {
		return line
	}
	line += "; " + p.inline(minute(s.From))
	from, err1 := time.Parse(time.RFC3339, s.From)
	to, err2 := time.Parse(time.RFC3339, s.To())
	return line + phrase.If(err1 == nil && err2 == nil && to.After(from), ", %s", spell(to.Sub(from)))
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
func (p *Page) used() string {
	s := p.story
	u := Spent{s.Usage.Input, s.Usage.Output, s.Usage.CacheRead, s.Usage.CacheWrite, s.Usage.Cost.Total + s.Computed,
		s.Computed > 0}.plus(p.SubAgents)
	if p.Used != nil {
		u = *p.Used
	}
	if u.Input+u.Output+u.CacheRead+u.CacheWrite == 0 {
		return ""
	}
	return phrase.Short(u.Input) + " tokens in, " + phrase.Short(u.Output) + " out" +
		phrase.If(u.CacheRead > 0, ", %s read from cache", phrase.Short(u.CacheRead)) +
		phrase.If(u.CacheWrite > 0, ", %s written to it", phrase.Short(u.CacheWrite)) +
		phrase.If(u.Dollars > 0, "; %s", u) +
		phrase.If(p.SubAgents.Dollars > 0, ", of it %s by sub-agents", p.SubAgents) +
		phrase.If(p.NoSubAgents, " without sub-agents")
}

func (p *Page) compacted() string {
	messages, tokens := 0, 0
	for _, c := range p.story.Cuts {
		messages += max(0, c.Before-c.After+1)
		tokens = max(tokens, c.Tokens)
	}
	n := len(p.story.Cuts)
	return phrase.If(n > 0, "%s in %s%s", phrase.Count(messages, "message"), phrase.Count(n, "compaction"),
		phrase.If(tokens > 0, ", the largest at %s tokens", phrase.Short(int64(tokens))))
}

func (p *Page) contents(dst []byte) []byte {
	if !p.File || len(p.turns) == 0 {
		return dst
	}
	dst = p.pen.heading(dst, 2, "", []byte("Contents"))
	for _, t := range p.turns {
		line := p.pen.inline(fmt.Appendf(nil, "Turn %d: ", t.turn), t.words)
		dst = p.pen.item(dst, p.pen.link(nil, turnAnchor(t.turn), line))
	}
	return append(dst, '\n')
}

// lists appends all files that were changed and all commands that failed, unless the lines
// above have them all.
func (p *Page) lists(dst []byte) []byte {
	commands := each(byOutcome(p.story.Commands), func(c *transcript.Command) string { return p.command(c, longLine) })
	for _, list := range []struct {
		name  string
		lines []string
		head  int
	}{{"Files changed: ", each(p.story.Files, p.file), headFiles}, {"Commands that failed: ", commands, headFails}} {
		if len(list.lines) <= list.head {
			continue
		}
		dst = p.pen.open(dst, title{before: list.name + fmt.Sprint(len(list.lines))})
		for _, line := range list.lines {
			dst = p.pen.item(dst, []byte(line))
		}
		dst = p.pen.close(append(dst, '\n'))
	}
	return dst
}
