package main

import (
	"errors"
	"fmt"
)

// Exit statuses, the same for all commands.
const (
	exitOK      = 0
	exitFound   = 1 // the command found what it looks for: damage, a difference
	exitUsage   = 2 // the command line is wrong
	exitNothing = 3 // there is no answer: broken or missing input, a stopped replay, --strict, the disk
)

// A usageError is a command line that is wrong, also where that only shows once the
// session is open, such as a point that is not in it.
type usageError struct{ error }

// A foundError is the end of a command that has found something, and has said all of it.
type foundError struct{}

// A noAnswerError is what keeps a command from its answer.
type noAnswerError struct{ error }

var errFound = &foundError{}

func (e *usageError) Unwrap() error    { return e.error }
func (e *usageError) exit() int        { return exitUsage }
func (e *foundError) Error() string    { return "found" }
func (e *foundError) exit() int        { return exitFound }
func (e *noAnswerError) Unwrap() error { return e.error }
func (e *noAnswerError) exit() int     { return exitNothing }

// exitStatus is the exit status of an error: of those that carry none, which are cobra's,
// that of a wrong command line.
func exitStatus(err error) int {
	var known interface{ exit() int }
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &known):
		return known.exit()
	}
	return exitUsage
}

// usage makes an error one of the command line, unless it carries its status already.
func usage(err error) error {
	if carries(err) {
		return err
	}
	return &usageError{err}
}

// usagef is an error of the command line.
func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// noAnswer makes an error one that keeps a command from its answer, unless it carries
// its status already.
func noAnswer(err error) error {
	if carries(err) {
		return err
	}
	return &noAnswerError{err}
}

func carries(err error) bool {
	return err == nil || errors.As(err, new(interface{ exit() int }))
}
