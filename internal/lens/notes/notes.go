// Package notes writes notes on a session for the next one, in SWE-CLI's format, and a digest of
// the project that several sessions worked on. It quotes and counts compact.Facts.
package notes

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ctxtool/compact"
	"ctxtool/internal/base/markdown"
	"ctxtool/internal/read/activity"
	"ctxtool/internal/read/outline"
	"ctxtool/replay"
	"ctxtool/sessionfmt/jsonl"
)

// A Session holds the facts of a session for its notes. Times are spelled as in the file.
type Session struct {
	*compact.Facts
	outline.About
	Ended string

	decided map[int]string // times of the records with decisions
}

// Read reads the path to record leaf. stopped is the error of the broken patch that ended the
// replay, if any.
func Read(r *replay.Replay, leaf int) (s *Session, stopped, err error) {
	s = &Session{decided: map[int]string{}}
	if s.Facts, stopped, err = compact.Extract(r, leaf); err != nil {
		return nil, nil, err
	}
	lines := r.NewReader()
	time := func(rec int) string {
		if rec < 0 || err != nil {
			return ""
		}
		var line jsonl.Value
		line, err = lines.Line(rec)
		return line.Get("timestamp").Text()
	}
	for _, d := range s.Decisions {
		s.decided[d.Record] = time(d.Record)
	}
	s.Ended = time(leaf)
	about, failed := outline.Headed(r.Session)
	s.About, s.Ended = about, cmp.Or(s.Ended, about.Began)
	return s, stopped, cmp.Or(err, failed)
}

