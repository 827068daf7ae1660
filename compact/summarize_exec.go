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
)

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
