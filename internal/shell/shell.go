// Package shell runs command lines that a user has written.
package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
	"unicode/utf8"

	"ctxtool/internal/phrase"
)

// Options are how a command runs.
type Options struct {
	Dir    string        // the process's own if empty
	Env    []string      // the process's own if nil
	Limit  time.Duration // how long it may take
	Output int           // how much it may print, bytes
}

// grace is how long a killed command has to close its output.
const grace = time.Second

// Run runs a command line in a shell: sh, on Windows cmd. It returns what the command prints,
// without white space around it. At the time limit it kills the command and all its processes.
func Run(ctx context.Context, line string, input io.Reader, opt Options) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, opt.Limit, fmt.Errorf("it took longer than %s", opt.Limit))
	defer cancel()
	cmd := inShell(ctx, line)
	cmd.Dir, cmd.Env = opt.Dir, opt.Env
	cmd.Stdin = input
	out, said := output{most: opt.Output}, output{most: opt.Output}
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.Cancel = func() error { return endGroup(cmd) }
	cmd.WaitDelay = grace
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
		err = fmt.Errorf("it printed more than %d bytes", opt.Output)
	case !utf8.Valid(out.kept.Bytes()):
		err = errors.New("what it printed is not UTF-8")
	}
	if err != nil {
		return "", fmt.Errorf("command %q: %w", phrase.Cut(line, mostQuoted), err)
	}
	return strings.TrimSpace(out.kept.String()), nil
}

// mostQuoted is how much of a line an error quotes, bytes.
const mostQuoted = 80

// An output keeps what is written up to a limit, and discards the rest without an error.
type output struct {
	kept bytes.Buffer
	most int
	full bool
}

func (o *output) Write(p []byte) (int, error) {
	if room := o.most - o.kept.Len(); len(p) > room {
		o.full = true
		o.kept.Write(p[:room])
		return len(p), nil
	}
	return o.kept.Write(p)
}

// lastLine returns the beginning of the last line that is not blank.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return phrase.Cut(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]), mostQuoted)
}
