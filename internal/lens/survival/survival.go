// Package survival finds what a compaction lost: the files, commands, open failures and demands
// of the user in the messages that its summary replaces and the summary lacks. It applies rules
// to texts, without a model, so that the same texts always give the same result.
package survival

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ctxtool/internal/read/activity"
	"ctxtool/sessionfmt/jsonl"
)

// Facts are the facts of messages that a summary should keep, since an agent that continues
// with the summary cannot know them otherwise. The zero value is empty.
type Facts struct {
	paths       []Fact    // files that tools were called with
	commands    []Fact    // that did something: see activity.Script
	failures    []failure // an empty What is one that succeeded later
	constraints []Fact    // sentences of the user: see constraints

	calls map[string]activity.Deed // that are open, by id
	noted map[string]int           // by what is in the lists, its place
}

// A Fact is a fact in a message.
type Fact struct {
	What   string
	Record int // of the first message that told it, or of the last that failed
}

// A failure is a call that failed and did not succeed later: the command, the path, or else the
// tool.
type failure struct {
	Fact
	why  string // the line of the result that tells it best
	path bool
}

// A Survival counts the facts that a summary has.
type Survival struct {
	Paths       Kept `json:"paths"`
	Commands    Kept `json:"commands"`
	Errors      Kept `json:"errors"`
	Constraints Kept `json:"constraints"`
}

// Kept is the number of facts, and how many of them the summary has.
type Kept struct {
	Of    int    `json:"of"`
	Found int    `json:"found"`
	Lost  []Fact `json:"-"` // the others, in the order in which they came up
}

// Told is the facts that one message has.
type Told struct {
	record      int
	constraints []string
	calls       []call
	result      *ending
}

// A call is a call with its id.
type call struct {
	id string
	activity.Deed
}

// An ending is the outcome of a call.
type ending struct {
	id, tool, why string
	failed        bool
}

// Tell reads a message, as a provider gets it, from a record. Kind is its role in the session: only
// messages of the user have constraints.
func Tell(kind jsonl.Kind, m *jsonl.Message, record int) (t Told) {
	t.record = record
	switch kind {
	case jsonl.User:
		t.constraints = constraints(m.Exact("\n"))
	case jsonl.Assistant, jsonl.ToolResult:
		for c := range activity.Calls(m) {
			t.calls = append(t.calls, call{c.ID, c.Deed(cleanPath)})
		}
	}
	if kind != jsonl.ToolResult {
		return t
	}
	text := m.Text("\n")
	r := ending{id: m.CallID.Text(), tool: m.Tool.Text()}
	switch activity.OutcomeOf(m.IsError.Truthy(), text) {
	case activity.Error:
		r.failed, r.why = true, strings.Join(strings.Fields(activity.ErrorLine(text)), " ")
		fallthrough
	case activity.OK:
		t.result = &r
	}
	return t
}

// take adds the facts of a message.
func (f *Facts) take(t *Told) {
	if f.noted == nil {
		f.noted, f.calls = map[string]int{}, map[string]activity.Deed{}
	}
	for _, c := range t.constraints {
		f.note(&f.constraints, "constraint ", Fact{c, t.record})
	}
	for _, d := range t.calls {
		for _, head := range d.Commands {
			if !OnlyLooks(head) {
				f.note(&f.commands, "command ", Fact{head, t.record})
			}
		}
		for _, p := range d.Paths {
			f.note(&f.paths, "path ", Fact{p, t.record})
		}
		if d.id != "" {
			f.calls[d.id] = d.Deed
		}
	}
	if r := t.result; r != nil {
		f.ended(r, t.record)
	}
}

// note adds a fact to a list, unless it is there.
func (f *Facts) note(list *[]Fact, kind string, fact Fact) {
	if _, known := f.noted[kind+fact.What]; !known && fact.What != "" {
		f.noted[kind+fact.What] = len(*list)
		*list = append(*list, fact)
	}
}

// ended records whether a call failed. A success ends an earlier failure of the same call.
func (f *Facts) ended(r *ending, record int) {
	d, known := f.calls[r.id]
	if !known {
		d.What = r.tool
	}
	delete(f.calls, r.id)
	if r.failed {
		what := d.Failed(r.why)
		if f.forget(what); what != "" {
			f.fail(failure{Fact{what, record}, r.why, len(d.Paths) > 0})
		}
		return
	}
	for what := range d.Done {
		f.forget(what)
	}
}

// forget removes a failure, if there is one.
func (f *Facts) forget(what string) {
	if at, ok := f.noted["failure "+what]; ok {
		f.failures[at].What = ""
		delete(f.noted, "failure "+what)
	}
}

// fail adds a failure.
func (f *Facts) fail(one failure) {
	f.noted["failure "+one.What] = len(f.failures)
	f.failures = append(f.failures, one)
}

