package compact

import (
	"fmt"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
)

// extractTokens is how long an extract may be where nothing else is said, in tokens as
// pi estimates them.
const extractTokens = 2000

// An extract is at most a quarter of what it stands for; where that is next to nothing,
// this many tokens, but never more than what it stands for.
const (
	extractShare = 4
	extractLeast = 200
	piUnits      = 4 // UTF-16 units that pi takes for a token
)

// extractSummarizer writes a handoff from the session alone: the words of the user and of the
// answers, and what the calls did, under the headings of pi's summaries. No model is
// asked and nothing is made up: each line is quoted, or counts what is there. The same
// messages give the same text.
var extractSummarizer = summarizer{
	Name:  "extract",
	About: "a handoff from the session's own words and what its calls did, without a model",
	open: func(_ string, o SummaryOptions) (Summarize, error) {
		if o.Tokens <= 0 {
			o.Tokens = extractTokens
		}
		return func(r Request) (string, error) { return r.extract(o.Tokens) }, nil
	},
}

// extract writes an extract of at most so many tokens.
func (r Request) extract(most int) (string, error) {
	x := &extractor{v: r.View}
	if err := x.earlier(r); err != nil {
		return "", err
	}
	for _, i := range r.Messages {
		if err := x.message(i); err != nil {
			return "", err
		}
	}
	x.end(len(r.Messages))
	units := piUnits * min(most, r.room())
	text := x.fit(units, r.Part)
	if sessionfmt.TrimJS(text) == "" {
		return "", errNothingSaid
	}
	if n := sessionfmt.Units(text); n > units {
		return "", fmt.Errorf("the extract has %d characters, and %d are the most", n, units)
	}
	return text, nil
}

// room is how many tokens an extract may have by what it stands for.
func (r Request) room() int {
	all := 0
	seen := false
	for _, i := range r.Messages {
		m := &r.View.Messages[i]
		all += m.Tokens(&tokens.Pi)
		seen = seen || m.isSummary()
	}
	if !seen {
		all += tokens.Pi.Of(sessionfmt.Units(r.Previous))
	}
	return max(all/extractShare, min(all, extractLeast))
}
