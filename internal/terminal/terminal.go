// Package terminal has what a command needs at home in a terminal: text without what the
// terminal would obey, a pager, and a line that shows progress.
package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"ctxtool/internal/phrase"
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

// A Cleaner writes lines to a terminal without what it would obey: sessions hold
// what other programs printed. Line ends and tabs stay.
type Cleaner struct {
	W      io.Writer
	Colour bool // colours stay too: the text is in some

	rest []byte // of a line that has not ended
}

// Write cleans the lines that have ended.
func (c *Cleaner) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	end := bytes.LastIndexByte(c.rest, '\n') + 1
	if end == 0 {
		return len(p), nil
	}
	_, err := io.WriteString(c.W, c.clean(string(c.rest[:end])))
	c.rest = append(c.rest[:0], c.rest[end:]...)
	return len(p), err
}

// Close writes the last line where no line end follows it. It does not close W.
func (c *Cleaner) Close() error {
	_, err := io.WriteString(c.W, c.clean(string(c.rest)))
	c.rest = nil
	return err
}

// colours are the codes that change how text looks, and nothing else.
var colours = regexp.MustCompile("\x1b\\[[0-9;]*m")

func (c *Cleaner) clean(text string) string {
	if !c.Colour {
		return phrase.Clean(text)
	}
	var out strings.Builder
	at := 0
	for _, code := range colours.FindAllStringIndex(text, -1) {
		out.WriteString(phrase.Clean(text[at:code[0]]))
		out.WriteString(text[code[0]:code[1]])
		at = code[1]
	}
	out.WriteString(phrase.Clean(text[at:]))
	return out.String()
}

// When progress is shown: from the first moment at which work is worth a word, and how
// often after that.
const (
	patience = time.Second
	pace     = 200 * time.Millisecond
)

// A Progress is a line that shows how far work is, and how long it takes from there.
// It is drawn over itself, and only once work has taken a second.
type Progress struct {
	W     io.Writer
	Width int // columns of the terminal, 0 if unknown
	Name  string
	Bytes bool // what is counted are bytes
	Now   func() time.Time

	start, shown time.Time
	from         int64 // that was done at the start
}

// Show shows how much is done.
func (p *Progress) Show(done, size int64) {
	now := p.Now()
	if p.start.IsZero() {
		p.start, p.from = now, done
	}
	if now.Sub(p.start) < patience || now.Sub(p.shown) < pace {
		return
	}
	p.shown = now
	line := fmt.Sprintf("%s, %s", amount(done, size, p.Bytes), p.left(now, done, size))
	if room := p.Width - 1 - utf8.RuneCountInString(line) - len(": "); room >= utf8.RuneCountInString(p.Name) ||
		p.Width == 0 {
		line = p.Name + ": " + line
	}
	fmt.Fprintf(p.W, "\r%s\x1b[K", line)
}

// End removes the line.
func (p *Progress) End() {
	if !p.shown.IsZero() {
		fmt.Fprint(p.W, "\r\x1b[K")
	}
}

// left is how long the rest takes at the speed so far.
func (p *Progress) left(now time.Time, done, size int64) string {
	if done <= p.from || size <= done {
		return "almost done"
	}
	rest := time.Duration(float64(now.Sub(p.start)) * float64(size-done) / float64(done-p.from))
	switch seconds := int(rest.Seconds() + 0.999); {
	case seconds >= 3600:
		return fmt.Sprintf("%d h %d min left", seconds/3600, seconds/60%60)
	case seconds >= 90:
		return fmt.Sprintf("%d min left", (seconds+30)/60)
	default:
		return fmt.Sprintf("%d s left", seconds)
	}
}

// amount is how much of something is done, bytes in the unit that suits all of them.
func amount(done, size int64, bytes bool) string {
	if !bytes {
		return fmt.Sprintf("%d of %d", done, size)
	}
	unit, name := 1e6, "MB"
	if size >= 1e9 {
		unit, name = 1e9, "GB"
	}
	return fmt.Sprintf("%.1f of %.1f %s", float64(done)/unit, float64(size)/unit, name)
}

// Interrupts remove the existing temporary files when a signal ends the process. While
// there are none, signals have their usual effect.
type Interrupts struct {
	Status int // with which the process ends if the signal does not

	mu      sync.Mutex
	files   map[string]bool
	signals chan os.Signal // nil while there is no file
}

// ending are the signals that end a process by default.
var ending = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE}

// Note records that a temporary file exists, or no longer does.
func (x *Interrupts) Note(name string, there bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !there {
		delete(x.files, name)
		if len(x.files) == 0 && x.signals != nil {
			signal.Stop(x.signals)
			close(x.signals)
			x.signals = nil
		}
		return
	}
	if x.signals == nil {
		x.files, x.signals = map[string]bool{}, make(chan os.Signal, 1)
		for _, s := range ending {
			if !signal.Ignored(s) { // nohup
				signal.Notify(x.signals, s)
			}
		}
		go x.wait(x.signals)
	}
	x.files[name] = true
}

// wait waits for a signal, removes the files, and lets the signal take effect.
func (x *Interrupts) wait(signals chan os.Signal) {
	s, ok := <-signals
	if !ok {
		return
	}
	x.mu.Lock() // for good: no file is renamed any more
	for name := range x.files {
		os.Remove(name)
	}
	if s == syscall.SIGPIPE { // Go's runtime only handles one that a write causes
		os.Exit(128 + int(syscall.SIGPIPE))
	}
	signal.Reset(s)
	if p, err := os.FindProcess(os.Getpid()); err == nil && p.Signal(s) == nil {
		time.Sleep(time.Second) // it arrives at once
	}
	os.Exit(x.Status)
}

// Browse opens a file in the browser: that of BROWSER, else the one that the system has
// for pages. It returns once that command has ended; out gets what it prints.
func Browse(file string, environ []string, out io.Writer) error {
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	for _, v := range environ {
		if words, ok := strings.CutPrefix(v, "BROWSER="); ok && strings.TrimSpace(words) != "" {
			command = strings.Fields(words)
		}
	}
	cmd := exec.Command(command[0], append(slices.Clone(command[1:]), file)...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = environ, os.Stdin, out, out
	return cmd.Run()
}
