package compact

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ctxtool/internal/base/lazy"
	"ctxtool/internal/read/activity"
	"ctxtool/internal/read/phrase"
)

// oneLine returns a text on one line of valid UTF-8. It cuts a longer text at the end of a
// word, to about so many bytes.
func oneLine(text string, most int) string {
	far := 4 * most // without spaces
	cut := len(text) > far
	if cut {
		text = text[:far]
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if len(text) > most {
		end := runeStart(text, most)
		if space := strings.LastIndexByte(text[:end], ' '); space > most/2 {
			end = space
		}
		text, cut = text[:end], true
	}
	if cut {
		return strings.TrimRight(text, " ,;:\uFFFD") + " …"
	}
	return text
}

// paragraphs returns the lines of prose, with wrapped lines joined: a long line that does not
// end a sentence, and the next line if it does not begin one.
func paragraphs(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		const margin = 60 // bytes
		var held []byte   // a long paragraph takes time linear in its length
		last := 0
		for line := range activity.Prose(text) {
			mark, _ := listMark(line)
			first, _ := utf8.DecodeRuneInString(line)
			if last > margin && last <= 2*margin && mark == "" && !unicode.IsUpper(first) &&
				!strings.ContainsRune(".!?:;", rune(held[len(held)-1])) {
				held, last = append(append(held, ' '), line...), len(line)
				continue
			}
			if len(held) > 0 && !yield(string(held)) {
				return
			}
			held, last = append(held[:0], line...), len(line)
		}
		if len(held) > 0 {
			yield(string(held))
		}
	}
}

// listText returns a line without the mark of a list item or a heading.
func listText(line string) string {
	_, text := listMark(line)
	return strings.TrimLeft(text, "# \t")
}

// listMark splits a line into the mark of a list item and its text. The mark is "-" for a
// bullet, "x" for a checked box, "o" for an unchecked one, "1" for a number, and empty if the
// line is not a list item.
func listMark(line string) (mark, text string) {
	line = strings.TrimSpace(line)
	rest := strings.TrimLeft(line, "0123456789")
	switch {
	case len(line) > 1 && strings.IndexByte("-*+", line[0]) >= 0 && line[1] == ' ', strings.HasPrefix(line, "• "):
		_, text, _ = strings.Cut(line, " ")
		text = strings.TrimSpace(text)
		mark = "-"
	case rest != line && len(rest) > 1 && (rest[0] == '.' || rest[0] == ')') && rest[1] == ' ':
		return "1", strings.TrimSpace(rest[2:])
	default:
		return "", line
	}
	if len(text) > 3 && text[0] == '[' && text[2] == ']' {
		switch text[1] {
		case 'x', 'X':
			return "x", strings.TrimSpace(text[3:])
		case ' ':
			return "o", strings.TrimSpace(text[3:])
		}
	}
	return mark, text
}

// agreeing are the words of prompts that only agree.
var agreeing = strings.Fields("yes yeah yep yup ok okay sure please do it all that this these them both let s lets " +
	"go ahead on with and continue proceed now then next try give a the one ones sounds good great nice fine cool " +
	"perfect thanks thank you alright right exactly na")

// agrees reports whether a prompt only agrees to what was said before it, or picks numbers of a
// list.
func agrees(prompt string) bool {
	const most = 12 // words
	words := strings.FieldsFunc(strings.ToLower(prompt), func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r)
	})
	return len(words) > 0 && len(words) <= most && !slices.ContainsFunc(words, func(w string) bool {
		return strings.Trim(w, "0123456789") != "" && !slices.Contains(agreeing, w)
	})
}

// deciding are words of answers that state a decision or a finding.
var deciding = []string{"i'll use", "i will use", "decided", "instead of", "because", " chose ", "going with",
	"go with", "rather than", "root cause", "the fix is", "the problem is", "the problem was", "the issue is",
	"the issue was", "turns out"}

// decides reports whether a sentence of an answer states a decision or a finding.
func decides(sentence string) bool {
	if n := len(sentence); n < 30 || n > 300 || strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, ":") {
		return false
	}
	return containsAny(strings.ToLower(sentence), deciding...)
}

// plans reports whether a line announces next steps: a heading, or a line that ends in a
// colon, with a word of planWords.
func plans(line string) bool {
	if len(line) > 80 || line[0] != '#' && line[0] != '*' && !strings.HasSuffix(line, ":") {
		return false
	}
	for w := range strings.FieldsFuncSeq(strings.ToLower(line), func(r rune) bool {
		return !unicode.IsLetter(r) &&
			r != '-'
	}) {
		if slices.Contains(planWords, w) {
			return true
		}
	}
	return false
}

