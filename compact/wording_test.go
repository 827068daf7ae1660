package compact_test

import (
	"strings"
	"testing"

	"ctxtool/compact"
)

// TestParsePrompt: an error names the line of the file, also in a prompt that has no placeholder of the conversation;
// a template that calls itself is one.
func TestParsePrompt(t *testing.T) {
	for text, want := range map[string]string{
		"Hello {{.Conversation}}":         "",
		"{{printf \"%05d\" .Messages}}":   "",
		" \n":                             "the prompt is empty",
		"a\nb\n{{.Nope}}":                 "prompt:3:2: ",
		"ok\n{{if}}":                      "prompt:2: missing value for if",
		"{{.Conversation}}\n\n{{.Tokens.": "prompt:3: ",
		`{{define "x"}}{{template "x"}}{{end}}{{template "x"}}`: "exceeded maximum template depth",
	} {
		_, err := compact.ParsePrompt(text)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
