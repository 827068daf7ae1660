package sessionfmt

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// A source is the bytes of a session, readable at any offset.
type source struct {
	file    *os.File
	size    int64
	info    os.FileInfo // of the file that has the session's name; nil for standard input and streams
	packing packing     // how that file is compressed
	temp    string      // a temporary file that still has to be removed
}

func (s *source) close() error {
	err := s.file.Close()
	if s.temp != "" {
		os.Remove(s.temp)
	}
	return err
}

// openSource opens a session file, or standard input for "-". Compressed input
// is told by its first bytes and unpacked to a temporary file that has no name;
// so is standard input, unless it is a plain file already.
func openSource(name string, stdin *os.File) (*source, error) {
	f := stdin
	if name != "-" {
		var err error
		if f, err = os.Open(name); err != nil {
			return nil, plainPathError(err)
		}
	}
	src, err := readySource(f)
	if name == "-" {
		return src, err
	}
	if err == nil {
		if src.info, err = f.Stat(); err != nil {
			src.close()
		}
	}
	if err != nil || src.file != f {
		f.Close()
	}
	return src, err
}

// plainPathError drops the operation and the path, which the caller states.
func plainPathError(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}

func readySource(f *os.File) (*source, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, plainPathError(err)
	}
	if info.IsDir() {
		return nil, errors.New("is a directory")
	}
	seekable := info.Mode().IsRegular()
	if seekable {
		if at, err := f.Seek(0, io.SeekCurrent); err != nil || at != 0 {
			seekable = false // a redirected input that somebody has read from
		}
	}
	var magic [4]byte
	n, err := io.ReadFull(f, magic[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, plainPathError(err)
	}
	in := io.MultiReader(bytes.NewReader(magic[:n]), f)
	switch {
	case bytes.HasPrefix(magic[:n], []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, labelled("gzip", err)
		}
		src, err := spool(z, gzipped)
		return src, labelled("gzip", err)
	case bytes.Equal(magic[:n], []byte{0x28, 0xb5, 0x2f, 0xfd}):
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
		if err != nil {
			return nil, labelled("zstd", err)
		}
		defer z.Close()
		src, err := spool(z, zstandard)
		return src, labelled("zstd", err)
	case seekable:
		return &source{file: f, size: info.Size()}, nil
	}
	return spool(in, plain)
}

// labelled names the compression that failed, and says where the data breaks off
// what the libraries call an unexpected end.
func labelled(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		return fmt.Errorf("%s: the compressed data breaks off: the file is not whole", name)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// spool copies r to a temporary file and removes its name at once.
func spool(r io.Reader, p packing) (*source, error) {
	tmp, err := os.CreateTemp("", "ctxtool-*")
	if err != nil {
		return nil, err
	}
	s := &source{file: tmp, packing: p}
	if os.Remove(tmp.Name()) != nil { // not every system lets go of an open file
		s.temp = tmp.Name()
	}
	if s.size, err = io.Copy(tmp, r); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}
