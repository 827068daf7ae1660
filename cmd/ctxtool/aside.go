package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"ctxtool/internal/base/shell"
	"ctxtool/internal/check"
	"ctxtool/internal/phrase"
	"ctxtool/sessionfmt"
)

// An aside is what a command says besides its answer: a line on standard error, or nothing where
// all is usual.
type aside struct {
	mu       sync.Mutex
	newest   string // the session that no argument named
	findings int
	last     sessionfmt.Finding // of them
	sessions []string           // that have the findings
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

// noteSkipped returns a function that notes a file of a folder that is not read, once.
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

// ref returns what names a session on a command line: the beginning of its id if it is in a store,
// else its file.
func (e *env) ref(name string) string {
	if short := e.store().Short(name); short != "" {
		return short
	}
	return shell.Quote(sessionfmt.Clean(e.fileName(name)))
}

// noteFindings counts the findings of a session for the aside, but for what is usual.
func (e *env) noteFindings(name string, found []sessionfmt.Finding) {
	n, last := 0, sessionfmt.Finding{}
	for _, f := range found {
		if c := check.Find(f.Code); c == nil || c.Severity != check.Info {
			n++
			last = f
		}
	}
	if n == 0 {
		return
	}
	e.aside.mu.Lock()
	defer e.aside.mu.Unlock()
	e.aside.last = last
	e.aside.findings += n
	if !slices.Contains(e.aside.sessions, name) {
		e.aside.sessions = append(e.aside.sessions, name)
	}
}

// mostRefs is how many sessions an aside names.
const mostRefs = 3

// conclude prints the aside.
func (e *env) conclude() {
	a := e.aside
	var parts []string
	if a.newest != "" {
		parts = append(parts, "session "+e.ref(a.newest))
	}
	switch {
	case a.findings == 1:
		pos := sessionfmt.Pos{File: cmp.Or(a.last.File, e.ref(a.sessions[0])), Line: a.last.Line, Entry: a.last.Entry}
		parts = append(parts, pos.String()+": "+a.last.Text)
	case a.findings > 1:
		text := phrase.Count(a.findings, "finding")
		var refs []string
		for _, name := range a.sessions {
			refs = append(refs, e.ref(name))
		}
		slices.Sort(refs)
		switch {
		case len(refs) > mostRefs:
			text += fmt.Sprintf(" in %d sessions: ctxtool check", len(refs))
		case slices.Contains(a.sessions, "-"):
			text += ": ctxtool check lists them"
		default:
			text += ": ctxtool check " + strings.Join(refs, " ")
		}
		parts = append(parts, text)
	}
	if parts != nil {
		e.note("%s", strings.Join(parts, "; "))
	}
	*a = aside{}
}
