//go:build !purego

package jsonl

import "golang.org/x/sys/cpu"

// hasKernel reports whether this machine can run the kernels. Tests switch it off to compare both ways of
// scanning.
var hasKernel = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasPOPCNT

// stringKernel continues inside a string, in blocks of 64 of the n bytes at p. It stops at the closing quote,
// or before anything it does not handle: a \u escape, an error, the last few bytes. at is where it stopped: at
// the quote, or at a byte where scanString can continue. extra is the number of escapes skipped, and wide is
// not 0 if a byte above 0x7f was seen.
//
//go:noescape
func stringKernel(p *byte, n int) (at, extra int, wide uint64)

// pairKernel returns an index of the n bytes at text before which the pair does not occur: that of the pair, or
// of the last few bytes.
//
//go:noescape
func pairKernel(text *byte, n int, p Pair) (at int)

// setKernel returns an index of the n bytes at text before which no byte of a set occurs: that of a possible
// hit, or of the last few bytes. A single backslash is not a hit if one of the bytes in plain follows.
//
//go:noescape
func setKernel(text *byte, n int, in, plain *nibbles) (at int)
