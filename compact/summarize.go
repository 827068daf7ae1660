package compact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ctxtool/internal/base/shell"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// Summarize answers a request for a summary.
type Summarize = func(Request) (string, error)

// Summarizers are the names of all summarizers, with their arguments after a colon.
var Summarizers = []string{"extract", "exec:COMMAND", "file:FILE"}

// SummaryOptions are the options of summarizers.
type SummaryOptions struct {
	Context context.Context // exec: kills the command when done; nil for never
	Tokens  int             // extract: maximum tokens of a summary, by pi's estimate; 0 for 2000
	Limit   time.Duration   // exec: time limit of a command; 0 for ExecLimit
	Prompt  Prompt          // exec: wording of a request
	Disk    sessionfmt.Disk // file: the disk to read from; exec: the folder that a command runs in
	Environ []string        // exec: the environment of a command; the process's own when nil
}

// OpenSummarizer returns a summarizer by NAME or NAME:ARGUMENT; see Summarizers. It reports a
// blank summary as an error.
func OpenSummarizer(spec string, o SummaryOptions) (Summarize, error) {
	name, argument, colon := strings.Cut(spec, ":")
	at := slices.IndexFunc(Summarizers, func(form string) bool {
		return form == name ||
			strings.HasPrefix(form, name+":")
	})
	switch {
	case at < 0:
		return nil, fmt.Errorf("unknown summarizer %q: one of %s", spec, strings.Join(Summarizers, ", "))
	case (Summarizers[at] != name) != (colon && strings.TrimSpace(argument) != ""):
		return nil, fmt.Errorf("summarizer %q: must be %s", spec, Summarizers[at])
	}
	switch name {
	case "exec":
		if o.Context == nil {
			o.Context = context.Background()
		}
		o.Limit = cmp.Or(max(0, o.Limit), ExecLimit)
		return o.exec(argument), nil
	case "file":
		return o.file(argument), nil
	}
	most := cmp.Or(max(0, o.Tokens), extractTokens)
	return func(r Request) (string, error) { return r.extract(most) }, nil
}

var errNothingSaid = errors.New("the messages have no text to summarise")

// ExecLimit is the default time limit of a command.
const ExecLimit = 5 * time.Minute

const longestOutput = 1 << 20 // bytes; more is not a summary

// exec returns a summarizer that runs a command: the request's text is its standard input,
// its output is the summary. A shell runs the command line: sh, on Windows cmd.
func (o SummaryOptions) exec(line string) Summarize {
	return func(r Request) (string, error) {
		text, err := r.text(o.Prompt)
		if err == nil {
			c := shell.Command{Line: line, Dir: o.Disk.Dir, Environ: o.Environ, Limit: o.Limit, Most: longestOutput}
			text, err = c.Run(o.Context, jsonl.UTF8(text))
		}
		if err == nil && text == "" {
			err = errNoSummary
		}
		return text, err
	}
}

// extractTokens is the default limit of an extract, in tokens as pi estimates them.
const extractTokens = 2000

// An extract has at most a quarter of the tokens that it summarises, or extractLeast if that is more, and never
// more than the messages themselves.
const (
	extractShare = 4
	extractLeast = 200
	piUnits      = 4 // UTF-16 units per token in pi's estimate
)

// extract returns a handoff of at most so many tokens, from the session alone: quotes of the
// user and of the answers, and the outcomes of calls, under the headings of pi's summaries.
// It uses no model: each line is a quote or a count. The same messages give the same text.
func (r Request) extract(most int) (string, error) {
	x := newExtractor(r.View)
	if !slices.ContainsFunc(r.Messages, func(i int) bool { return r.View.Messages[i].isSummary() }) {
		x.fold(r.Previous)
	}
	for _, i := range r.Messages {
		x.message(i)
	}
	if err := r.View.texts.err; err != nil {
		return "", err
	}
	x.end(len(r.Messages))
	units := piUnits * min(most, r.room())
	text := x.fit(units, r.Part)
	if jsonl.TrimJS(text) == "" {
		return "", errNothingSaid
	}
	if n := jsonl.Units(text); n > units {
		return "", fmt.Errorf("the extract has %d characters, at most %d are allowed", n, units)
	}
	return text, nil
}

