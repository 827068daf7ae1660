package sessionfmt

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// A packing is how a session's file is compressed.
type packing uint8

const (
	plain packing = iota
	gzipped
	zstandard
)

// Replace puts a new file, which write writes, in the place of the session's, and
// keeps the original beside it as kept; see NewFile.commitKeeping. It takes the
// lock, and refuses a file that is no longer what was read. A compressed session is
// compressed again the same way. Every error is an *Error.
func (s *Session) Replace(opt AppendOptions, write func(w io.Writer) error) (kept string, err error) {
	if s.src.info == nil || !s.src.info.Mode().IsRegular() {
		return "", s.at(&Error{Err: errors.New("is a stream: there is no file to put another one in the place of"), Hint: "write it elsewhere: -o FILE"})
	}
	disk := s.src.disk
	unlock, err := opt.lock(disk, s.Name)
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := s.same(); err != nil {
		return "", s.at(err)
	}
	f, err := disk.Create(s.Name)
	if err != nil {
		return "", err
	}
	defer f.Abort()
	if err := s.Pack(f, write); err != nil {
		return "", s.at(err)
	}
	if err := s.same(); err != nil { // writing may have taken a while
		return "", s.at(err)
	}
	return f.commitKeeping()
}

// same says whether the file that has the session's name is still the one that was
// read, as it was.
func (s *Session) same() error {
	f, err := s.src.disk.Open(s.Name)
	if err != nil {
		return err
	}
	defer f.Close()
	if s.src.packing == plain {
		return s.unchanged(f)
	}
	info, err := f.Stat()
	if err == nil && !(os.SameFile(info, s.src.info) && info.Size() == s.src.info.Size() && info.ModTime().Equal(s.src.info.ModTime())) {
		err = &Error{Err: fmt.Errorf("%w: it was written to", ErrChanged), Hint: "run the command again, on what the file is now"}
	}
	return err
}

// Pack hands write a writer to w that compresses as the session's file is, or not
// at all where that is plain.
func (s *Session) Pack(w io.Writer, write func(w io.Writer) error) error {
	var z io.WriteCloser
	switch s.src.packing {
	case plain:
		return write(w)
	case gzipped:
		z = gzip.NewWriter(w)
	case zstandard:
		enc, err := zstd.NewWriter(w)
		if err != nil {
			return err
		}
		z = enc
	}
	b := bufio.NewWriterSize(z, 64<<10)
	err := write(b)
	if err == nil {
		err = b.Flush()
	}
	return errors.Join(err, z.Close())
}
