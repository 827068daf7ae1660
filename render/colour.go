package render

import (
	"cmp"
	"strings"
)

// A style is what a text means, as the code by which a terminal shows it: a colour of
// the terminal's own palette, which its user has chosen. The zero value is plain text.
type style string

// The styles. Whatever has a colour means one of these.
const (
	heading   style = "1"
	faint     style = "2"
	added     style = "32"
	removed   style = "31"
	changed   style = "33" // also what rewrites the context: compactions, edits, patches
	failure   style = "1;31"
	warning   style = "1;33"
	good      style = "32"
	prompted  style = "1;36" // what the user said
	called    style = "35"   // calls of tools, and their results
	different style = "7"    // words that differ between two lines, in their colour
)

// words are the styles of words that reports use: kinds of entries, roles, severities,
// states, and what became of calls.
var words = map[string]style{
	"user": prompted, "toolResult": called, "bashExecution": called, "tool": called, "results": called, "calls": called,
	"compaction": changed, "branch_summary": changed, "branch": changed, "context_transform": changed, "transform": changed, "context_edit": changed, "summary": changed, "summaries": changed,
	"compactionSummary": changed, "branchSummary": changed,
	"error": failure, "warning": warning, "info": faint, "crossed": failure, "unknown": faint, "kept": good, "tolerated": warning,
	"blocked": warning, "aborted": warning, "unanswered": warning, "cannot": warning, "rebilled": warning,
	"sound": good, "usable": warning, "damaged": failure, "not a session": failure, "drop": removed, "omit": removed, "replace": changed, "summarise": changed,
}

// wordStyle is the style of a word, plain where it has none.
func wordStyle(word string) style { return words[strings.TrimSpace(word)] }

// kindStyle is the style of a kind of entry or of a role. What is neither said nor done,
// such as a change of the model, is faint.
func kindStyle(kind string) style {
	if kind = strings.TrimSpace(kind); kind == "assistant" {
		return ""
	}
	return cmp.Or(words[kind], faint)
}

// markStyle is the style of a line by the mark at its beginning; one that has none is
// faint.
func markStyle(mark byte) style {
	return cmp.Or(map[byte]style{'-': removed, '+': added, '~': changed}[mark], faint)
}

// always is the style of a column whose cells all mean the same.
func always(as style) func(cell string) style { return func(string) style { return as } }

// paint puts a text between the codes of a terminal that begin and end a style.
func (s Screen) paint(as style, text string) string {
	if !s.Colour || as == "" || text == "" {
		return text
	}
	return "\x1b[" + string(as) + "m" + text + "\x1b[0m"
}
