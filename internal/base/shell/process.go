package shell

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"time"
	"unicode/utf8"
)

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
