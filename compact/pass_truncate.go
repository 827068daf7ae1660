package compact

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ctxtool/internal/base/lazy"
	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt/jsonl"
)

// Truncate caps tool results: as gsh does, which keeps both ends, or as y-agent does,
// which keeps the beginning (docs/policies.md 2.3, 4.2).
var Truncate = Pass{
	Name:     "truncate",
	About:    "cap each tool result",
	System:   "gsh",
	Defaults: Options{Counter: &tokens.GSH, Max: 30000, Unit: "bytes"},
	reads:    "max unit",
	run:      truncate,
}

func truncate(w *Work) {
	for i := range w.news {
		k := w.Messages[i].result()
		if !w.Live(i) || k < 0 || w.Max == 0 && w.Unit == "bytes" ||
			w.measure(w.Messages[i].Blocks[k].length) <= w.Max {
			continue
		}
		text := w.Text(i, k)
		cut, done := w.capped(text)
		if !done {
			continue
		}
		w.Replace(i, k, cut, strconv.Itoa(w.measure(w.Messages[i].Blocks[k].length))+" "+w.Unit)
	}
}

// measure returns the length of a text in the unit of the limit.
func (o *Options) measure(n length) int {
	switch {
	case o.Unit == "tokens":
		return tokensOf(&tokens.YScalars, n)
	case o.Unit == "chars":
		return n.Scalars
	}
	return n.Bytes
}

// capped returns a text cut to the limit. done reports whether anything was cut.
func (o *Options) capped(text string) (cut string, done bool) {
	switch o.Unit {
	case "tokens":
		return truncateToBudget(text, o.Max)
	case "chars":
		return truncateHead(text, o.Max)
	}
	return truncateMiddle(text, o.Max)
}

// The marks of a text that was cut: in the middle, and at its end.
var (
	cutMiddle = lazy.Regexp(`\n\n\.\.\. \(\d+ bytes omitted\) \.\.\.\n\n`)
	cutEnd    = lazy.Regexp(`\n\[\.\.\. truncated: \d+ chars total, showing first \d+\]\z`)
)

// truncateMiddle keeps the first and the last most/2 bytes of a text. Both cuts move back to
// the start of a character, so the last half can be up to three bytes longer. A text that
// was cut before stays as it is: cutting it again would lose the true count.
func truncateMiddle(s string, most int) (string, bool) {
	const mark = "\n\n... (%d bytes omitted) ...\n\n"
	if most <= 0 || len(s) <= most || len(s) <= most+len(mark)+18 && cutMiddle().MatchString(s) {
		return s, false
	}
	keep := most / 2
	head, tail := s[:runeStart(s, keep)], s[runeStart(s, len(s)-keep):]
	return head + fmt.Sprintf(mark, len(s)-len(head)-len(tail)) + tail, true
}

// runeStart returns the last index up to i at which a character begins.
func runeStart(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// truncateHead keeps the first most characters of a text.
func truncateHead(s string, most int) (string, bool) {
	scalars := jsonl.SizesOf(s).Scalars
	if scalars <= most || cutEnd().MatchString(s) {
		return s, false
	}
	return s[:scalarEnd(s, most)] + fmt.Sprintf("\n[... truncated: %d chars total, showing first %d]",
		scalars, most), true
}

// scalarEnd returns the index after the first n characters.
func scalarEnd(s string, n int) int { return endOf(s, n, 1) }

// endOf returns the index after the first characters that have so many units, where those beyond the
// basic plane have wide units and others one.
func endOf(s string, units, wide int) int {
	for i := range len(s) {
		if !utf8.RuneStart(s[i]) {
			continue
		}
		if units--; s[i] >= 0xF0 {
			units -= wide - 1
		}
		if units < 0 {
			return i
		}
	}
	return len(s)
}

// truncateToBudget keeps the beginning of a text that fits a budget in y-agent's tokens,
// including the mark. The result is empty if the mark alone does not fit (docs/policies.md 4.2).
func truncateToBudget(s string, budget int) (string, bool) {
	const mark = "\n[truncated]"
	if tokens.YScalars.Of(jsonl.SizesOf(s).Scalars) <= budget {
		return s, false
	}
	limit := 4 * budget
	if limit < len(mark) {
		return "", true
	}
	return s[:scalarEnd(s, limit-len(mark))] + mark, true
}

// StripThinking removes the thinking from earlier answers, as y-agent does (docs/policies.md
// 4.8): blocks, and tags in texts. The last answer keeps its own, and so does one whose calls
// wait for results: providers require what they signed.
var StripThinking = Pass{
	Name:     "strip-thinking",
	About:    "drop the thinking of all answers but the last",
	System:   "y-agent",
	Defaults: Options{Counter: &tokens.Pi},
	run:      stripThinking,
}

func stripThinking(w *Work) {
	last := w.lastAnswer()
	for i := range w.news {
		if i >= last || !w.Live(i) || !w.Messages[i].isAssistant() {
			continue
		}
		if g := w.group(i); g.open() {
			continue
		}
		w.stripTags(i)
		left := len(w.Messages[i].Blocks)
		for k := left - 1; k >= 0; k-- {
			if w.Messages[i].Blocks[k].Kind != jsonl.ThinkingBlock {
				continue
			}
			if left == 1 {
				w.Replace(i, k, "", "thinking of an earlier answer, that said nothing else")
				continue
			}
			w.drop(i, k, "thinking of an earlier answer")
			if w.Messages[i].Blocks[k].Kind == droppedBlock {
				left--
			}
		}
		w.sweep(i)
	}
}

// lastAnswer returns the index of the last answer, -1 for none.
func (w *Work) lastAnswer() int {
	for i := range w.backward {
		if w.Messages[i].isAssistant() {
			return i
		}
	}
	return -1
}

// stripTags removes tagged thinking from the texts of an answer.
func (w *Work) stripTags(i int) {
	for k := range w.Messages[i].Blocks {
		if b := &w.Messages[i].Blocks[k]; b.Kind != jsonl.TextBlock || b.Bytes < len("<think>") {
			continue
		}
		if bare, tagged := stripTags(w.Text(i, k)); tagged {
			w.Replace(i, k, bare, "tagged thinking of an earlier answer")
		}
	}
}

// stripTags removes each <think> through the next </think> and the white space after it, or
// to the end; then it removes y-agent's markers and trims. It returns a text without a tag
// unchanged. The second result reports whether there was a tag.
func stripTags(s string) (string, bool) {
	if !strings.Contains(s, "<think>") {
		return s, false
	}
	for {
		before, after, found := strings.Cut(s, "<think>")
		if !found {
			break
		}
		_, rest, _ := strings.Cut(after, "</think>")
		s = before + strings.TrimLeftFunc(rest, unicode.IsSpace)
	}
	return strings.TrimSpace(strings.ReplaceAll(s, "<!-- iter -->", "")), true
}
