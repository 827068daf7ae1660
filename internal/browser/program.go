package browser

import "log"

// A Program is the T of a program: anything wrong ends it.
type Program struct{}

// Helper does nothing.
func (Program) Helper() {}

// Errorf prints a message and exits.
func (Program) Errorf(format string, args ...any) { log.Fatalf(format, args...) }

// Fatalf prints a message and exits.
func (Program) Fatalf(format string, args ...any) { log.Fatalf(format, args...) }
