package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"ctxtool/internal/base/shell"
	"ctxtool/internal/lens/check"
	"ctxtool/internal/read/phrase"
	"ctxtool/sessionfmt"
)

// Exit statuses, the same for all commands.
const (
	exitOK      = 0
	exitFound   = 1 // the command found something: damage, a difference
	exitUsage   = 2 // the command line is wrong
	exitNothing = 3 // no answer: broken or missing input, a stopped replay, --strict, a disk error
)

// A statusError is an error with the exit status of the command.
type statusError struct {
	error
	status int
}

func (e *statusError) Unwrap() error { return e.error }

// errFound ends a command that found something and has reported it.
var errFound = &statusError{errors.New("found"), exitFound}

// found returns errFound if a command found something, else nil.
func found(something bool) error {
	if something {
		return errFound
	}
	return nil
}

// brokenOf counts the sessions whose row has an error.
func brokenOf[T any](rows []T, reason func(row T) string) (n int) {
	for _, row := range rows {
		if reason(row) != "" {
			n++
		}
	}
	return n
}

// noneRead returns an error if none of several sessions, which broken counts, could be read.
func noneRead(broken, of int) error {
	if broken < of || of == 0 {
		return nil
	}
	return errors.New("no file could be read as a session")
}

// exitStatus returns the exit status of an error. Errors without one are cobra's, about the
// command line.
func exitStatus(err error) int {
	var known *statusError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &known):
		return known.status
	}
	return exitUsage
}

// usage marks an error as one of the command line, even one that only shows after the session is open, such as
// a point that it lacks. An error that has a status keeps it.
func usage(err error) error { return withStatus(err, exitUsage) }

// usagef formats an error of the command line.
func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// noAnswer marks an error as one that prevents an answer, unless it already has a status.
func noAnswer(err error) error { return withStatus(err, exitNothing) }

// withStatus gives an error a status, unless it has one.
func withStatus(err error, status int) error {
	if err == nil || errors.As(err, new(*statusError)) {
		return err
	}
	return &statusError{err, status}
}

// fault prints an error, and its hint if it has one, in lower case and without a final
// period:
//
//	ctxtool: s.jsonl:12: entry a1b2c3d4: cause
//	hint: what helps
func (e *env) fault(err error) {
	text := strings.TrimRight(err.Error(), "\n")
	at, ok := errors.AsType[*sessionfmt.Error](err)
	if ok && !slices.Contains(e.args, at.Pos.File) { // it was not given under this name
		if short := e.store().Short(at.Pos.File); short != "" {
			text = strings.Replace(text, at.Pos.File+":", short+":", 1)
		}
	}
	fmt.Fprintf(e.stderr, "ctxtool: %s\n", phrase.Clean(e.redacted(text)))
	if ok && at.Hint != "" {
		hint := at.Hint
		if name := " " + sessionfmt.Clean(at.Pos.File) + " "; strings.Contains(hint, name) && at.Pos.File != "" {
			hint = strings.ReplaceAll(hint, name, " "+e.ref(at.Pos.File)+" ") // to paste
		}
		fmt.Fprintf(e.stderr, "hint: %s\n", e.redacted(hint))
	}
}

// otherHint replaces the hint of an error: hints of a replay name flags of ctxtool replay.
func otherHint(err error, hint string) error {
	at, ok := errors.AsType[*sessionfmt.Error](err)
	if !ok || at.Hint == "" {
		return err
	}
	return &sessionfmt.Error{Pos: at.Pos, Err: at.Err, Hint: hint}
}

// An aside is what a command reports besides its answer: a line on standard error, or nothing if all is usual.
type aside struct {
	mu     sync.Mutex
	newest string                                 // the session that was chosen without an argument
	found  map[string]map[sessionfmt.Finding]bool // by session
	worst  *noted
}

// A noted is a finding of a session.
type noted struct {
	session string
	sessionfmt.Finding
}

// before reports whether a finding is worse than another, or comes first in the file.
func (n *noted) before(o *noted) bool {
	severity := func(f *noted) check.Severity {
		if c := check.Find(f.Code); c != nil {
			return c.Severity
		}
		return check.Warning
	}
	return cmp.Or(cmp.Compare(severity(o), severity(n)), cmp.Compare(n.session, o.session),
		cmp.Compare(n.File, o.File), cmp.Compare(n.Line, o.Line), cmp.Compare(n.Text, o.Text)) < 0
}