// Facts lists the work that a session records, quoted or counted, each text on one line.
type Facts struct {
	Goal       string   // the first prompt with content
	Asked      []string // the last prompt that says much, and those after it, such as "yes, do that"
	Answer     string   // the last answer to the last one, with its line breaks
	Open       bool     // the last request has no final answer
	Decisions  []Fact   // sentences of answers
	References []Fact   // sentences about places in code: Key is FILE:LINE or FILE:NAME
	Todo       []Fact   // open boxes and tasks
	Done       []Fact   // checked boxes and finished tasks
	Steps      []Fact   // the last list that an answer announced as next
	Failed     []Fact   // calls whose last run failed: Key is the command, the path or the tool
	Commits    []Fact   // their subjects: Key is the hash
	Unsaved    []string
	Needs      []string   // dependencies of the project, from the manifests that were read
	Files      []FileFact // the most changed first
	Commands   []CommandFact
}

// A Fact is a text, its key, and the record that it was last found in.
type Fact struct {
	Key, Text string
	Record    int
}

// A FileFact is the use of a file by calls.
type FileFact struct {
	Path    string
	Uses    int  // calls that read or changed it
	Changes int  // those that changed it
	Created bool // no call named it before it was written
	Record  int  // the last change, or the last call

	// The reason of the last change: the text of the answer with it, the request, and the
	// subject of the commit with the change, and the number of files in that.
	Said, Asked, Commit string
	CommitFiles         int

	edits, writes   int
	called, changed int  // numbers of the messages with the last call and the last change
	named           bool // a call named it, or an earlier summary
	unsaved         bool // it has changed since the last commit
}

// A CommandFact is the outcomes of a command.
type CommandFact struct {
	Command string
	Times   int
	OK      bool // its last run succeeded
	Judges  bool // it tests, builds or checks the work
	Verdict string

	at int // number of the message with the last run
}

// Extract returns the facts of the path to record leaf, including the messages that
// compactions removed from the context. stopped is the broken patch at which it stopped.
func Extract(r *replay.Replay, leaf int) (f *Facts, stopped, err error) {
	e, err := r.At(sessionfmt.After(-1))
	if err != nil {
		return nil, nil, err
	}
	v, seen := &View{Envelope: e, texts: &texts{e: e, from: r.NewReader()}}, -1 // it has one message at a time
	x, read := newExtractor(v), &part{}
	var now, taken replay.Messages
	take := func() error {
		last, begun := seen, x.now > 0
		for _, number := range now.Without(taken) {
			p := now.Numbered(number)
			if _, omits := p.Edit(); omits || p.Pos() <= last || begun && p.Kind() == jsonl.CompactionMessage {
				continue
			}
			m := Message{Place: Place{Kind: p.Kind(), Origin: p.Origin(), Sent: p.Sent()}}
			v.texts.only, v.texts.index = &p, -1
			if p.Sent() {
				m = read.message(m.Place, v.texts.of(&m))
			}
			v.Messages = append(v.Messages[:0], m)
			x.message(0)
			seen = max(seen, p.Pos())
		}
		taken = now
		return v.texts.err
	}
	for step, err := range r.Walk(leaf) {
		if stopped = err; stopped != nil && !replay.Stopped(err) {
			return nil, nil, err
		}
		if step.Did == replay.Compacted && stopped == nil {
			if err := take(); err != nil {
				return nil, nil, err
			}
		}
		now = step.Messages()
	}
	if err = take(); err != nil {
		return nil, nil, err
	}
	return x.facts(), stopped, nil
}

// room returns the most tokens of an extract of a request's messages.
func (r Request) room() int {
	all := r.Size()
	return max(all/extractShare, min(all, extractLeast))
}

// file returns a summarizer that reads the summary of one request from a file. If pi cuts a
// turn there are two requests, and the file must have the line that pi writes between the
// two summaries.
func (o SummaryOptions) file(name string) Summarize {
	taken := map[SummaryPart]bool{}
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
			summary = prefix
			if !split {
				return "", fmt.Errorf("%s has no line %q, but a turn is cut", name, strings.TrimSpace(turnHeading))
			}
		}
		if taken[r.Part] {
			return "", fmt.Errorf("%s has one summary, but two are needed", name)
		}
		if summary = strings.TrimSpace(summary); summary == "" {
			return "", fmt.Errorf("%s: %w", name, errNoSummary)
		}
		taken[r.Part] = true
		return summary, nil
	}
}

// The separator between the summary of the history and that of a turn that is cut
// (docs/session-format.md 9.6).
const (
	turnHeading   = "**Turn Context (split turn):**"
	turnSeparator = "\n\n---\n\n" + turnHeading + "\n\n"
)
