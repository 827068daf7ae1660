//go:build unix

package jsonl

import (
	"fmt"
	"math"
	"runtime/debug"
	"syscall"
)

// Room is the error of a line for which there is not memory enough: as much again as the
// line is asked of the system for what is made of it, and given back. The runtime would end
// the process.
func Room(line int64) error {
	if line < 16*largeValue {
		return nil
	}
	// What is dead is given back in time, not when there is as much again.
	if limit := 2*line + 128*largeValue; line >= 128*largeValue && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(limit)
	}
	debug.FreeOSMemory() // the lines before are not waited for
	b, err := syscall.Mmap(-1, 0, int(2*line), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("out of memory: a line of %d MB takes twice as much", line/1_000_000)
	}
	return syscall.Munmap(b)
}
