// Package survival finds what a compaction lost: of the messages that its summary stands
// for, the files, commands, open failures and demands of the user that the summary does
// not tell. It looks at texts alone, by rules that need no model, so that the same texts
// always give the same.
package survival

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ctxtool/internal/said"
	"ctxtool/sessionfmt/jsonl"
)

// Facts are what a summary should keep of the messages that it stands for: what
// those who go on with it cannot know from anywhere else. Take gathers them, Survive
// looks which of them a summary still tells. The zero value has none.
type Facts struct {
	Paths       []Fact // files that tools were called with
	Commands    []Fact // that did something: see said.Commands
	Errors      []Failure
	Constraints []Fact // sentences of the user: see constraints

	calls map[string]Failure // that are open, by id
	noted map[string]bool    // what is in the lists
}

// A Fact is something that a message told.
type Fact struct {
	What   string
	Record int // of the first message that told it, or of the last that failed
}

// A Failure is a call that failed and was not made again with success, or one that may.
// What is the command, the path, or else the tool.
type Failure struct {
	Fact
	Text string // what went wrong, the line of the result that tells it best
	path bool
}

// A Survival is how much of the facts a summary tells.
type Survival struct {
	Paths       Kept `json:"paths"`
	Commands    Kept `json:"commands"`
	Errors      Kept `json:"errors"`
	Constraints Kept `json:"constraints"`
}

// Kept is how many facts there were, and how many of them were found.
type Kept struct {
	Of    int    `json:"of"`
	Found int    `json:"found"`
	Lost  []Fact `json:"-"` // the others, in the order in which they came up
}

// Take adds the facts of a message, given as a provider gets it, and of which record it
// is. Kind is its role in the session: what the user did not write states no constraint
// of his.
func (f *Facts) Take(kind jsonl.Kind, msg jsonl.Value, record int) {
	switch kind {
	case jsonl.User:
		for _, c := range constraints(msg.Get("content").ContentText()) {
			f.note(&f.Constraints, "constraint ", Fact{c, record})
		}
	case jsonl.Assistant:
		for call := range msg.Message().Calls {
			f.call(call.Raw, record)
		}
	case jsonl.ToolResult:
		for call := range msg.Get("nestedCalls").Get("calls").Elements {
			f.call(call, record)
		}
		f.result(msg, record)
	}
}

// note adds a fact to a list, if it is not there.
func (f *Facts) note(list *[]Fact, kind string, fact Fact) {
	if fact.What != "" && f.first(kind+fact.What) {
		*list = append(*list, fact)
	}
}

// first reports whether something is noted for the first time.
func (f *Facts) first(what string) bool {
	if f.noted == nil {
		f.noted, f.calls = map[string]bool{}, map[string]Failure{}
	}
	if f.noted[what] {
		return false
	}
	f.noted[what] = true
	return true
}

// call records a tool call.
func (f *Facts) call(call jsonl.Value, record int) {
	sub := Failure{Fact: Fact{What: call.Get("name").Text()}}
	for key, v := range call.Get("arguments").Members {
		switch {
		case !v.IsString():
		case slices.Contains(said.CommandArguments, string(key)):
			heads := said.Commands(v.Text())
			for _, head := range heads {
				if !OnlyLooks(head) {
					f.note(&f.Commands, "command ", Fact{head, record})
				}
			}
			if len(heads) > 0 {
				sub = Failure{Fact: Fact{What: heads[len(heads)-1]}}
			}
		case slices.Contains(said.PathArguments, string(key)):
			if p := cleanPath(v.Text()); p != "" {
				f.note(&f.Paths, "path ", Fact{p, record})
				sub = Failure{Fact: Fact{What: p}, path: true}
			}
		}
	}
	if id := call.Get("id").Text(); id != "" {
		f.first("") // makes the maps
		f.calls[id] = sub
	}
}

