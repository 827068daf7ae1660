//go:build unix

package jsonl

import (
	"fmt"
	"math"
	"runtime/debug"
	"syscall"
)

// Room returns an error if there is not enough memory for a line; otherwise the runtime would end the process.
// It allocates as much as the line once more, which processing needs, and frees it.
func Room(line int64) error {
	if line < 16*largeValue {
		return nil
	}
	// Collect garbage early, not only when the heap has doubled.
	if limit := 2*line + 128*largeValue; line >= 128*largeValue && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(limit)
	}
	debug.FreeOSMemory() // free the previous lines now
	b, err := syscall.Mmap(-1, 0, int(2*line), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("out of memory: a line of %d MB needs twice as much", line/1_000_000)
	}
	return syscall.Munmap(b)
}