// note prints a line on standard error. It is cleaned, since names may hold anything.
func (e *env) note(format string, args ...any) {
	if !e.quiet {
		fmt.Fprintln(e.stderr, sessionfmt.Clean(e.redacted(fmt.Sprintf(format, args...))))
	}
}

// noteStop notes where a replay stopped, if it did, and what that means for the answer.
func (e *env) noteStop(stopped error, so string) {
	if stopped != nil {
		e.note("%s: %s", stopped, so)
	}
}

// noteSkipped returns a function that notes each skipped file of a folder once.
func (e *env) noteSkipped() func(name string, mode fs.FileMode) {
	var said sync.Map
	return func(name string, mode fs.FileMode) {
		what := "a device, not a regular file"
		switch {
		case mode.IsDir():
			what = "the folder cannot be read"
		case mode&fs.ModeNamedPipe != 0:
			what = "a pipe, not a regular file"
		case mode&fs.ModeSocket != 0:
			what = "a socket, not a regular file"
		}
		if _, again := said.LoadOrStore(name, true); !again {
			e.note("%s: skipped: %s", e.fileName(name), what)
		}
	}
}

// ref returns the name of a session for a command line: the beginning of its id if it is in a store, else its
// file.
func (e *env) ref(name string) string {
	if short := e.store().Short(name); short != "" {
		return short
	}
	return shell.Quote(sessionfmt.Clean(e.fileName(name)))
}

// noteOpened notes the findings of an opened session. Commands that list findings do not call it.
func (e *env) noteOpened(s *sessionfmt.Session) { e.noteFindings(s.Name, s.Findings) }

// noteBroken notes where a session breaks off.
func (e *env) noteBroken(s *sessionfmt.Session) {
	e.noteFindings(s.Name, slices.DeleteFunc(slices.Clone(s.Findings), func(f sessionfmt.Finding) bool {
		return f.Code != "broken-off" && f.Code != "trailing-data"
	}))
}

// noteFindings adds findings of a session to the aside, each once, except usual ones.
func (e *env) noteFindings(name string, found []sessionfmt.Finding) {
	e.aside.mu.Lock()
	defer e.aside.mu.Unlock()
	for _, f := range found {
		if c := check.Find(f.Code); c != nil && c.Severity == check.Info {
			continue
		}
		if e.aside.found == nil {
			e.aside.found = map[string]map[sessionfmt.Finding]bool{}
		}
		if e.aside.found[name] == nil {
			e.aside.found[name] = map[sessionfmt.Finding]bool{}
		}
		e.aside.found[name][f] = true
		if n := (&noted{name, f}); e.aside.worst == nil || n.before(e.aside.worst) {
			e.aside.worst = n
		}
	}
}

// forget drops the findings of a session, because they have been printed.
func (a *aside) forget(name string) {
	delete(a.found, name)
	if a.worst != nil && a.worst.session == name {
		a.worst = nil
	}
}

// mostRefs is the number of sessions that an aside names.
const mostRefs = 3

// conclude prints the aside.
func (e *env) conclude() {
	a := e.aside
	var parts []string
	if a.newest != "" {
		parts = append(parts, "session "+e.ref(a.newest))
	}
	if worst := a.worst; worst != nil {
		pos := sessionfmt.Pos{File: cmp.Or(worst.File, e.ref(worst.session)), Line: worst.Line, Entry: worst.Entry}
		parts = append(parts, pos.String()+": "+worst.Text)
		if more := e.more(); more != "" {
			parts = append(parts, more)
		}
	}
	if parts != nil {
		e.note("%s", strings.Join(parts, "; "))
	}
	*a = aside{}
}

// more returns the command that lists all findings, empty if there is only one.
func (e *env) more() string {
	all, refs := 0, []string{}
	for name, found := range e.aside.found {
		all += len(found)
		refs = append(refs, e.ref(name))
	}
	slices.Sort(refs)
	switch {
	case all <= 1:
		return ""
	case len(refs) > mostRefs:
		return fmt.Sprintf("more in %d sessions: ctxtool check", len(refs))
	}
	return "more: ctxtool check " + strings.Join(refs, " ")
}
