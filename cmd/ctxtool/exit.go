package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ctxtool/internal/phrase"
	"ctxtool/sessionfmt"
)

// Exit statuses, the same for all commands.
const (
	exitOK      = 0
	exitFound   = 1 // the command found something: damage, a difference
	exitUsage   = 2 // the command line is wrong
	exitNothing = 3 // no answer: broken or missing input, a stopped replay, --strict, the disk
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

// usage marks an error as one of the command line, even one that only shows once the session
// is open, such as a point that is not in it. An error that has a status keeps it.
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
	if ok && !slices.Contains(e.args, at.Pos.File) { // it was not named so
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

// otherHint returns an error with another hint in place of its own: hints of a replay name
// flags of ctxtool replay.
func otherHint(err error, hint string) error {
	at, ok := errors.AsType[*sessionfmt.Error](err)
	if !ok || at.Hint == "" {
		return err
	}
	return &sessionfmt.Error{Pos: at.Pos, Err: at.Err, Hint: hint}
}
