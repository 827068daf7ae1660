package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ctxtool/internal/base/times"
	"ctxtool/internal/out/show"
	"ctxtool/internal/out/terminal"
	"ctxtool/internal/read/store"
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"

	"golang.org/x/term"
)

// newStore returns the folders in which sessions are looked up.
func (e *env) newStore() store.Store {
	if e.sessionsDir != "" {
		return store.In(e.disk, e.sessionsDir)
	}
	return store.Default(e.disk, e.getenv, e.home).Archive(e.archive)
}

// session returns the file and the point that the arguments name: SESSION, SESSION@POINT, or without arguments
// on a terminal, the newest session of the current folder, or of any folder if the command allows it.
func (e *env) session(args []string) (file, point string, err error) {
	sessions := e.store()
	if len(args) > 0 {
		file, point = store.SplitPoint(e.disk, args[0])
		if point == "" && file != args[0] {
			return "", "", usagef("%s: missing POINT after @", sessionfmt.Quote(args[0]))
		}
		file, err = sessions.Locate(file)
		return file, point, err
	}
	if !term.IsTerminal(int(e.stdin.Fd())) {
		return "", "", usagef("missing SESSION: a file, - for standard input, or the beginning of an id")
	}
	cwd, err := filepath.Abs(e.disk.Path("."))
	if err != nil {
		return "", "", err
	}
	if file, err = sessions.Newest(cwd); err != nil && e.anywhere {
		file, err = sessions.Newest("")
	}
	if err == nil {
		e.aside.newest = file
	}
	return file, "", err
}

// largeSession is the size in bytes from which commands trade time for memory.
const largeSession = 16 << 20

func (e *env) open(name string) (*sessionfmt.Session, error) {
	show, end := e.progress(name, true)
	defer end()
	e.frugal(name)
	opt := e.opening(0)
	opt.Progress = show
	return e.held(sessionfmt.Open(name, opt))
}

// held keeps a session open until the command ends.
func (e *env) held(s *sessionfmt.Session, err error) (*sessionfmt.Session, error) {
	if err == nil {
		e.opened = append(e.opened, s)
	}
	return s, err
}

