package compact

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// fileSummarizer takes the summary from a file. It stands for one request. Where pi cuts a turn
// there are two, and the file has to have the line that pi puts between them.
var fileSummarizer = summarizer{
	Name:  "file",
	Takes: "FILE",
	About: "the text of FILE, for one request",
	open: func(name string, o SummaryOptions) (Summarize, error) {
		taken := map[summaryPart]bool{}
		return func(r Request) (string, error) {
			text, err := o.Disk.ReadFile(name)
			if err != nil {
				return "", err
			}
			if !utf8.Valid(text) {
				return "", fmt.Errorf("%s is not UTF-8", name)
			}
			summary, prefix, split := strings.Cut(string(text), turnSeparator)
			if r.Part == turnPrefixPart {
				if summary = prefix; !split {
					return "", fmt.Errorf("%s has no line %q, and a turn is cut", name, strings.TrimSpace(turnHeading))
				}
			}
			if taken[r.Part] {
				return "", fmt.Errorf("%s has one summary, and a second one is asked for", name)
			}
			if summary, err = notBlank(strings.TrimSpace(summary), nil); err != nil {
				return "", fmt.Errorf("%s: %w", name, err)
			}
			taken[r.Part] = true
			return summary, nil
		}, nil
	},
}

// What stands between the summary of the history and that of a turn that is cut
// (spec/pi-format.md 7.7).
const (
	turnHeading   = "**Turn Context (split turn):**"
	turnSeparator = "\n\n---\n\n" + turnHeading + "\n\n"
)
