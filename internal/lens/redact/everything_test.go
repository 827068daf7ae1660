package redact

import (
	"fmt"
	"testing"
)

// TestPatternsSpareText: an expression that matches any text is refused, and one that is only
// broad is not.
func TestPatternsSpareText(t *testing.T) {
	t.Parallel()
	for regex, refused := range map[string]bool{
		".*": true, "(?s).+": true, `\S+`: true, "a*": true, "": false, `[^\n]{4,}`: true, `^`: true, "(?:ACME-[0-9]+)?": true, `(\S)\S*`: true,
		`[\w+/=-]{40,}`: false, `ACME-\d+`: false, `\b[0-9a-f]{32}\b`: false, `(?i)password[:=]\s*(\S+)`: false,
	} {
		_, err := New(Options{Patterns: fmt.Appendf(nil, "[[rules]]\nid = \"x\"\nregex = '''%s'''\n", regex)})
		if (err != nil) != refused {
			t.Errorf("%s: %v, refused %v", regex, err, refused)
		}
	}
	if _, err := New(Options{Patterns: []byte("[[rules]]\nid = \"x\"\nregex = '''\\S{8,}'''\nentropy = 4.2\n")}); err != nil {
		t.Errorf("with an entropy: %v", err)
	}
}