// fileSize returns the size of a file in bytes.
func (e *env) fileSize(name string) (int64, error) {
	if name == "-" {
		return 0, errors.New("--follow requires a file")
	}
	info, err := e.disk.Stat(name)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// opening returns the options with which commands open a session, given the number of goroutines, 0 for the
// default.
func (e *env) opening(workers int) sessionfmt.Options {
	return sessionfmt.Options{
		Stdin: e.stdin, Disk: e.disk, Workers: workers, Through: e.through(), Called: e.fileName,
		Lookup: func(d *dialect.Dialect, id string) []string { return e.store().Lookup(d, id) },
		Opened: e.noteOpened,
	}
}

// through returns the passes over the bytes of a session before it is read, nil for none.
func (e *env) through() iter.Seq[sessionfmt.Pass] {
	if e.redactor == nil || e.asIs {
		return nil
	}
	return e.redactor.Passes(nil)
}

// fileName returns the name of a session's file for answers. It is redacted too, since folders may be named
// after a user.
func (e *env) fileName(name string) string {
	if e.redactor == nil {
		return name
	}
	return e.redactor.Text(name)
}

// redacted returns a line for standard error, redacted also if secrets make an answer fail.
func (e *env) redacted(text string) string {
	if r := cmp.Or(e.redactor, e.leaks); r != nil {
		return r.Message(text)
	}
	return text
}

// within reads one of several sessions.
func (e *env) within(f listedFile, read func(s *sessionfmt.Session) error) error {
	s, err := sessionfmt.Open(f.path, e.opening(1))
	if err != nil {
		return err
	}
	defer s.Close()
	return read(s)
}

// named opens the session that the arguments name, and returns its point: see session.
func (e *env) named(args []string) (s *sessionfmt.Session, point string, err error) {
	name, point, err := e.session(args)
	if err != nil {
		return nil, "", err
	}
	s, err = e.open(name)
	return s, point, err
}

// reading opens the session that the arguments name, and returns a replay of the branch that ends
// at a point: at, or else that of the arguments.
func (o *readFlags) reading(e *env, args []string, at string) (r *replay.Replay, leaf int, err error) {
	s, point, err := e.named(args)
	if err == nil {
		leaf, err = findLeaf(s, cmp.Or(at, point, "leaf"), s.Leaf())
	}
	if err != nil {
		return nil, 0, err
	}
	return replay.New(s, replay.Options{Rules: o.by, Leaf: leaf}), leaf, nil
}

// collect sets the percentage by which the heap grows before garbage is collected, if this command is the only
// one in its process.
func (e *env) collect(percent int) {
	if e.gcPercent != nil {
		e.gcPercent(percent)
	}
}

// frugal saves memory for a large session. Its index only grows, so frequent collection costs little and halves
// the memory.
func (e *env) frugal(name string) {
	info, err := e.disk.Stat(name)
	switch {
	case err != nil:
	case info.Size() > 16*largeSession:
		e.collect(10)
	case info.Size() > largeSession:
		e.collect(25)
	}
}

// readInput reads a file that a flag names.
func (e *env) readInput(name string) ([]byte, error) {
	data, err := e.disk.ReadFile(name)
	if err != nil {
		return nil, noAnswer(unreadable(name, err))
	}
	return data, nil
}

// input opens a file, or standard input for "-". Closing it leaves standard input open.
func (e *env) input(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(e.stdin), nil
	}
	f, err := e.disk.Open(name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	return f, nil
}

// inputText returns the text of a file, or of standard input for "-".
func (e *env) inputText(name string) ([]byte, error) {
	in, err := e.input(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	data, err := io.ReadAll(in)
	if err != nil {
		return nil, unreadable(name, err)
	}
	return data, nil
}

// unreadable returns the error for a file that cannot be read.
func unreadable(name string, err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		err = path.Err
	}
	return &sessionfmt.Error{Pos: sessionfmt.Pos{File: name}, Err: err}
}

// findPoint resolves a POINT. An unknown one is an error of the command line.
func findPoint(s *sessionfmt.Session, text string, leaf int) (sessionfmt.Point, error) {
	p, err := s.Point(text, leaf)
	if errors.As(err, new(*sessionfmt.PointError)) {
		err = usage(&sessionfmt.Error{Pos: sessionfmt.Pos{File: s.Name}, Err: err})
	}
	return p, err
}

// findLeaf returns the last record of the path to a POINT.
func findLeaf(s *sessionfmt.Session, text string, leaf int) (int, error) {
	p, err := findPoint(s, text, leaf)
	if err != nil {
		return 0, err
	}
	return s.LeafAt(p), nil
}

// A limit is one end of a part of a session: a point or a time. The zero value means no limit.
type limit struct {
	sessionfmt.Point // used if time is zero
	time             times.Span
	set              bool
}

// newLimit resolves a TIME or a POINT. Text that can be both is a time: an entry whose label
// looks like one can be named by its id.
func (e *env) newLimit(s *sessionfmt.Session, text string, leaf int) (limit, error) {
	if text == "" {
		return limit{}, nil
	}
	if at, err := times.Parse(text, e.now().UTC()); err == nil {
		return limit{time: at, set: true}, nil
	}
	at, err := findPoint(s, text, leaf)
	if errors.As(err, new(*sessionfmt.PointError)) {
		err = usage(&sessionfmt.Error{Err: err, Hint: "must be a point or a time: " + times.Forms})
	}
	return limit{Point: at, set: true}, err
}

// before reports whether a limit precedes the limit at which a part begins. It is false for a time and a point,
// which cannot be compared.
func (l limit) before(from limit) bool {
	switch timed := l.time != (times.Span{}); {
	case !l.set || !from.set || timed != (from.time != (times.Span{})):
		return false
	case timed:
		return l.time.To <= from.time.From
	}
	return l.Record < from.Record
}

// from reports whether a record is not before the limit.
func (l limit) from(rec int, line jsonl.Value) bool {
	if l.time == (times.Span{}) {
		return rec >= l.Record
	}
	ms, ok := line.Get("timestamp").Millis()
	return ok && ms >= l.time.From
}

// to reports whether a record is not after the limit.
func (l limit) to(rec int, line jsonl.Value) bool {
	if l.time == (times.Span{}) {
		return !l.set || rec < l.Record || rec == l.Record && !l.Before
	}
	ms, ok := line.Get("timestamp").Millis()
	return ok && ms < l.time.To
}

// strictly counts findings for the aside. If strict, it prints them, and returns an error for them.
func (e *env) strictly(s *sessionfmt.Session, found []sessionfmt.Finding, strict bool) error {
	if strict {
		e.aside.forget(s.Name)
		e.printFindings(s.Name, found)
	} else {
		e.noteFindings(s.Name, found)
	}
	return noFindings(strict, s.Name, len(found))
}

// noFindings returns an error if strict and the file has n > 0 findings.
func noFindings(strict bool, name string, n int) error {
	if !strict || n == 0 {
		return nil
	}
	return sessionfmt.Errorf("--strict allows no findings").In(name)
}

// noneBroken returns an error if strict and n > 0 of the sessions failed; broken says how.
func noneBroken(strict bool, n, of int, broken string) error {
	if !strict || n == 0 {
		return nil
	}
	return fmt.Errorf("--strict: %d of %d sessions %s", n, of, broken)
}

// printFindings prints findings; a kind that occurs more than three times is one line with
// its number.
func (e *env) printFindings(name string, found []sessionfmt.Finding) {
	count := map[string]int{}
	for _, f := range found {
		count[f.Code]++
	}
	for _, f := range found {
		n := count[f.Code]
		if n == 0 {
			continue
		}
		pos := sessionfmt.Pos{File: cmp.Or(f.File, name), Line: f.Line, Entry: f.Entry}
		if n > 3 {
			count[f.Code] = 0
			e.note("%s: %s (and %d more like it)", pos, f.Text, n-1)
			continue
		}
		e.note("%s: %s", pos, f.Text)
	}
}

// An output is standard output, or a file that is written atomically: until it is
// committed, it can be aborted.
type output interface {
	io.Writer
	Commit() error
	Abort()
}

// A direct output cannot be aborted.
type direct struct{ io.Writer }

func (direct) Commit() error { return nil }
func (direct) Abort()        {}

// create opens an output, standard output for "" and "-". It must not be one of the inputs,
// which a command that reads never changes.
func (e *env) create(name string, inputs ...string) (output, error) {
	if e.toTerminal(name) {
		return terminal.NewOutput(e.stdout.(*os.File)), nil
	}
	if name == "" || name == "-" {
		return direct{e.stdout}, nil
	}
	for _, in := range inputs {
		if e.sameFile(name, in) {
			return nil, usage(sessionfmt.Errorf("-o must not name an input").In(name))
		}
	}
	return e.disk.Create(name, inputs...)
}

// sameFile reports whether a name is that of an input, which may be standard input.
func (e *env) sameFile(name, input string) bool {
	info, err := e.disk.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	other, err := e.disk.Stat(input)
	if input == "-" {
		other, err = e.stdin.Stat()
	}
	return err == nil && os.SameFile(info, other)
}

var colorNames = []string{"auto", "always", "never"}

// screen returns the properties of the terminal that shows an answer: its width, and colour according to
// --color, by default on a terminal unless NO_COLOR is set (https://no-color.org) or the terminal is dumb.
func (e *env) screen(output string) (on show.Screen) {
	if e.toTerminal(output) {
		on.Width, _, _ = term.GetSize(int(e.stdout.(*os.File).Fd()))
		on.Colour = e.getenv("NO_COLOR") == "" && !e.dumb()
	}
	if e.color != "auto" {
		on.Colour = e.color == "always"
	}
	return on
}

// dumb reports whether the terminal has no control sequences.
func (e *env) dumb() bool { return e.getenv("TERM") == "dumb" }

// toTerminal reports whether an output is a terminal.
func (e *env) toTerminal(output string) bool {
	f, ok := e.stdout.(*os.File)
	return ok && (output == "" || output == "-") && term.IsTerminal(int(f.Fd()))
}

// pagerCommand returns the command of the pager, or "" for none: that of --pager,
// CTXTOOL_PAGER or the user's configuration, or else that of PAGER.
func (e *env) pagerCommand() string {
	command := e.pager
	if command == "" {
		command = terminal.DefaultPager
		if slices.ContainsFunc(e.environ, func(v string) bool { return strings.HasPrefix(v, "PAGER=") }) {
			command = e.getenv("PAGER")
		}
	}
	if e.noPager || e.dumb() || strings.TrimSpace(command) == "cat" {
		return ""
	}
	return command
}

// progress returns functions that show progress on a terminal, in bytes or in sessions, and
// remove it. show is nil without a terminal.
func (e *env) progress(name string, bytes bool) (show func(done, size int64), end func()) {
	f, ok := e.stderr.(*os.File)
	if !ok || e.quiet || !term.IsTerminal(int(f.Fd())) || e.dumb() {
		return nil, func() {}
	}
	p := &terminal.Progress{W: f, Name: sessionfmt.Clean(name), Bytes: bytes, Now: e.now}
	p.Width, _, _ = term.GetSize(int(f.Fd()))
	return p.Show, p.End
}
