//go:build unix

package sessionfmt

import (
	"fmt"
	"runtime"
	"syscall"
)

// room is the error of a line for which there is not memory enough: as much again as the
// line is asked of the system for what is made of it, and given back. The runtime would end
// the process.
func room(line int64) error {
	if line < 16*largeValue {
		return nil
	}
	runtime.GC() // the lines before are not waited for
	b, err := syscall.Mmap(-1, 0, int(2*line), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("out of memory: a line of %d MB takes twice as much", line/1_000_000)
	}
	return syscall.Munmap(b)
}
