package stats

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ctxtool/internal/said"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/outline"
)

// facts are what a summary should keep of the messages that it stands for: what
// those who continue with it cannot know from anywhere else. Take gathers them, Survive
// looks which of them a summary still tells. Both look at texts alone, by rules that
// need no model, so that the same texts always give the same.
type facts struct {
	Paths       []string // files that tools were called with
	Commands    []string // that did something: see said.Commands
	Errors      []failure
	Constraints []string // sentences of the user: see constraints

	calls map[string]failure // that are open, by id
	noted map[string]bool    // what is in the lists
}

// A failure is a call that failed and was not made again with success, or one that may.
type failure struct {
	Subject string // the command, the path, or else the tool
	Text    string // what went wrong, the line of the result that tells it best
	path    bool
}

// A survival is how much of the facts a summary tells.
type survival struct {
	Paths       kept `json:"paths"`
	Commands    kept `json:"commands"`
	Errors      kept `json:"errors"`
	Constraints kept `json:"constraints"`
}

// kept is how many facts there were, and how many of them were found. Lost are the
// others, the first mostListed, in the order in which they came up.
type kept struct {
	Of    int      `json:"of"`
	Found int      `json:"found"`
	Lost  []string `json:"lost,omitempty"`
}

// Take adds the facts of a message, given as a provider gets it. Kind is its role in
// the session: what the user did not write states no constraint of his.
func (f *facts) Take(kind jsonl.Kind, msg jsonl.Value) {
	switch kind {
	case jsonl.User:
		for _, c := range constraints(msg.Get("content").ContentText()) {
			f.note(&f.Constraints, "constraint ", c)
		}
	case jsonl.Assistant:
		for call := range msg.Message().Calls {
			f.call(call.Raw)
		}
	case jsonl.ToolResult:
		for call := range msg.Get("nestedCalls").Get("calls").Elements {
			f.call(call)
		}
		f.result(msg)
	}
}

// note adds a fact to a list, if it is not there.
func (f *facts) note(list *[]string, kind, fact string) {
	if fact != "" && f.first(kind+fact) {
		*list = append(*list, fact)
	}
}

// first reports whether something is noted for the first time.
func (f *facts) first(what string) bool {
	if f.noted == nil {
		f.noted, f.calls = map[string]bool{}, map[string]failure{}
	}
	if f.noted[what] {
		return false
	}
	f.noted[what] = true
	return true
}

// call records a tool call.
func (f *facts) call(call jsonl.Value) {
	sub := failure{Subject: call.Get("name").Text()}
	for key, v := range call.Get("arguments").Members {
		switch {
		case !v.IsString():
		case slices.Contains(said.CommandArguments, string(key)):
			heads := said.Commands(v.Text())
			for _, head := range heads {
				f.note(&f.Commands, "command ", head)
			}
			if len(heads) > 0 {
				sub = failure{Subject: heads[len(heads)-1]}
			}
		case slices.Contains(said.PathArguments, string(key)):
			if p := cleanPath(v.Text()); p != "" {
				f.note(&f.Paths, "path ", p)
				sub = failure{Subject: p, path: true}
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
func (f *facts) result(msg jsonl.Value) {
	m := msg.Message()
	id := m.CallID.Text()
	sub, ok := f.calls[id]
	if !ok {
		sub = failure{Subject: m.Tool.Text()}
	}
	delete(f.calls, id)
	text := string(m.AppendText(nil, "\n"))
	outcome := said.OutcomeOf(m.IsError.Truthy(), text)
	if outcome > said.Error {
		return // it says nothing about what was called
	}
	failed := "failure " + sub.Subject
	if !f.first(failed) {
		f.Errors = slices.DeleteFunc(f.Errors, func(e failure) bool { return e.Subject == sub.Subject })
	}
	if outcome == said.OK {
		delete(f.noted, failed)
		return
	}
	sub.Text = strings.Join(strings.Fields(said.ErrorLine(text)), " ")
	f.Errors = append(f.Errors, sub)
}

// Survive says which of the facts a summary tells.
func (f *facts) Survive(summary string) (s survival, found facts) {
	text := newSummaryText(summary)
	names := shortestNames(f.Paths)
	for i, p := range f.Paths {
		if s.Paths.count(standsIn(text.text, names[i]), p) {
			found.note(&found.Paths, "path ", p)
		}
	}
	for _, c := range f.Commands {
		if s.Commands.count(standsIn(text.text, c), c) {
			found.note(&found.Commands, "command ", c)
		}
	}
	for _, e := range f.Errors {
		if s.Errors.count(text.tells(e), e.Subject+": "+e.Text) {
			found.first("failure " + e.Subject)
			found.Errors = append(found.Errors, e)
		}
	}
	for _, c := range f.Constraints {
		if s.Constraints.count(text.states(c), c) {
			found.note(&found.Constraints, "constraint ", c)
		}
	}
	return s, found
}

// count counts a fact.
func (k *kept) count(found bool, fact string) bool {
	k.Of++
	if found {
		k.Found++
	} else {
		k.Lost = append(k.Lost, outline.FirstWords(fact))
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

// trouble are words by which a line says that something does not work.
var trouble = []string{
	"fail", "error", "flak", "broke", "block", "exit", "missing", "not found", "cannot", "can't", "unable", "timeout", "timed out", "crash", "unavailable", "denied", "does not", "doesn't",
}

// tells reports whether the summary tells of a failure: it has the words of the error, or a
// line that names what failed, or something that the error names, and says that it
// does not work.
func (t *summaryText) tells(e failure) bool {
	const telling = 12 // bytes of an error that nobody writes by chance
	if len(e.Text) >= telling && strings.Contains(t.text, e.Text) {
		return true
	}
	names := append(identifiers(e.Text), e.Subject)
	if e.path {
		names = append(names, e.Subject[strings.LastIndexByte(e.Subject, '/')+1:])
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
func shortestNames(paths []string) []string {
	ends := map[string]int{}
	for _, p := range paths {
		for from := len(p); from > 0; {
			from = strings.LastIndexByte(p[:from], '/')
			ends[p[from+1:]]++
		}
	}
	names := make([]string, len(paths))
	for i, p := range paths {
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

// constrains reports whether a sentence states a constraint.
func constrains(sentence string) bool {
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
