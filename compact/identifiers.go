package compact

import (
	"fmt"
	"slices"
	"strings"
)

// identifiersIn are the words of a text that a summary has to keep letter by letter, as
// y-agent finds them: addresses, paths with a dot, and texts that patterns name; sorted,
// each once (spec/policies.md 3.8).
func identifiersIn(text string, patterns []string) (all []string) {
	found := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		end := ",."
		if strings.HasPrefix(w, "http://") || strings.HasPrefix(w, "https://") {
			end = ",.)"
		} else if dot := strings.Contains(w, "."); !(dot && strings.Contains(w, "@") && len(w) > 5 || dot && strings.Contains(w, "/") && len(w) > 3) {
			continue
		}
		found[strings.TrimRight(w, end)] = true
	}
	for _, p := range patterns {
		if p != "" && strings.Contains(text, p) {
			found[p] = true
		}
	}
	for w := range found {
		all = append(all, w)
	}
	slices.Sort(all)
	return all
}

// identifiers are what a request says of those of a text.
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
	return "\n\nThese identifiers have to stand in the summary exactly as they are, where what they name does:\n- " + strings.Join(all, "\n- ") + more
}
