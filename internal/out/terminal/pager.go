// Package terminal has what a command needs at home in a terminal: text without what the
// terminal would obey, a pager, and a line that shows progress.
package terminal

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// DefaultPager is the pager where none is named. It shows what fits on the screen and
// ends, passes colours on, and leaves the text on the screen.
const DefaultPager = "less"

// lessOptions are those of less where LESS is not set, as git has them.
const lessOptions = "FRX"

// A Pager hands text to a program that shows it a screen at a time. The program starts
// with the first byte; where it cannot be started, the text goes straight to Out.
type Pager struct {
	Command string // as a shell reads it
	Env     []string
	Out     *os.File

	to      io.WriteCloser // of the program; nil before it has started
	program *exec.Cmd      // nil where there is none
	signals chan os.Signal
}

// Write passes text on. Once the user has left the pager, its error is ErrQuit.
func (p *Pager) Write(text []byte) (int, error) {
	if p.to == nil {
		p.start()
	}
	n, err := p.to.Write(text)
	if errors.Is(err, syscall.EPIPE) && p.program != nil {
		err = ErrQuit
	}
	return n, err
}

// ErrQuit is the error of text that nobody wants to see any more.
var ErrQuit = errors.New("the pager has ended")

func (p *Pager) start() {
	p.to = noClose{p.Out}
	words := strings.Fields(p.Command)
	if len(words) == 0 {
		return
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return
	}
	cmd := exec.Command(words[0], words[1:]...)
	if runtime.GOOS != "windows" {
		cmd = exec.Command("sh", "-c", p.Command)
	}
	cmd.Env = p.Env
	if !slices.ContainsFunc(p.Env, func(v string) bool { return strings.HasPrefix(v, "LESS=") }) {
		cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "LESS="+lessOptions)
	}
	cmd.Stdout, cmd.Stderr = p.Out, os.Stderr
	to, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return
	}
	p.to, p.program = to, cmd
	p.signals = make(chan os.Signal, 1)
	signal.Notify(p.signals, os.Interrupt) // which is for the pager
}

// Close waits until the user has left the pager.
func (p *Pager) Close() error {
	if p.program == nil {
		return nil
	}
	p.to.Close()
	err := p.program.Wait()
	signal.Stop(p.signals)
	if errors.As(err, new(*exec.ExitError)) {
		err = nil // how a pager ends says nothing about the text
	}
	return err
}

// A noClose is a file that stays open.
type noClose struct{ io.Writer }

func (noClose) Close() error { return nil }

// An Output is text on a terminal, without control characters.
type Output struct {
	Cleaner
	Pager Pager
}

// NewOutput returns an output that has no pager yet.
func NewOutput(f *os.File) *Output {
	s := &Output{Pager: Pager{Out: f}}
	s.Cleaner.W = &s.Pager
	return s
}

// Abort waits until the user has left the pager.
func (s *Output) Abort() { s.Pager.Close() }

// Commit writes the last line, and waits likewise.
func (s *Output) Commit() error {
	err := s.Cleaner.Close()
	if failed := s.Pager.Close(); err == nil {
		err = failed
	}
	return err
}
