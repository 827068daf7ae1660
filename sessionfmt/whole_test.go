package sessionfmt

import (
	"errors"
	"strings"
	"testing"
)

// TestWholeReader: a file that ends before what it had when it was opened has changed, and is not broken.
func TestWholeReader(t *testing.T) {
	for _, c := range []struct {
		size, off int
		want      string
		err       error
	}{{3, 0, "abc", nil}, {2, 1, "bc", nil}, {0, 3, "", nil}, {2, 2, "", ErrChanged}, {1, 3, "", ErrChanged}, {4, 0, "", ErrChanged}} {
		buf := make([]byte, c.size)
		n, err := wholeReader{strings.NewReader("abc")}.ReadAt(buf, int64(c.off))
		if string(buf[:n]) != c.want || !errors.Is(err, c.err) {
			t.Errorf("%d at %d: %q, %v", c.size, c.off, buf[:n], err)
		}
	}
}
