package compact

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ctxtool/sessionfmt"
)

// A summarizer is a way to get summaries.
type summarizer struct {
	Name  string
	Takes string // what stands behind its name and a colon, empty for nothing
	About string
	open  func(argument string, o SummaryOptions) (Summarize, error)
}

// Summarize answers a request for a summary.
type Summarize = func(Request) (string, error)

// summarizers are all summarizers, in the order of help.
var summarizers = []*summarizer{&extractSummarizer, &Exec, &fileSummarizer}

// Summarizers are all summarizers, in the order of help.
func Summarizers() []*summarizer { return summarizers }

// SummaryOptions are what summarizers can be told.
type SummaryOptions struct {
	Context context.Context // its end ends a command; nil for none
	Tokens  int             // extract: the longest summary, as pi estimates; 0 for 2000
	Limit   time.Duration   // exec: how long a command may take; 0 for ExecLimit
	Prompt  Prompt          // exec: what a request asks for
	Disk    sessionfmt.Disk // file: where it is; exec: the folder that a command runs in
	Environ []string        // exec: the environment of a command; the process's own when nil
}

// OpenSummarizer finds a summarizer by its name, and a colon and its argument where it
// takes one. Summaries that are blank are errors.
func OpenSummarizer(spec string, o SummaryOptions) (Summarize, error) {
	name, argument, colon := strings.Cut(spec, ":")
	var forms []string
	for _, s := range summarizers {
		if s.Name != name {
			forms = append(forms, s.Form())
			continue
		}
		if (s.Takes != "") != (colon && strings.TrimSpace(argument) != "") {
			return nil, fmt.Errorf("summarizer %q: want %s", spec, s.Form())
		}
		if o.Context == nil {
			o.Context = context.Background()
		}
		return s.open(argument, o)
	}
	return nil, fmt.Errorf("unknown summarizer %q: one of %s", spec, strings.Join(forms, ", "))
}

// Form is how a summarizer is called.
func (s *summarizer) Form() string {
	if s.Takes == "" {
		return s.Name
	}
	return s.Name + ":" + s.Takes
}

// notBlank is a summary that says something.
func notBlank(text string, err error) (string, error) {
	switch {
	case err != nil:
		return "", err
	case strings.TrimSpace(text) == "":
		return "", errNoSummary
	}
	return text, nil
}

var errNothingSaid = errors.New("the messages say nothing that could be summarised")
