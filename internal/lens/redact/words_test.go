package redact

import (
	"strings"
	"testing"
)

// TestWordsSpelled: no word that is searched has a character that JSON escapes, or the search of strings as they are
// spelled would miss it.
func TestWordsSpelled(t *testing.T) {
	for _, w := range mustNew(Options{}).builtinWords().words {
		if strings.ContainsAny(w, "\"\\\n\r\t\x7f") {
			t.Errorf("%q has a character that JSON escapes", w)
		}
	}
}
