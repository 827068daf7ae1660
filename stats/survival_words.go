package stats

import (
	"slices"
	"strings"
	"unicode"
)

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

// Words by which a sentence states what must be or must not be, in English.
var constraintWords = strings.Fields("must mustn't never always don't dont only prefer avoid shouldn't cannot without ensure")
var constraintPairs = [...][2]string{{"do", "not"}, {"should", "not"}, {"make", "sure"}, {"no", "need"}, {"instead", "of"}, {"rather", "than"}, {"can", "not"}, {"not", "allowed"}}

// Who says of himself or of others that they never do, forbids nothing; who says that
// he only wants something does.
var (
	speakers = strings.Fields("i they it he she that who which this still actually really users")
	habits   = strings.Fields("don't dont do cannot can never always only")
	wishes   = strings.Fields("want need like expect prefer")
)

// Sentences that are shorter say nothing, those that are longer are no sentences.
const shortestSentence, longestSentence = 10, 400 // bytes

// constraints are the sentences of a user's text that state constraints. What is
// fenced, quoted, or in a block that pi puts into prompts (<skill ...>, <file ...>)
// is not the user's word.
func constraints(text string) (all []string) {
	for _, s := range sentences(ownWords(text)) {
		if len(s) < shortestSentence || len(s) > longestSentence || strings.HasSuffix(s, "?") {
			continue
		}
		words := strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(s), "’", "'"), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
		for i, w := range words {
			if i > 0 && slices.Contains(speakers, words[i-1]) && slices.Contains(habits, w) && !(i+1 < len(words) && slices.Contains(wishes, words[i+1])) {
				continue
			}
			pair := i+1 < len(words) && slices.Contains(constraintPairs[:], [2]string{w, words[i+1]})
			if pair || slices.Contains(constraintWords, w) {
				all = append(all, s)
				break
			}
		}
	}
	return all
}

// ownWords is a prompt without what the user only passed on.
func ownWords(text string) string {
	var own strings.Builder
	fenced, block := false, ""
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		switch {
		case block != "":
			if strings.Contains(t, block) {
				block = ""
			}
		case strings.HasPrefix(t, "```"):
			fenced = !fenced
		case fenced || strings.HasPrefix(t, ">"):
		case strings.HasPrefix(t, "<skill "), strings.HasPrefix(t, "<file "):
			name, _, _ := strings.Cut(t[1:], " ")
			if block = "</" + name + ">"; strings.Contains(t, block) {
				block = ""
			}
		default:
			own.WriteString(line)
		}
	}
	return own.String()
}

// sentences cuts a text at line ends, and behind a mark that ends a sentence and has
// a space behind it.
func sentences(text string) (all []string) {
	for line := range strings.Lines(text) {
		from := 0
		for i := range len(line) {
			if strings.IndexByte(".!?;", line[i]) >= 0 && (i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '\n') {
				all = append(all, line[from:i+1])
				from = i + 1
			}
		}
		all = append(all, line[from:])
	}
	for i, s := range all {
		all[i] = strings.Join(strings.Fields(strings.TrimLeft(s, " \t-*•")), " ")
	}
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
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
