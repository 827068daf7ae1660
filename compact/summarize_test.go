package compact

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
)

// wholeOf is a request for a summary of all messages of a view.
func wholeOf(v *View, style Style, part SummaryPart) Request {
	return Request{View: v, Style: style, Part: part, Messages: v.live()}
}

func TestOpenSummarizer(t *testing.T) {
	for _, test := range []struct{ spec, want string }{
		{"extract", ""},
		{"exec:cat", ""},
		{"file:a:b", ""},
		{"extract:x", `summarizer "extract:x": must be extract`},
		{"exec", `summarizer "exec": must be exec:COMMAND`},
		{"exec: ", `summarizer "exec: ": must be exec:COMMAND`},
		{"model", `unknown summarizer "model": one of extract, exec:COMMAND, file:FILE`},
	} {
		got := ""
		if _, err := OpenSummarizer(test.spec, SummaryOptions{}); err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%q: %q, want %q", test.spec, got, test.want)
		}
	}
}

func TestSummarizeFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "s.md")
	ask := func(text string, parts ...SummaryPart) (said string) {
		t.Helper()
		must.Do(os.WriteFile(name, []byte(text), 0o600))
		summarize := must.Get(OpenSummarizer("file:"+name, SummaryOptions{}))
		for _, part := range parts {
			text, err := summarize(Request{Part: part})
			if err != nil {
				text = strings.ReplaceAll(err.Error(), name, "FILE")
			}
			said += text + "|"
		}
		return said
	}
	for _, test := range []struct {
		text  string
		parts []SummaryPart
		want  string
	}{
		{"\n all of it \n", []SummaryPart{historyPart}, "all of it|"},
		{" \n\t", []SummaryPart{historyPart}, "FILE: the summary is empty|"},
		{"a\xff", []SummaryPart{historyPart}, "FILE is not UTF-8|"},
		{"one", []SummaryPart{sequencePart, sequencePart}, "one|FILE has one summary, but two are needed|"},
		{"old\n\n---\n\n**Turn Context (split turn):**\n\nnew\n", []SummaryPart{historyPart, turnPrefixPart}, "old|new|"},
		{"old", []SummaryPart{historyPart, turnPrefixPart}, `old|FILE has no line "**Turn Context (split turn):**", but a turn is cut|`},
	} {
		if got := ask(test.text, test.parts...); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
	summarize, _ := OpenSummarizer("file:"+filepath.Join(t.TempDir(), "none"), SummaryOptions{})
	if _, err := summarize(Request{}); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// TestBlankSummaryWritesNothing: what a summarizer fails to say, or says in blanks, is
// an error of the pass, and no change.
func TestBlankSummaryWritesNothing(t *testing.T) {
	v := of(t, user("one"), answer("two"), user("three"))
	for _, style := range []Style{StyleGSH, StylePi, styleSWECLI, styleYAgent} {
		o := Options{Style: style, Summarize: func(Request) (string, error) { return " \n", nil }}
		if r, err := Compact.apply(v, o); err == nil || !strings.Contains(err.Error(), "the summary is empty") {
			t.Errorf("%s: %v, %v", style, r, err)
		}
	}
}