// Project returns the name of the project that a session worked on.
func (s *Session) Project() string {
	if name := path.Base(strings.ReplaceAll(s.CWD, `\`, "/")); name != "." && name != "/" {
		return name
	}
	return "unnamed"
}

// The headings of notes, in order.
const (
	goalHeading     = "Current Goal"
	decisionHeading = "Key Decisions"
	fileHeading     = "Files Modified"
	taskHeading     = "Current Task"
	issueHeading    = "Open Issues"
	patternHeading  = "Code Patterns Discovered"
)

// Headings are the headings of notes, in order.
var Headings = []string{goalHeading, decisionHeading, fileHeading, taskHeading, issueHeading, patternHeading}

// The maximum numbers of lines of each kind in notes.
const (
	mostDecisions = 10
	mostFiles     = 20
	mostIssues    = 10
	mostPatterns  = 10
)

// Of returns the notes of a session, as Markdown.
func Of(s *Session) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s\n\n%s%s\n", title, day(s.Ended), projectTitle, inert(s.Project()))
	var goal []string
	if s.Goal != "" {
		goal = []string{plain(s.Goal, 400)}
	}
	for i, lines := range [][]string{goal, s.decisions(), s.files(), s.task(), s.issues(), s.patterns()} {
		if len(lines) > 0 {
			b.WriteString("\n### " + Headings[i] + "\n" + strings.Join(lines, "\n") + "\n")
		}
	}
	return b.String()
}

// title is the beginning of the first line of notes; the date follows.
const title = "# Session Memory: "

// projectTitle begins the heading with the name of the project.
const projectTitle = "## Project: "

// settling are words of sentences that state a decision, not only a reason.
var settling = []string{"instead of", "rather than", "decided", " chose ", "going with", "go with ", "i'll use",
	"i will use", "we'll use", "switched to", "bumped", "kept ", "made "}

// supposing are the beginnings of sentences without a decision.
var supposing = strings.Fields("if you your instead would could should maybe wait, let hmm,")

// wondering are words of sentences about possibilities.
var wondering = []string{" should ", " would ", " could ", " might ", " may ", "i bet ", " probably "}

// describing are words of sentences about what was found.
var describing = []string{" has ", " have ", " still ", " was ", " were ", " currently ", " old "}

// fragment reports whether a sentence is cut: a code span or a bracket is open, or it ends with
// a word that another follows.
func fragment(sentence string) bool {
	words := strings.Fields(strings.TrimRight(sentence, ".…:"))
	return strings.Count(sentence, "`")%2 == 1 || strings.Count(sentence, "(") != strings.Count(sentence, ")") ||
		len(words) > 0 && slices.Contains(leading, words[len(words)-1])
}

// leading are words that another word follows.
var leading = strings.Fields("of than with using the a an to for in on by as from and or just")

// decisions returns the last sentences with a decision, with their times.
func (s *Session) decisions() (lines []string) {
	for _, d := range s.Decisions {
		lower := strings.ToLower(d.Text)
		first, _, _ := strings.Cut(lower, " ")
		has := func(w string) bool { return strings.Contains(lower, w) }
		switch {
		case fragment(lower), !slices.ContainsFunc(settling, has), slices.ContainsFunc(wondering, has),
			slices.Contains(supposing, first):
			continue
		case slices.ContainsFunc(describing, has) && !has("decided"):
			continue
		}
		line := "- " + plain(d.Text, 240)
		if at := minute(s.decided[d.Record]); at != "" {
			line += " (decided " + at + ")"
		}
		lines = append(lines, line)
	}
	return lastOf(lines, mostDecisions)
}

// files returns the files that were changed most, sorted.
func (s *Session) files() (lines []string) {
	seen := map[string]bool{}
	for _, f := range s.Files {
		name := s.relative(f.Path)
		if f.Changes == 0 || len(lines) == mostFiles {
			break
		}
		if seen[name] {
			continue
		}
		seen[name] = true
		state := "updated"
		if f.Created {
			state = "created"
		}
		line := fmt.Sprintf("- %s (%s)", code(name), state)
		if why := reason(f.Said, f.Asked, f.Commit, f.CommitFiles); why != "" {
			line += " - " + why
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

// task returns the last prompt that says much, those after it, and the beginning of the last
// answer.
func (s *Session) task() (lines []string) {
	if len(s.Asked) == 0 {
		return nil
	}
	lines = []string{plain(s.Asked[0], 300)}
	for _, then := range s.Asked[1:] {
		lines = append(lines, "Then: "+plain(then, 120))
	}
	if s.Open {
		return append(lines, "It has no final answer yet.")
	}
	if answer := opening(s.Answer, 300); answer != "" {
		lines = append(lines, "Last answer: "+answer)
	}
	return lines
}

// issues returns boxes: open ones, failures, files that are in no commit, and announced next
// steps.
func (s *Session) issues() (lines []string) {
	box := func(text string) {
		if line := "- [ ] " + text; !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	for _, f := range s.Failed {
		if s.fails(f.Key) {
			box(plain(f.Text, 200))
		}
	}
	for _, t := range s.Todo {
		box(plain(t.Text, 200))
	}
	if n := len(s.Unsaved); n > 0 {
		var names []string
		for _, file := range s.Unsaved[:min(n, 5)] {
			names = append(names, code(s.relative(file)))
		}
		if n > len(names) {
			names = append(names, fmt.Sprintf("%d more", n-len(names)))
		}
		box("Commit " + strings.Join(names, ", "))
	}
	for _, t := range s.Steps {
		box(plain(t.Text, 200))
	}
	return lines[:min(len(lines), mostIssues)]
}

// fails reports whether a command is a test or a build, and failed when it was last run, alone
// or in a line with others.
func (s *Session) fails(command string) bool {
	for _, c := range s.Commands {
		if c.Command == command {
			return c.Judges && !c.OK
		}
	}
	return false
}

// patterns returns the places in code that answers mentioned last.
func (s *Session) patterns() (lines []string) {
	last := ""
	for _, r := range s.References {
		file, at, _ := strings.Cut(r.Key, ":")
		if text := pattern(at, r.Text); text != "" && text != last {
			lines, last = append(lines, fmt.Sprintf("- %s - %s", code(s.relative(file)+":"+at), text)), text
		}
	}
	return lastOf(lines, mostPatterns)
}

// pattern returns what a sentence says about a place in code, without its name; empty if it says little, or is
// about code that was removed.
func pattern(name, text string) string {
	text = strings.TrimRight(plain(text, 160), ":")
	text = strings.TrimPrefix(text, "`"+name+"` - ")
	lower := strings.ToLower(text)
	if len(strings.Fields(text)) < 4 || strings.Contains(lower, "delet") || strings.Contains(lower, "remov") {
		return ""
	}
	return text
}

// relative returns a path relative to the working directory if it is below it, else unchanged.
func (s *Session) relative(file string) string {
	if below, ok := strings.CutPrefix(file, strings.TrimSuffix(s.CWD, "/")+"/"); ok && s.CWD != "" {
		return below
	}
	return strings.TrimPrefix(file, "./")
}

// reason returns why a file was changed, in a few words: the subject of a commit of a few files,
// else the first sentence with content in the answer, else the subject of a larger commit, else
// the prompt.
func reason(words, asked, commit string, files int) string {
	const few = 8
	if commit != "" && files <= few {
		return plain(commit, 120)
	}
	for line := range activity.Prose(words) {
		for s := range activity.Sentences(line) {
			if s = purpose(s); s != "" {
				return strings.TrimRight(plain(s, 120), ".: ")
			}
		}
	}
	if commit != "" || asked == "" {
		return plain(commit, 120)
	}
	return "asked: " + plain(asked, 120)
}

// announcing are beginnings of sentences before what will be done, vague the words of sentences
// that do not say what, and reacting the beginnings of remarks about what was found.
var (
	announcing = []string{"now let's ", "now let me ", "let me also ", "let me now ", "let me ", "let's ", "i'll also ",
		"i'll now ", "i'll ", "i will ", "now ", "then ", "first, ", "next, ", "also ", "ok, ", "good, "}
	vague = strings.Fields("i we to need now the a it this that them these those also again all same issue " +
		"problem thing fix do update change make check look at see properly correctly right too here there one more " +
		"is be can for and")
	reacting = []string{"that ", "this ", "that's ", "oh", "wait", "i see", "hmm", "actually", "perfect", "great",
		"good", "yes", "you're", "the issue", "the problem", "it looks", "looks like", "there's",
		"there are", "there is"}
)

// purpose returns what a sentence before a change gives as its purpose, without what announces
// it; empty if it says little.
func purpose(sentence string) string {
	lower := strings.ToLower(sentence)
	begins := func(w string) bool { return strings.HasPrefix(lower, w) }
	if strings.HasSuffix(sentence, "!") || slices.ContainsFunc(reacting, begins) {
		return ""
	}
	if i := slices.IndexFunc(announcing, begins); i >= 0 {
		sentence = sentence[len(announcing[i]):]
		first, size := utf8.DecodeRuneInString(sentence)
		sentence = string(unicode.ToUpper(first)) + sentence[size:]
	}
	words := strings.FieldsFunc(strings.ToLower(sentence), func(r rune) bool {
		return unicode.IsSpace(r) ||
			strings.ContainsRune(".,:;-", r)
	})
	if len(words) < 3 || !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(vague, w) }) {
		return ""
	}
	return sentence
}

// opening returns the first sentences of an answer; lines that do not end like a sentence are
// separated by semicolons.
func opening(text string, most int) string {
	var b strings.Builder
	for line := range activity.Prose(text) {
		item := strings.TrimLeft(line, "-* ")
		if line[0] == '#' || strings.HasPrefix(item, "[") || strings.HasSuffix(strings.Trim(item, "*"), ":") {
			continue // a heading, a box, or what announces a list
		}
		if b.Len() > 0 && !strings.ContainsAny(b.String()[b.Len()-1:], ".!?:;,") {
			b.WriteByte(';')
		}
		for sentence := range activity.Sentences(item) {
			if b.Len() > 0 && b.Len()+len(sentence) > most {
				return strings.TrimSuffix(b.String(), ";")
			}
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(plain(sentence, most))
		}
	}
	return b.String()
}

// plain returns a text on one line of inert Markdown, with an approximate limit in bytes.
func plain(text string, most int) string {
	words := strings.Fields(strings.NewReplacer("<!--", "", "**", "").Replace(text))
	words = slices.DeleteFunc(words, func(w string) bool { // lines that are drawn
		return len(w) > 3 && !strings.ContainsFunc(w, func(r rune) bool {
			return unicode.IsLetter(r) ||
				unicode.IsDigit(r)
		})
	})
	text = strings.TrimLeft(strings.Join(words, " "), "#->+ ")
	if len(text) <= most {
		return inert(closed(text))
	}
	end := most
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	if space := strings.LastIndexByte(text[:end], ' '); space > most/2 {
		end = space
	}
	return inert(closed(strings.TrimRight(text[:end], " ,;:-…"))) + " …"
}

// inert returns a text of a session as a part of a line of Markdown that does nothing.
func inert(text string) string { return string(markdown.AppendLine(nil, []byte(text))) }

// code returns a name as a code span.
func code(name string) string { return string(markdown.AppendCode(nil, []byte(name))) }

// closed returns a text without an unclosed code span at its end.
func closed(text string) string {
	if strings.Count(text, "`")%2 == 1 {
		text = strings.TrimRight(text[:strings.LastIndexByte(text, '`')], " ,;:-")
	}
	return text
}

// lastOf returns the last elements of a list.
func lastOf[T any](list []T, most int) []T { return list[max(0, len(list)-most):] }

// day and minute return the beginning of a time.
func day(stamp string) string {
	return inert(cmp.Or(stamp[:min(len(stamp), len("2006-01-02"))], "undated"))
}

func minute(stamp string) string {
	return inert(strings.Replace(stamp[:min(len(stamp), len("2006-01-02T15:04"))], "T", " ", 1))
}
