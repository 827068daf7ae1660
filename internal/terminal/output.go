package terminal

import (
	"cmp"
	"os"
)

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
func (s *Output) Commit() error { return cmp.Or(s.Cleaner.Close(), s.Pager.Close()) }
