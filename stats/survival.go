package stats

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ctxtool/internal/shell"
	"ctxtool/sessionfmt"
)

// Facts are what a summary should keep of the messages that it stands for: what
// those who go on with it cannot know from anywhere else. Take gathers them, Survive
// looks which of them a summary still tells. Both look at texts alone, by rules that
// need no model, so that the same texts always give the same.
type Facts struct {
	Paths       []string // files that tools were called with
	Commands    []string // that did something: see shell.Commands
	Errors      []Failure
	Constraints []string // sentences of the user: see constraints

	calls map[string]subject // open tool calls, by id
	noted map[string]bool    // what is in the lists
}

// A Failure is a call that failed and was not made again with success.
type Failure struct {
	Subject string // the command, the path, or else the tool
	Text    string // what went wrong, the line of the result that tells it best
	path    bool
}

// A subject is what a tool call is about.
type subject struct {
	what string
	path bool
}

// A survival is how much of the facts a summary tells.
type survival struct {
	Paths       Kept `json:"paths"`
	Commands    Kept `json:"commands"`
	Errors      Kept `json:"errors"`
	Constraints Kept `json:"constraints"`
}

// Kept is how many facts there were, and how many of them were found. Lost are the
// others, the first mostListed, in the order in which they came up.
type Kept struct {
	Of    int      `json:"of"`
	Found int      `json:"found"`
	Lost  []string `json:"lost,omitempty"`
}

// Take adds the facts of a message, given as a provider gets it. Kind is its role in
// the session: what the user did not write states no constraint of his.
func (f *Facts) Take(kind sessionfmt.Kind, msg sessionfmt.Value) {
	switch kind {
	case sessionfmt.User:
		for _, c := range constraints(msg.Get("content").ContentText()) {
			f.note(&f.Constraints, "constraint ", c)
		}
	case sessionfmt.Assistant:
		for call := range msg.Message().Calls {
			f.call(call.Raw)
		}
	case sessionfmt.ToolResult:
		for call := range msg.Get("nestedCalls").Get("calls").Elements {
			f.call(call)
		}
		f.result(msg)
	}
}

// note adds a fact to a list, if it is not there.
func (f *Facts) note(list *[]string, kind, fact string) {
	if fact != "" && f.first(kind+fact) {
		*list = append(*list, fact)
	}
}

// first says that something is noted for the first time.
func (f *Facts) first(what string) bool {
	if f.noted == nil {
		f.noted, f.calls = map[string]bool{}, map[string]subject{}
	}
	if f.noted[what] {
		return false
	}
	f.noted[what] = true
	return true
}

// Names of arguments that say which file a call is about, and which command it runs.
var (
	pathArguments    = []string{"path", "file_path", "filePath", "filename", "file"}
	commandArguments = []string{"command", "cmd", "script"}
)

// call takes down a tool call.
func (f *Facts) call(call sessionfmt.Value) {
	sub := subject{what: call.Get("name").Text()}
	for key, v := range call.Get("arguments").Members {
		switch {
		case !v.IsString():
		case slices.Contains(commandArguments, string(key)):
			heads := shell.Commands(v.Text())
			for _, head := range heads {
				f.note(&f.Commands, "command ", head)
			}
			if len(heads) > 0 {
				sub = subject{what: heads[len(heads)-1]}
			}
		case slices.Contains(pathArguments, string(key)):
			if p := cleanPath(v.Text()); p != "" {
				f.note(&f.Paths, "path ", p)
				sub = subject{p, true}
			}
		}
	}
	if id := call.Get("id").Text(); id != "" {
		f.first("") // makes the maps
		f.calls[id] = sub
	}
}

// result takes down whether the call that a result answers failed. An earlier
// failure of the same is over once it went well.
func (f *Facts) result(msg sessionfmt.Value) {
	m := msg.Message()
	id := m.CallID.Text()
	sub, ok := f.calls[id]
	if !ok {
		sub = subject{what: m.Tool.Text()}
	}
	delete(f.calls, id)
	text := string(m.AppendText(nil, "\n"))
	outcome := outcomeOf(m.IsError.Truthy(), text)
	if outcome != outcomeOK && outcome != outcomeError {
		return // it says nothing about what was called
	}
	if failed := "failure " + sub.what; !f.first(failed) {
		f.Errors = slices.DeleteFunc(f.Errors, func(e Failure) bool { return e.Subject == sub.what })
	}
	if outcome == outcomeOK {
		delete(f.noted, "failure "+sub.what)
	} else {
		f.Errors = append(f.Errors, Failure{sub.what, strings.Join(strings.Fields(shell.Telling(text)), " "), sub.path})
	}
}

// Survive says which of the facts a summary tells.
func (f *Facts) Survive(summary string) (s survival, found Facts) {
	text := newSummaryText(summary)
	names := shortestNames(f.Paths)
	for i, p := range f.Paths {
		if s.Paths.count(text.names(names[i]), p) {
			found.note(&found.Paths, "path ", p)
		}
	}
	for _, c := range f.Commands {
		if s.Commands.count(text.names(c), c) {
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
func (k *Kept) count(found bool, fact string) bool {
	k.Of++
	if found {
		k.Found++
	} else {
		k.Lost = append(k.Lost, sessionfmt.FirstWords(fact))
	}
	return found
}

// add adds what another summary kept. What was lost is that of each.
func (k *Kept) add(other Kept) {
	k.Of += other.Of
	k.Found += other.Found
}

func (s *survival) add(other survival) {
	s.Paths.add(other.Paths)
	s.Commands.add(other.Commands)
	s.Errors.add(other.Errors)
	s.Constraints.add(other.Constraints)
}

// A summaryText is a summary that is looked through.
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

// names says that the summary has a name or a command, as it is spelled and by
// itself: not as a part of a longer word.
func (t *summaryText) names(what string) bool { return standsIn(t.text, what) }

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

// inWord says that a letter next to a name makes it another name. At the edge of the
// text there is none: it is utf8.RuneError.
func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-')
}

// trouble are words by which a line says that something does not work.
var trouble = []string{
	"fail", "error", "flak", "broke", "block", "exit", "missing", "not found", "cannot", "can't", "unable", "timeout", "timed out", "crash", "unavailable", "denied", "does not", "doesn't",
}

// tells says that the summary tells of a failure: it has the words of the error, or a
// line that names what failed, or something that the error names, and says that it
// does not work.
func (t *summaryText) tells(e Failure) bool {
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

// states says that one line of the summary has half of a sentence's telling words.
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
