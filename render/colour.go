package render

import (
	"cmp"
	"strings"
)

// A style is the terminal code for a text of some meaning: a colour of the terminal's own
// palette, which its user has chosen. The zero value is plain text.
type style string

// The styles, by meaning.
const (
	heading   style = "1"
	faint     style = "2"
	added     style = "32"
	removed   style = "31"
	changed   style = "33" // also compactions, edits and patches
	failure   style = "1;31"
	warning   style = "1;33"
	good      style = "32"
	prompted  style = "1;36" // what the user said
	called    style = "35"   // calls of tools, and their results
	different style = "7"    // words that differ between two lines, in their colour
)

// words are the styles of words in reports: kinds of entries, roles, severities, states, and
// outcomes of calls.
var words = map[string]style{
	"user": prompted, "toolResult": called, "bashExecution": called, "tool": called, "results": called, "calls": called,
	"compaction": changed, "branch_summary": changed, "branch": changed, "context_transform": changed, "transform": changed, "context_edit": changed, "summary": changed, "summaries": changed,
	"compactionSummary": changed, "branchSummary": changed,
	"error": failure, "warning": warning, "info": faint, "crossed": failure, "unknown": faint, "kept": good, "tolerated": warning,
	"blocked": warning, "aborted": warning, "unanswered": warning, "cannot": warning, "rebilled": warning,
	"sound": good, "usable": warning, "damaged": failure, "not a session": failure, "drop": removed, "omit": removed, "replace": changed, "summarise": changed,
}

// wordStyle returns the style of a word, plain if it has none.
func wordStyle(word string) style { return words[strings.TrimSpace(word)] }

// kindStyle returns the style of a kind of entry or of a role. Settings, such as a change of
// the model, are faint.
func kindStyle(kind string) style {
	if kind = strings.TrimSpace(kind); kind == "assistant" {
		return ""
	}
	return cmp.Or(words[kind], faint)
}

// markStyle returns the style of a line by the mark at its beginning; faint without a mark.
func markStyle(mark byte) style {
	return cmp.Or(map[byte]style{'-': removed, '+': added, '~': changed}[mark], faint)
}

// always returns the style of a column whose cells all have the same style.
func always(as style) func(cell string) style { return func(string) style { return as } }

// paint returns a text in a style, or unchanged on a screen without colour.
func (s Screen) paint(as style, text string) string {
	if !s.Colour || as == "" || text == "" {
		return text
	}
	return "\x1b[" + string(as) + "m" + text + "\x1b[0m"
}
