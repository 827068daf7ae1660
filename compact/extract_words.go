package compact

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// This file is which words Extract goes by.

// asksFor says that a sentence of the user's asks for something to be so.
func asksFor(s string) bool {
	return hasWord(s, "must", "never", "always", "don't", "dont", "only", "should", "prefer", "avoid", "without", "ensure", "keep", "instead", "require", "required", "important") ||
		containsAny(strings.ToLower(s), "do not", "make sure", "no longer", "has to", "have to")
}

// decides says that a sentence of the agent's tells what was decided, or why.
func decides(s string) bool {
	return hasWord(s, "decided", "because", "instead", "chose", "conclusion", "therefore") ||
		containsAny(strings.ToLower(s), "the cause is", "root cause", "going with", "the fix is", "rather than")
}

// hasWord says that one of the words stands in a sentence, in either case.
func hasWord(s string, words ...string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(s)) {
		word = strings.Trim(word, "`'\"()*_,;.:!?")
		for _, w := range words {
			if word == w {
				return true
			}
		}
	}
	return false
}

// sentences are the sentences of a text that are neither code nor too long for a line.
func sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		code := false
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "```") {
				code = !code
				continue
			}
			if code {
				continue
			}
			line = strings.TrimLeft(line, "-*#> ")
			for line != "" {
				end := sentenceEnd(line)
				if s := strings.TrimSpace(line[:end]); s != "" && utf8.RuneCountInString(s) <= longestLine && !yield(s) {
					return
				}
				line = strings.TrimSpace(line[end:])
			}
		}
	}
}

// sentenceEnd is behind the first mark that ends a sentence: one with a blank behind it.
func sentenceEnd(line string) int {
	for i := 0; i+1 < len(line); i++ {
		if strings.IndexByte(".!?;", line[i]) >= 0 && line[i+1] == ' ' {
			return i + 1
		}
	}
	return len(line)
}

// telling is the line of a failure's output that says what is wrong: the last one that
// names an error, else the last one.
func telling(text string) string {
	last, found := "", ""
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "Command exited with code") {
			continue
		}
		if last = line; containsAny(strings.ToLower(line), "error", "fail", "panic", "not found", "cannot", "denied", "no such", "undefined") {
			found = line
		}
	}
	if found == "" {
		found = last
	}
	return oneLine(found, longestLine)
}

// steps are the points of a list that an answer ends in, if it says that they are next.
func steps(text string) (all []string) {
	listing := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		low := strings.ToLower(line)
		switch point := strings.TrimLeft(line, "-*0123456789.) "); {
		case containsAny(low, "next step", "remaining", "still to do", "todo", "to do:", "left to do"):
			listing = true
		case line == "":
		case listing && point != line:
			all = append(all, oneLine(point, longestLine))
		default:
			listing = false
		}
	}
	return all
}

// oneLine is a text on one line, cut to so many characters.
func oneLine(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return strings.TrimSpace(text[:scalarEnd(text, most)]) + " ..."
}
