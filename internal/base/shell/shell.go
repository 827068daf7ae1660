// Package shell runs command lines of users: once with a text, or as a process that answers one
// line after the other. A shell runs them: sh, on Windows cmd.
package shell

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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

var errNotUTF8 = errors.New("what it printed is not UTF-8")

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

// A Process is a running command that gets questions, a line each, and answers each with exactly
// one line. It starts with the first question, and again after it has failed.
type Process struct {
	Command
	Each bool // start a new process for each question; its input ends after it

	ctx     context.Context
	cancel  context.CancelCauseFunc
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	said    tail
	running bool
}

// Ask passes a question, which write writes with its newline, and returns the answer without its
// newline, valid until the next question. After an error the process has ended.
func (p *Process) Ask(ctx context.Context, write func(w io.Writer) error) (answer []byte, err error) {
	if err = p.start(ctx); err != nil {
		return nil, p.failed(err)
	}
	late := time.AfterFunc(p.Limit, func() { p.cancel(p.late()) })
	written := make(chan error, 1)
	go func() {
		err := write(p.in)
		if p.Each {
			p.in.Close()
		}
		written <- err
	}()
	if answer, err = p.line(); err == nil && p.Each {
		err = p.rest()
	}
	if err != nil && err != errNoAnswer {
		p.cancel(err) // the writer may still be waiting
	}
	wrote := <-written
	late.Stop()
	if err == nil && !p.Each {
		err = wrote
	}
	if err != nil || p.Each {
		if stopped := p.stop(err); err != nil || stopped != nil {
			return nil, p.failed(stopped)
		}
	}
	return answer, nil
}

func (p *Process) start(ctx context.Context) (err error) {
	if p.running {
		return nil
	}
	p.ctx, p.cancel = context.WithCancelCause(ctx)
	p.cmd, p.said = p.command(p.ctx), tail{}
	p.cmd.Stderr = &p.said
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.out = bufio.NewReaderSize(out, 64<<10)
	if err = p.cmd.Start(); err == nil {
		p.running = true
	}
	return err
}

var (
	errNoAnswer = errors.New("it ended without an answer")
	errMore     = errors.New("it printed more than one line")
)

// line reads one line.
func (p *Process) line() (line []byte, err error) {
	for {
		part, err := p.out.ReadSlice('\n')
		if line = append(line, part...); len(line) > p.Most {
			return nil, p.tooLong()
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err != nil && (len(line) == 0 || !p.Each):
			return nil, errNoAnswer
		case p.out.Buffered() > 0 && !p.Each:
			return nil, errMore
		case !utf8.Valid(line):
			return nil, errNotUTF8
		}
		return bytes.TrimSuffix(line, []byte{'\n'}), nil
	}
}

// rest reads what follows the answer, which must be blank.
func (p *Process) rest() error {
	for {
		part, err := p.out.ReadSlice('\n')
		if len(bytes.TrimSpace(part)) > 0 {
			return errMore
		}
		if err != nil && err != bufio.ErrBufferFull {
			return nil
		}
	}
}

// stop ends the process, and returns why it failed: its status, or the given reason.
func (p *Process) stop(why error) error {
	p.running = false
	p.in.Close()
	if why != nil && why != errNoAnswer {
		p.cancel(why)
	}
	late := time.AfterFunc(grace, func() { p.cancel(why) })
	err := p.cmd.Wait()
	late.Stop()
	if ended := ended(p.ctx, err, &p.said); ended != nil && (why == nil || why == errNoAnswer || p.ctx.Err() != nil) {
		why = ended
	}
	p.cancel(nil)
	return why
}

// Close ends the process, and all processes that it started, without waiting for an answer.
func (p *Process) Close() error {
	if !p.running {
		return nil
	}
	return p.stop(nil)
}