// result records whether the call that a result answers failed. An earlier
// failure of the same is over once it went well.
func (f *Facts) result(msg jsonl.Value, record int) {
	m := msg.Message()
	id := m.CallID.Text()
	sub, ok := f.calls[id]
	if !ok {
		sub = Failure{Fact: Fact{What: m.Tool.Text()}}
	}
	delete(f.calls, id)
	text := string(m.AppendText(nil, "\n"))
	outcome := said.OutcomeOf(m.IsError.Truthy(), text)
	if outcome > said.Error {
		return // it says nothing about what was called
	}
	failed := "failure " + sub.What
	if !f.first(failed) {
		f.Errors = slices.DeleteFunc(f.Errors, func(e Failure) bool { return e.What == sub.What })
	}
	if outcome == said.OK {
		delete(f.noted, failed)
		return
	}
	sub.Record = record
	sub.Text = strings.Join(strings.Fields(said.ErrorLine(text)), " ")
	f.Errors = append(f.Errors, sub)
}

// Survive reports how many of the facts a summary tells, and which it tells.
func (f *Facts) Survive(summary string) (s Survival, found Facts) {
	text := newSummaryText(summary)
	names := shortestNames(f.Paths)
	for i, p := range f.Paths {
		if s.Paths.count(standsIn(text.text, names[i]), p) {
			found.note(&found.Paths, "path ", p)
		}
	}
	for _, c := range f.Commands {
		if s.Commands.count(standsIn(text.text, c.What), c) {
			found.note(&found.Commands, "command ", c)
		}
	}
	for _, e := range f.Errors {
		if s.Errors.count(text.tells(e), Fact{e.What + ": " + e.Text, e.Record}) {
			found.first("failure " + e.What)
			found.Errors = append(found.Errors, e)
		}
	}
	for _, c := range f.Constraints {
		if s.Constraints.count(text.states(c.What), c) {
			found.note(&found.Constraints, "constraint ", c)
		}
	}
	return s, found
}

// count counts a fact.
func (k *Kept) count(found bool, fact Fact) bool {
	k.Of++
	if found {
		k.Found++
	} else {
		k.Lost = append(k.Lost, fact)
	}
	return found
}

// A summaryText is a summary that is searched.
type summaryText struct {
	text  string
	lines []summaryLine
}

type summaryLine struct {
	text  string
	lower string
	words map[string]bool // stems
}

func newSummaryText(summary string) *summaryText {
	t := &summaryText{text: strings.Join(strings.Fields(summary), " ")}
	for line := range strings.Lines(summary) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			t.lines = append(t.lines, summaryLine{line, strings.ToLower(line), stems(line)})
		}
	}
	return t
}

// standsIn reports whether a text has a name or a command, as it is spelled and by itself: not
// as a part of a longer word.
func standsIn(text, what string) bool {
	for from := 0; what != ""; {
		k := strings.Index(text[from:], what)
		if k < 0 {
			return false
		}
		start, end := from+k, from+k+len(what)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !inWord(before) && !inWord(after) {
			return true
		}
		from = start + 1
	}
	return false
}

// inWord reports whether a letter next to a name makes it another name. At the edge of the
// text there is none: it is utf8.RuneError.
func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-')
}

// trouble are words in lines about something that does not work.
var trouble = []string{
	"fail", "error", "flak", "broke", "block", "exit", "missing", "not found", "cannot", "can't", "unable", "timeout", "timed out", "crash", "unavailable", "denied", "does not", "doesn't",
}

// tells reports whether the summary has a failure: the words of the error, or a line with
// what failed, or something that the error names, and a word of trouble.
func (t *summaryText) tells(e Failure) bool {
	const telling = 12 // bytes of an error that nobody writes by chance
	if len(e.Text) >= telling && strings.Contains(t.text, e.Text) {
		return true
	}
	names := append(identifiers(e.Text), e.What)
	if e.path {
		names = append(names, e.What[strings.LastIndexByte(e.What, '/')+1:])
	}
	for _, l := range t.lines {
		if slices.ContainsFunc(names, func(name string) bool { return standsIn(l.text, name) }) && slices.ContainsFunc(trouble, func(w string) bool { return strings.Contains(l.lower, w) }) {
			return true
		}
	}
	return false
}

