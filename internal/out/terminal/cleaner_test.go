package terminal

import (
	"bytes"
	"testing"
)

// TestCleaner: what a terminal would obey is replaced, wherever writes are cut.
func TestCleaner(t *testing.T) {
	const in = "a\tb\x1b[31mc\r\n\u202edé\u009b1m 漢\xff\nlast\x07"
	const want = "a\tb\uFFFD[31mc\uFFFD\n\uFFFDdé\uFFFD1m 漢\uFFFD\nlast\uFFFD"
	for size := 1; size <= len(in); size++ {
		var out bytes.Buffer
		c := &Cleaner{W: &out}
		for rest := []byte(in); len(rest) > 0; {
			n := min(size, len(rest))
			if _, err := c.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := c.Close(); err != nil || out.String() != want {
			t.Fatalf("in pieces of %d: %q, %v", size, out.String(), err)
		}
	}
}
