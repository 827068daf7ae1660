package compact

import (
	"fmt"
	"slices"
	"strings"

	"ctxtool/sessionfmt"
)

// facts are what a stretch of a session says that is worth keeping.
type facts struct {
	view *View

	asked []string // what the user said, each prompt on one line
	wants []string // sentences of the user's that ask for something to be so
	chose []string // sentences of the agent's that say why
	seen  []string // addresses and hashes
	last  string   // what the agent said last
	ended bool     // no call has been made since

	runs []attempt      // commands and changes of files, by the first time
	ran  map[string]int // by what was tried
	said map[string]bool
}

// An attempt is something that was tried, and how it went the last time.
type attempt struct {
	what   string
	tool   string
	times  int
	failed bool
	why    string // of a failure: the line that tells
}

const lastSaid = "Last said: "

// Longest lines, in characters.
const (
	longestGoal = 1200
	longestLine = 280
)

// shortestGoal is how many words a prompt has at least that says what is wanted: "yes, do
// that" does not.
const shortestGoal = 4

// take takes a message in.
func (f *facts) take(i int) error {
	m := &f.view.Messages[i]
	if m.isResult() {
		return f.result(i)
	}
	text, err := f.view.said(i)
	if err != nil {
		return err
	}
	switch {
	case m.isSummary(): // it is folded in as a whole
	case m.isAssistant():
		f.answer(i, text)
	case m.Kind == sessionfmt.User:
		f.user(text)
	}
	return nil
}

func (f *facts) user(text string) {
	if line := oneLine(text, longestGoal); len(strings.Fields(line)) >= shortestGoal || line != "" && len(f.asked) == 0 {
		f.asked = append(f.asked, line)
	}
	for s := range sentences(text) {
		if f.fresh(s) && asksFor(s) {
			f.wants = append(f.wants, s)
		}
	}
	f.identifiers(text)
	f.ended = false
}

func (f *facts) answer(i int, text string) {
	if text = strings.TrimSpace(text); text != "" {
		f.last = text
	}
	f.ended = !f.view.Messages[i].makesCalls()
	for s := range sentences(text) {
		if decides(s) && f.fresh(s) {
			f.chose = append(f.chose, s)
		}
	}
	f.identifiers(text)
}

// fresh says that a sentence has not been said before.
func (f *facts) fresh(s string) bool {
	was := f.said[s]
	f.said[s] = true
	return !was
}

// result takes in how an attempt went.
func (f *facts) result(i int) error {
	call, k := f.view.callOf(i)
	if k < 0 {
		return nil
	}
	tool := f.view.Messages[call].Blocks[k].tool()
	if tool != "bash" && tool != "edit" && tool != "write" {
		return nil
	}
	args, err := f.view.Text(call, k)
	if err != nil {
		return err
	}
	what := sessionfmt.Value(args).Get("path").Text()
	if tool == "bash" {
		what = sessionfmt.Value(args).Get("command").Text()
	}
	w := work{View: f.view}
	failed, err := w.failed(i)
	if err != nil || what == "" {
		return err
	}
	key := tool + " " + what
	at, known := f.ran[key]
	if !known {
		at = len(f.runs)
		f.ran[key] = at
		f.runs = append(f.runs, attempt{what: oneLine(what, longestLine), tool: tool})
	}
	a := &f.runs[at]
	a.times++
	if a.failed = failed; failed {
		text, err := f.view.said(i)
		if err != nil {
			return err
		}
		a.why = telling(text)
	}
	return nil
}

// identifiers keeps addresses and what looks like a hash.
func (f *facts) identifiers(text string) {
	for word := range strings.FieldsSeq(text) {
		word = strings.Trim(word, "`'\"()<>[]{},;.:!?")
		if (strings.HasPrefix(word, "https://") || strings.HasPrefix(word, "http://") || isHash(word)) && len(word) <= longestLine && !slices.Contains(f.seen, word) {
			f.seen = append(f.seen, word)
		}
	}
}

// isHash says that a word is a number of a commit or the like: hexadecimal digits, some
// of them letters and some not.
func isHash(word string) bool {
	return len(word) >= 7 && len(word) <= 64 && strings.Trim(word, "0123456789abcdef") == "" &&
		strings.ContainsAny(word, "0123456789") && strings.ContainsAny(word, "abcdef")
}

// write puts the facts where they belong.
func (f *facts) write(d *draft) {
	for _, asked := range f.asked {
		d.add(goal, asked)
	}
	for _, want := range f.wants {
		d.add(constraints, want)
	}
	for k := range f.runs {
		f.runs[k].write(d)
	}
	n := len(f.asked)
	if n > 0 || f.ended {
		d.lines[inProgress] = nil // it is done, or asked for again
	}
	if n > 0 && !f.ended {
		d.add(inProgress, oneLine(f.asked[n-1], longestLine))
	}
	for _, chose := range f.chose {
		d.add(decisions, chose)
	}
	if next := steps(f.last); len(next) > 0 {
		d.lines[nextSteps] = next
	}
	if f.last != "" {
		d.drop(critical, lastSaid)
		d.add(critical, lastSaid+oneLine(f.last, longestGoal))
	}
	for _, word := range f.seen {
		d.add(critical, word)
	}
}

// write says what became of an attempt: changes and commits, tests, what still fails.
// Other commands that worked are not worth a line.
func (a *attempt) write(d *draft) {
	times := ""
	if a.times > 1 {
		times = fmt.Sprintf(" (%d times)", a.times)
	}
	fails := a.tool + " of " + a.what + " fails"
	if a.tool == "bash" {
		fails = "`" + a.what + "` fails"
	}
	d.drop(blocked, fails)
	switch {
	case a.failed:
		d.add(blocked, fails+times+": "+a.why)
	case a.tool == "edit":
		d.add(done, "edited "+a.what+times)
	case a.tool == "write":
		d.add(done, "wrote "+a.what+times)
	case containsAny(a.what, "git commit", "git push", "git merge", "git tag"):
		d.add(done, "ran `"+a.what+"`")
	case containsAny(a.what, "test", "check", "lint", "build", "vet"):
		d.add(done, "`"+a.what+"` passes")
	}
}