// survive returns the numbers of facts that a summary has, and these facts.
func (f *Facts) survive(summary string) (s Survival, found Facts) {
	found.take(&Told{})
	text := newSummaryText(summary)
	names := shortestNames(f.paths)
	for i, p := range f.paths {
		if s.Paths.count(standsIn(text.text, names[i]), p) {
			found.note(&found.paths, "path ", p)
		}
	}
	for _, c := range f.commands {
		if s.Commands.count(standsIn(text.text, c.What), c) {
			found.note(&found.commands, "command ", c)
		}
	}
	for _, e := range f.failures {
		if e.What != "" && s.Errors.count(text.tells(e), Fact{e.What + ": " + e.why, e.Record}) {
			found.fail(e)
		}
	}
	for _, c := range f.constraints {
		if s.Constraints.count(text.states(c.What), c) {
			found.note(&found.constraints, "constraint ", c)
		}
	}
	return s, found
}

func (k *Kept) count(found bool, fact Fact) bool {
	k.Of++
	if found {
		k.Found++
	} else {
		k.Lost = append(k.Lost, fact)
	}
	return found
}

// A summaryText is a summary, prepared for searching.
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

// standsIn reports whether a text contains a name or a command literally, and not as part of a
// longer word.
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

// inWord reports whether a letter next to a name makes it another name. At the edge of a text
// the letter is utf8.RuneError.
func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-')
}

// trouble are words in lines about failures.
var trouble = []string{
	"fail", "error", "flak", "broke", "block", "exit", "missing", "not found", "cannot", "can't", "unable", "timeout",
	"timed out", "crash", "unavailable", "denied", "does not", "doesn't",
}

// tells reports whether the summary has a failure: the words of the error, or a line with a word
// of trouble and either the failed call or a name from the error.
func (t *summaryText) tells(e failure) bool {
	const telling = 12 // the size from which a common part of an error is no chance, bytes
	if len(e.why) >= telling && strings.Contains(t.text, e.why) {
		return true
	}
	names := append(identifiers(e.why), e.What)
	if e.path {
		names = append(names, e.What[strings.LastIndexByte(e.What, '/')+1:])
	}
	for _, l := range t.lines {
		if slices.ContainsFunc(names, func(name string) bool { return standsIn(l.text, name) }) &&
			slices.ContainsFunc(trouble, func(w string) bool { return strings.Contains(l.lower, w) }) {
			return true
		}
	}
	return false
}

// states reports whether one line of the summary has half of a sentence's significant words.
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

// cleanPath returns a path in its canonical spelling, or "" if it is not a path.
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

// shortestNames returns for each path its shortest suffix of names that no other path has: a
// text must have that much to mean the path. A path that is itself a suffix of another keeps all
// its names.
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

// identifiers returns the made-up names in a text: words with a capital, a digit or an
// underscore inside.
func identifiers(text string) (all []string) {
	const shortest = 6 // letters
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) &&
			r != '_'
	}) {
		if len(w) >= shortest && strings.IndexFunc(w, unicode.IsLower) >= 0 &&
			strings.IndexFunc(w[1:], func(r rune) bool { return !unicode.IsLower(r) }) >= 0 {
			all = append(all, w)
		}
	}
	return all
}

// constraints returns the sentences of a user's text that state constraints. Text that is
// fenced, quoted, or in a block that pi adds to prompts (<skill ...>, <file ...>) does not
// count.
func constraints(text string) (all []string) {
	for line := range activity.Prose(text) {
		for s := range activity.Sentences(line) {
			s = strings.Join(strings.Fields(strings.TrimLeft(s, " \t-*•")), " ") // without the mark of a list
			if activity.DemandOf(s) == activity.Insists && len(stems(s)) > 0 {   // "Always on." has no significant word
				all = append(all, s)
			}
		}
	}
	return all
}

// common are words without significance for the subject of a sentence.
var common = strings.Fields("the and that this with for from you your can are but not use into out all any has have " +
	"its was will would should could they them then than when what which there here just also make sure please must " +
	"never always don't dont only prefer avoid does do is it to of in on or as be we i a an so if at by me my our " +
	"let's let want need")

// stems returns the significant words of a text, in lower case and cut to their first letters,
// so that plurals and tenses are equal.
func stems(text string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r) && r != '\'' && r != '_'
	}) {
		if !slices.Contains(common, w) {
			letters := []rune(w)
			all[string(letters[:min(len(letters), 5)])] = true
		}
	}
	return all
}

// looking are commands that only inspect, besides those that activity.Script omits.
var looking = []string{"git status", "git diff", "git log", "git show", "ls", "pwd"}

// OnlyLooks reports whether a command is a frequent one without an effect, such as git status.
func OnlyLooks(command string) bool {
	return slices.ContainsFunc(looking, func(l string) bool {
		return command == l ||
			strings.HasPrefix(command, l+" ")
	})
}
