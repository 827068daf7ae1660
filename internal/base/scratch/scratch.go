// Package scratch resets buffers that are valid until the next call. In a build with the tag
// poison, what such a buffer held is overwritten at once, so that tests find slices of it that
// are kept for longer.
package scratch

// Reset returns buf without its content, for the next call to fill.
func Reset(buf []byte) []byte {
	if !Poisoned {
		return buf[:0]
	}
	Poison(buf)
	return nil
}

// Poison overwrites buf up to its capacity, in a build with the tag poison.
func Poison(buf []byte) {
	if !Poisoned {
		return
	}
	buf = buf[:cap(buf)]
	for i := range buf {
		buf[i] = poison
	}
}

// poison occurs in no text: it is no byte of UTF-8.
const poison = 0xF8
