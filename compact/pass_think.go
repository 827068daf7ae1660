package compact

import (
	"strings"
	"unicode"

	"ctxtool/replay/tokens"
)

// StripThinking takes the thinking out of earlier answers, as y-agent does
// (spec/policies.md 3.10): blocks of it, and tags in texts. The last answer keeps its
// own, and so does one whose calls wait for results: providers want what they signed.
var StripThinking = Pass{
	Name:     "strip-thinking",
	About:    "drop the thinking of all answers but the last",
	System:   "y-agent",
	Defaults: Options{Counter: &tokens.Pi},
	run:      stripThinking,
}

func stripThinking(w *work) error {
	w.params = struct{}{}
	last := w.lastAnswer()
	groups, of := w.groups()
	for i := range max(0, last) {
		if !w.Live(i) || !w.Messages[i].isAssistant() || of[i] >= 0 && w.open(&groups[of[i]]) {
			continue
		}
		if err := w.stripTags(i); err != nil {
			return err
		}
		for k := len(w.Messages[i].Blocks) - 1; k >= 0; k-- {
			if w.Messages[i].Blocks[k].Kind != thinkingBlock {
				continue
			}
			if len(w.Messages[i].Blocks) == 1 {
				w.replace(i, k, "", "thinking of an earlier answer, that said nothing else")
				continue
			}
			w.drop(i, k, "thinking of an earlier answer")
		}
	}
	return nil
}

// lastAnswer is the place of the last answer, -1 for none.
func (w *work) lastAnswer() int {
	for i := len(w.Messages) - 1; i >= 0; i-- {
		if w.Live(i) && w.Messages[i].isAssistant() {
			return i
		}
	}
	return -1
}

// open says that a call of a group has no result.
func (v *View) open(g *group) bool {
	for _, b := range v.Messages[g.call].Blocks {
		if b.Kind == callBlock && !v.answered(g, b.ID) {
			return true
		}
	}
	return false
}

func (v *View) answered(g *group, id string) bool {
	for _, r := range g.results {
		m := &v.Messages[r]
		if m.Blocks[m.result()].ID == id {
			return true
		}
	}
	return false
}

// stripTags takes tagged thinking out of the texts of an answer.
func (w *work) stripTags(i int) error {
	for k := range w.Messages[i].Blocks {
		if b := &w.Messages[i].Blocks[k]; b.Kind != textBlock || b.Bytes < len("<think>") {
			continue
		}
		text, err := w.text(i, k)
		if err != nil {
			return err
		}
		if bare, tagged := stripTags(text); tagged {
			w.replace(i, k, bare, "tagged thinking of an earlier answer")
		}
	}
	return nil
}

// stripTags cuts from each <think> through the next </think> and the white space
// behind it, or to the end; then it deletes y-agent's markers and trims. A text
// without a tag stays as it is.
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
