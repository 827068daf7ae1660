package compact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"

	"ctxtool/replay/tokens"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
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

// ExecLimit is how long a command may take where nothing else is said.
const ExecLimit = 5 * time.Minute

const (
	longestOutput = 1 << 20 // bytes; who writes more does not write a summary
	execGrace     = time.Second
)

// Exec asks a command: the request's text is its standard input, what it prints is the
// summary. The command line is the shell's, which is sh, on Windows cmd: quotes,
// variables and pipes mean what they mean to whoever wrote it.
var Exec = summarizer{
	Name:  "exec",
	Takes: "COMMAND",
	About: "what COMMAND prints, with the request as its input",
	open: func(line string, o SummaryOptions) (Summarize, error) {
		if o.Limit <= 0 {
			o.Limit = ExecLimit
		}
		return func(r Request) (string, error) {
			text, err := r.text(o.Prompt)
			if err != nil {
				return "", err
			}
			return notBlank(ask(o, line, text))
		}, nil
	},
}

// ask runs a command line. At the limit everything that it has started is ended.
func ask(o SummaryOptions, line, text string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(o.Context, o.Limit, fmt.Errorf("it took longer than %s", o.Limit))
	defer cancel()
	cmd := inShell(ctx, line)
	cmd.Dir, cmd.Env = o.Disk.Dir, o.Environ
	cmd.Stdin = strings.NewReader(text)
	var out, said output
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.Cancel = func() error { return endGroup(cmd) }
	cmd.WaitDelay = execGrace
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.As(err, &exit):
		err = exit
		if last := lastLine(said.kept.String()); last != "" {
			err = fmt.Errorf("%w: %s", err, last)
		}
	case err != nil:
	case out.full:
		err = fmt.Errorf("it printed more than %d bytes", longestOutput)
	case !utf8.Valid(out.kept.Bytes()):
		err = errors.New("what it printed is not UTF-8")
	}
	if err != nil {
		return "", fmt.Errorf("command %q: %w", short(line, 80), err)
	}
	return strings.TrimSpace(out.kept.String()), nil
}

// An output keeps what is written, up to a limit, and lets the writer go on.
type output struct {
	kept bytes.Buffer
	full bool
}

func (o *output) Write(p []byte) (int, error) {
	if room := longestOutput - o.kept.Len(); len(p) > room {
		o.full = true
		o.kept.Write(p[:room])
		return len(p), nil
	}
	return o.kept.Write(p)
}

// lastLine is the last line that says something, at most 80 bytes of it.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return short(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]), 80)
}

// short is a text of at most so many bytes.
func short(text string, bytes int) string {
	if text = strings.ToValidUTF8(text, "\uFFFD"); len(text) <= bytes {
		return text
	}
	bytes -= len("…")
	for bytes > 0 && !utf8.RuneStart(text[bytes]) {
		bytes--
	}
	return text[:max(bytes, 0)] + "…"
}

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
	if jsonl.TrimJS(text) == "" {
		return "", errNothingSaid
	}
	if n := jsonl.Units(text); n > units {
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
		all += tokens.Pi.Of(jsonl.Units(r.Previous))
	}
	return max(all/extractShare, min(all, extractLeast))
}

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