var planWords = []string{"next", "remaining", "todo", "todos", "to-do", "plan", "pending", "follow-up", "follow-ups",
	"outstanding"}

// urls returns an expression for possible URLs.
var urls = lazy.Regexp(`https?://[^\s\v\x{85}\pZ"'\x60<>()\[\]{}|\\]+`)

// addresses returns the URLs in a text.
func addresses(text string) (all []string) {
	for _, url := range urls().FindAllString(text, -1) {
		if url = strings.TrimRight(url, ".,;:!?*_"); len(url) > len("https://") && len(url) <= 200 &&
			utf8.ValidString(url) {
			all = append(all, url)
		}
	}
	return all
}

// named returns the names that a text has in code marks, each unchanged and with "()".
func named(text string) (all []string) {
	for {
		_, rest, open := strings.Cut(text, "`")
		name, after, closed := strings.Cut(rest, "`")
		if !open || !closed {
			return all
		}
		all, text = append(all, name, name+"()"), after
	}
}

// tests reports whether a command tests, builds or checks the work.
func tests(command string) bool {
	return !strings.HasPrefix(command, "git ") && !strings.HasPrefix(command, "gh ") &&
		containsAny(command, "test", "check", "lint", "vet", "tsc", "build", "jest", "mypy", "ruff", "clippy", "verify",
			"make", "gradle", "mvn")
}

// hash matches a hash, full or abbreviated as git does.
var hash = lazy.Regexp(`^[0-9a-f]{7,64}$`)

// A commit is a commit in the output of a command.
type commit struct{ branch, hash, subject string }

// commitsIn returns the commits that git reports in the output of a command: lines of the
// form [branch hash] subject.
func commitsIn(output string) (all []commit) {
	for line := range strings.Lines(output[:min(len(output), 64<<10)]) {
		if line[0] != '[' {
			continue
		}
		head, subject, ok := strings.Cut(line[1:], "] ")
		words := strings.Fields(head)
		if n := len(words); ok && n >= 2 && hash().MatchString(words[n-1]) {
			all = append(all, commit{words[0], words[n-1], oneLine(subject, 120)})
		}
	}
	return all
}

// exitOf returns how a command ended according to its output, empty if that has nothing about it.
func exitOf(output string) string {
	if code, _, ok := activity.Exit(nil, []byte(output), true); ok {
		return fmt.Sprint("exit ", code)
	}
	return phrase.If(strings.Contains(output[strings.LastIndexByte(strings.TrimSpace(output), '\n')+1:], "timed out"),
		"timed out")
}

// verdict returns the last line of a test's output that has a number and a word for an
// outcome, empty if there is none.
func verdict(output string) string {
	output = output[max(0, len(output)-(8<<10)):]
	for output != "" {
		at := strings.LastIndexByte(strings.TrimRight(output, "\n"), '\n') + 1
		line := strings.TrimSpace(output[at:])
		output = output[:at]
		if strings.ContainsAny(line, "0123456789") && containsAny(strings.ToLower(line), "pass", "fail", "error",
			" ok") && !strings.Contains(line, "exited with code") {
			return oneLine(line, 120)
		}
	}
	return ""
}

// identifiersIn returns the words of a text that a summary must keep verbatim, as y-agent
// finds them: addresses, paths with a dot, and patterns that occur; sorted, without
// duplicates (docs/policies.md 4.6).
func identifiersIn(text string, patterns []string) []string {
	found := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		end := ",."
		if strings.HasPrefix(w, "http://") || strings.HasPrefix(w, "https://") {
			end = ",.)"
		} else if dot := strings.Contains(w, "."); !(dot && strings.Contains(w, "@") && len(w) > 5 ||
			dot && strings.Contains(w, "/") && len(w) > 3) {
			continue
		}
		found[strings.TrimRight(w, end)] = true
	}
	for _, p := range patterns {
		if p != "" && strings.Contains(text, p) {
			found[p] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// identifiers returns the part of a request that lists the identifiers of a text, empty for none.
func (p Prompt) identifiers(text string) string {
	if p.Identifiers == "relaxed" {
		return ""
	}
	const most = 200 // more would bury the conversation
	all := identifiersIn(text, p.Patterns)
	if len(all) == 0 {
		return ""
	}
	more := ""
	if n := len(all) - most; n > 0 {
		all, more = all[:most], fmt.Sprintf("\n- and %d more of the same kind", n)
	}
	return "\n\nThese identifiers have to stand in the summary exactly as they are, where what they name does:\n- " +
		strings.Join(all, "\n- ") + more
}
