// Package shell runs command lines of users: once with a text, or as a process that answers one
// line after the other. A shell runs them: sh, on Windows cmd.
package shell

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

// A Command is a command line with its surroundings.
type Command struct {
	Line    string
	Dir     string
	Environ []string      // the process's own when nil
	Limit   time.Duration // how long an answer may take
	Most    int           // bytes of an answer
}

// grace is how long pipes of a killed command are read.
const grace = time.Second

// command returns the command in a shell, ready to start. When ctx ends, it is killed with all
// processes that it started.
func (c *Command) command(ctx context.Context) *exec.Cmd {
	cmd := inShell(ctx, c.Line)
	cmd.Dir, cmd.Env = c.Dir, c.Environ
	cmd.Cancel = func() error { return endGroup(cmd) }
	cmd.WaitDelay = grace
	return cmd
}

// Run runs the command with a text as its standard input, and returns its output without
// surrounding white space.
func (c *Command) Run(ctx context.Context, text string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.Limit, c.late())
	defer cancel()
	cmd, out, said := c.command(ctx), output{most: c.Most}, tail{}
	cmd.Stdin = strings.NewReader(text)
	cmd.Stdout, cmd.Stderr = &out, &said
	err := ended(ctx, cmd.Run(), &said)
	switch {
	case err != nil:
	case out.full:
		err = c.tooLong()
	case !utf8.Valid(out.kept.Bytes()):
		err = errNotUTF8
	}
	if err != nil {
		return "", c.failed(err)
	}
	return strings.TrimSpace(out.kept.String()), nil
}

var errNotUTF8 = errors.New("its output is not UTF-8")

// A LateError is the error of an answer that took longer than its limit.
type LateError struct{ Limit time.Duration }

func (e *LateError) Error() string { return fmt.Sprintf("it took longer than %s", e.Limit) }

func (c *Command) late() error    { return &LateError{c.Limit} }
func (c *Command) tooLong() error { return fmt.Errorf("it printed more than %d bytes", c.Most) }

// failed adds the command to an error.
func (c *Command) failed(err error) error {
	return fmt.Errorf("command %q: %w", Short(c.Line, 80), err)
}

// ended returns why a command failed: the end of ctx, or its status with the last line that it
// printed on standard error.
func ended(ctx context.Context, err error, said *tail) error {
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &exit):
		if last := said.lastLine(); last != "" {
			return fmt.Errorf("%w: %s", exit, last)
		}
		return exit
	}
	return err
}

// An output keeps what is written up to a limit, and discards the rest without an error.
type output struct {
	most int
	kept bytes.Buffer
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

// A tail keeps the end of what is written.
type tail struct{ kept []byte }

// tailSize is how much a tail keeps at least, in bytes.
const tailSize = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	if t.kept = append(t.kept, p...); len(t.kept) > 2*tailSize {
		t.kept = append(t.kept[:0], t.kept[len(t.kept)-tailSize:]...)
	}
	return len(p), nil
}

// lastLine returns the last line that is not blank, at most 80 bytes of it.
func (t *tail) lastLine() string {
	text := strings.TrimSpace(string(t.kept))
	return Short(strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:]), 80)
}

// Short returns a text cut to so many bytes.
func Short(text string, size int) string {
	if text = strings.ToValidUTF8(text, "\uFFFD"); len(text) <= size {
		return text
	}
	cut := max(0, size-len("…"))
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// Quote returns a text as one word of a POSIX shell.
func Quote(text string) string {
	if text != "" && strings.Trim(text, plain) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// plain are the characters of words that no shell reads in another way.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:@%+="
