package sessionfmt

import (
	"bytes"
	"io"
	"testing"
)

// TestSpool: what is spooled is read as it was written, from memory up to mostInMemory
// and from a file beyond, however it was cut into writes.
func TestSpool(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcdef"), mostInMemory/8)
	for _, size := range []int{0, 1, mostInMemory - 1, mostInMemory, mostInMemory + 1, 2 * mostInMemory} {
		for _, piece := range []int{4 << 10, mostInMemory, 3 * mostInMemory} {
			s, err := spool(plain, func(w io.Writer) error {
				for rest := text[:size]; len(rest) > 0; rest = rest[min(piece, len(rest)):] {
					if _, err := w.Write(rest[:min(piece, len(rest))]); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(io.NewSectionReader(s.bytes, 0, s.size))
			if err != nil || !bytes.Equal(got, text[:size]) {
				t.Errorf("%d bytes by %d: %d are read, or others: %v", size, piece, len(got), err)
			}
			if inFile := s.file != nil; inFile != (size > mostInMemory) {
				t.Errorf("%d bytes by %d: in a file: %v", size, piece, inFile)
			}
			if err := s.close(); err != nil {
				t.Error(err)
			}
		}
	}
}
