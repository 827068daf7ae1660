package sessionfmt

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"os"
)

// A source holds the bytes of a session, readable at any offset.
type source struct {
	bytes   io.ReaderAt
	file    *os.File // to close; nil if they are in memory or of standard input
	size    int64
	info    os.FileInfo // of the session's file; nil for standard input and streams
	packing packing     // how that file is compressed
	temp    string      // a temporary file to remove
	disk    Disk        // where that file is
	instead string      // what the file is instead of lines, empty if it is those
	broken  error       // why the data is incomplete: the compressed file is truncated
	trails  *trailing   // what follows the compressed data, nil for nothing

	own      *source   // the session's own file, nil if this is it; see join
	more     []*source // other files that have parts of the session
	sections []section // where these are in it
}

func (s *source) close() error {
	for _, b := range s.more {
		b.close()
	}
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.temp != "" {
		os.Remove(s.temp)
	}
	return err
}

// stoppable lets the disk end the reading of the source.
func (s *source) stoppable(d Disk) {
	if d.Stop != nil {
		s.bytes = stoppable{s.bytes, d.Stop}
	}
}

// A stoppable reader reads until stop returns an error.
type stoppable struct {
	io.ReaderAt
	stop func() error
}

func (s stoppable) ReadAt(p []byte, off int64) (int, error) {
	if err := s.stop(); err != nil {
		return 0, err
	}
	return s.ReaderAt.ReadAt(p, off)
}

// through returns the output of the passes over r.
func through(p packing, r io.Reader, passes iter.Seq[Pass]) (src *source, err error) {
	if passes == nil {
		return spool(p, copied(r))
	}
	for pass := range passes {
		before := src
		src, err = spool(p, func(w io.Writer) error { return pass(w, r) })
		if before != nil {
			before.close()
		}
		if err != nil {
			return nil, err
		}
		r = src.plain()
	}
	return src, nil
}

func (s *source) plain() io.Reader { return io.NewSectionReader(s.bytes, 0, s.size) }

// fetchFile returns the bytes of a file, or of stdin for "-", which stays open.
func (d Disk) fetchFile(name string, stdin *os.File) (*source, error) {
	if name == "-" {
		src, err := readySource(stdin, d)
		if err == nil && src.file == stdin {
			src.file = nil
			_, err = stdin.Seek(0, io.SeekStart) // a second reading begins where this one did
		}
		return src, err
	}
	f, err := d.Open(name)
	if err != nil {
		return nil, plainPathError(err)
	}
	src, err := readySource(f, d)
	if err == nil {
		src.disk = d
		if src.info, err = f.Stat(); err != nil {
			src.close()
		} else {
			src.watch(name)
		}
	}
	if err != nil || src.file != f {
		f.Close()
	}
	return src, err
}

// plainPathError drops operation and path from an error, since the caller reports them.
func plainPathError(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	return err
}

func readySource(f *os.File, disk Disk) (*source, error) {
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
			seekable = false // redirected input that was partly read before
		}
	}
	p, name, z, err := unpack(f)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	switch {
	case p != plain:
		return unpacked(p, name, z, disk.mostUnpacked(info.Size(), info.Mode().IsRegular()))
	case seekable:
		return &source{bytes: f, file: f, size: info.Size()}, nil
	}
	return spool(plain, copied(z))
}

// PackedEnd is the name suffix of files that zstd compressed.
const PackedEnd = ".zst"

// A Content is the content of a file, decompressed if necessary.
type Content struct {
	*io.SectionReader
	io.Closer
}

// OpenContent opens a regular file at its current size: what is appended later is not part of it.
func (d Disk) OpenContent(name string) (*Content, error) {
	f, err := d.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	src, err := readySource(f, d)
	if err != nil || src.file != f {
		f.Close()
	}
	if err == nil && (src.broken != nil || src.trails != nil) {
		src.close()
		if err = src.broken; err == nil {
			err = src.trails
		}
	}
	if err != nil {
		return nil, err
	}
	return &Content{io.NewSectionReader(src.bytes, 0, src.size), closer(src.close)}, nil
}

type closer func() error

func (c closer) Close() error { return c() }

// copied returns a function that writes the bytes of r.
func copied(r io.Reader) func(w io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.Copy(w, r)
		return err
	}
}

// spool stores the output of write: in memory if it is small, else in a temporary file.
func spool(p packing, write func(w io.Writer) error) (*source, error) {
	t := &temporary{}
	err := write(t)
	s := &source{packing: p, size: t.size, file: t.file, temp: t.left}
	if err != nil {
		s.close()
		return nil, err
	}
	if s.bytes = s.file; s.file == nil {
		s.bytes = bytes.NewReader(t.few)
	}
	return s, nil
}

// mostInMemory is the number of bytes that are kept in memory. Most sessions that are planned, decompressed or
// redacted then need no temporary file.
const mostInMemory = 1 << 20

// A temporary stores what is written to it: in memory up to mostInMemory, then in a file whose
// name is removed immediately.
type temporary struct {
	few  []byte
	file *os.File
	left string // name of the file, if the system cannot remove an open file
	size int64
}

func (t *temporary) Write(p []byte) (n int, err error) {
	defer func() { t.size += int64(n) }()
	switch {
	case t.file != nil:
		return t.file.Write(p)
	case len(t.few)+len(p) <= mostInMemory:
		t.few = append(t.few, p...)
		return len(p), nil
	}
	if t.file, err = os.CreateTemp("", "ctxtool-*"); err != nil {
		return 0, err
	}
	if os.Remove(t.file.Name()) != nil {
		t.left = t.file.Name()
	}
	if _, err = t.file.Write(t.few); err != nil {
		return 0, err
	}
	t.few = nil
	return t.file.Write(p)
}

// readAhead is the number of bytes that a Reader reads at a time when reading in order.
const readAhead = 64 << 10
