//go:build !purego

package jsonl

import "golang.org/x/sys/cpu"

// hasKernel reports whether stringKernel may be called on this machine. Tests switch
// it off to hold both ways of scanning to the same verdicts.
var hasKernel = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasPOPCNT

// stringKernel reads on inside a string, in blocks of 64 of the n bytes at p. It
// stops at the closing quote, or before anything that it does not judge: a \u
// escape, an error, the last few bytes. at is how far it came: onto the quote,
// or onto a byte where scanString can continue. extra is the number of escapes
// passed, and wide is not 0 when a byte above 0x7f was.
//
//go:noescape
func stringKernel(p *byte, n int) (at, extra int, wide uint64)