// states reports whether one line of the summary has half of a sentence's telling words.
func (t *summaryText) states(sentence string) bool {
	want := stems(sentence)
	for _, l := range t.lines {
		n := 0
		for w := range want {
			if l.words[w] {
				n++
			}
		}
		if n > 0 && 2*n >= len(want) {
			return true
		}
	}
	return false
}

// cleanPath is a path without what only spells it differently, empty for what is none.
func cleanPath(p string) string {
	p = strings.TrimPrefix(strings.TrimSpace(p), "@") // as pi's own tools do
	for strings.HasPrefix(p, "./") {
		p = p[len("./"):]
	}
	if p = strings.TrimRight(p, "/"); p == "." || p == ".." || strings.ContainsAny(p, "\n\r") {
		return ""
	}
	return p
}

// shortestNames are, for each path, the fewest names from its end that none of the
// others ends with: so much of it has to be there for it to be meant. A path that
// others end with keeps all of its names.
func shortestNames(paths []Fact) []string {
	ends := map[string]int{}
	for _, f := range paths {
		p := f.What
		for from := len(p); from > 0; {
			from = strings.LastIndexByte(p[:from], '/')
			ends[p[from+1:]]++
		}
	}
	names := make([]string, len(paths))
	for i, f := range paths {
		p := f.What
		names[i] = strings.TrimPrefix(p, "/")
		for from := len(p); from > 0; {
			from = strings.LastIndexByte(p[:from], '/')
			if name := p[from+1:]; ends[name] == 1 {
				names[i] = name
				break
			}
		}
	}
	return names
}

// identifiers are the words of a text that somebody has made up for something: with a
// capital, a digit or a line inside.
func identifiers(text string) (all []string) {
	const shortest = 6 // letters
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		if len(w) >= shortest && strings.IndexFunc(w, unicode.IsLower) >= 0 && strings.IndexFunc(w[1:], func(r rune) bool { return !unicode.IsLower(r) }) >= 0 {
			all = append(all, w)
		}
	}
	return all
}

// Sentences that are shorter say nothing, those that are longer are no sentences.
const shortestSentence, longestSentence = 10, 400 // bytes

// constraints are the sentences of a user's text that state constraints. What is
// fenced, quoted, or in a block that pi puts into prompts (<skill ...>, <file ...>)
// is not the user's word.
func constraints(text string) (all []string) {
	for line := range said.Prose(text) {
		for s := range said.Sentences(line) {
			s = strings.Join(strings.Fields(strings.TrimLeft(s, " \t-*•")), " ") // without the mark of a list
			if len(s) >= shortestSentence && len(s) <= longestSentence && !strings.HasSuffix(s, "?") && constrains(s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// constrains reports whether a sentence states a constraint: it demands something, and
// has a word that tells what ("Always on." has none).
func constrains(sentence string) bool {
	if len(stems(sentence)) == 0 {
		return false
	}
	for _, demands := range said.DemandWords(sentence) {
		if demands {
			return true
		}
	}
	return false
}

// common are words that tell nothing of what a sentence is about.
var common = strings.Fields("the and that this with for from you your can are but not use into out all any has have its was will would should could they them then than when what which there here just also make sure please must never always don't dont only prefer avoid does do is it to of in on or as be we i a an so if at by me my our let's let want need")

// stems are the telling words of a text, in lower case and by their first letters,
// so that plurals and tenses are the same.
func stems(text string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '_' }) {
		if !slices.Contains(common, w) {
			letters := []rune(w)
			all[string(letters[:min(len(letters), 5)])] = true
		}
	}
	return all
}

// looking are commands that only look at something, besides those that said.Commands
// leaves out anyway.
var looking = []string{"git status", "git diff", "git log", "git show", "ls", "pwd"}

// OnlyLooks reports whether a command is one that agents run all the time, and that tells
// nothing of what was done.
func OnlyLooks(command string) bool {
	return slices.ContainsFunc(looking, func(l string) bool { return command == l || strings.HasPrefix(command, l+" ") })
}
