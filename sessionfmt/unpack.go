package sessionfmt

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// Magic bytes of compressed data. A skippable zstd frame may have any value in the last four bits.
var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
	skipMagic = []byte{0x50, 0x2a, 0x4d, 0x18}
)

// Unpack returns the decompressed content of a file, or the file itself if it is plain, by its first bytes.
// Other data after the compressed data is an error. Closing the result does not close the file.
func Unpack(r io.Reader) (io.ReadCloser, error) {
	_, _, z, err := unpack(r)
	return z, err
}

// unpack is Unpack, and also returns the compression. Reading the result ends with a *trailing error if other
// data follows the compressed data.
func unpack(r io.Reader) (p packing, name string, z io.ReadCloser, err error) {
	var magic [4]byte
	n, err := io.ReadFull(r, magic[:])
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return plain, "", nil, plainPathError(err)
	}
	in := io.MultiReader(bytes.NewReader(magic[:n]), r)
	switch {
	case bytes.HasPrefix(magic[:n], gzipMagic):
		s := &gzipStreams{in: bufio.NewReader(in)}
		if s.z, err = gzip.NewReader(s.in); err != nil {
			return plain, "", nil, labelled("gzip", err)
		}
		s.z.Multistream(false)
		return gzipped, "gzip", s, nil
	case bytes.Equal(magic[:n], zstdMagic):
		f := &zstdFrames{in: bufio.NewReader(in)}
		f.z, err = zstd.NewReader(readerFunc(f.frames), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(mostMemory))
		if err != nil {
			return plain, "", nil, labelled("zstd", err)
		}
		return zstandard, "zstd", f, nil
	}
	return plain, "", io.NopCloser(in), nil
}

// A trailing error reports other data after the compressed data.
type trailing struct{ bytes int64 }

func (t *trailing) Error() string {
	if t.bytes == 1 {
		return "other data follows the compressed data, 1 byte"
	}
	return fmt.Sprintf("other data follows the compressed data, %d bytes", t.bytes)
}

// trailed returns the error at the end of compressed data: io.EOF, or a *trailing if more follows.
func trailed(in *bufio.Reader) error {
	n, err := io.Copy(io.Discard, in)
	switch {
	case err != nil:
		return err
	case n > 0:
		return &trailing{n}
	}
	return io.EOF
}

// gzipStreams reads gzip data, which may consist of several streams.
type gzipStreams struct {
	in *bufio.Reader
	z  *gzip.Reader
}

// Read implements io.Reader.
func (s *gzipStreams) Read(p []byte) (int, error) {
	n, err := s.z.Read(p)
	if err != io.EOF {
		return n, err
	}
	if head, _ := s.in.Peek(len(gzipMagic)); !bytes.Equal(head, gzipMagic) {
		return n, trailed(s.in)
	}
	if err = s.z.Reset(s.in); err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	s.z.Multistream(false)
	return n, err
}

// Close implements io.Closer.
func (s *gzipStreams) Close() error { return s.z.Close() }

// zstdFrames reads zstd data, which may consist of several frames.
type zstdFrames struct {
	in    *bufio.Reader
	z     *zstd.Decoder
	left  int64 // bytes left in the current part of a frame: its header, or a block
	inner bool  // blocks of the frame follow
	sum   bool  // a checksum follows
	err   error // error of the compressed bytes: the decoder takes a truncated frame for the end
}

// Read implements io.Reader.
func (f *zstdFrames) Read(p []byte) (int, error) {
	n, err := f.z.Read(p)
	switch {
	case err == io.EOF && f.err != nil:
		err = f.err
	case err == io.EOF:
		err = trailed(f.in)
	}
	return n, err
}

// Close implements io.Closer.
func (f *zstdFrames) Close() error {
	f.z.Close()
	return nil
}

type readerFunc func(p []byte) (int, error)

func (r readerFunc) Read(p []byte) (int, error) { return r(p) }

// frames reads the compressed bytes of all frames, and stops at what follows them.
func (f *zstdFrames) frames(p []byte) (n int, err error) {
	defer func() {
		if err != nil && err != io.EOF {
			f.err = err
		}
	}()
	for f.left == 0 {
		next := f.frame
		if f.inner {
			next = f.block
		}
		if err := next(); err != nil {
			return 0, err
		}
	}
	n, err = f.in.Read(p[:min(int64(len(p)), f.left)])
	f.left -= int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// frame begins the next frame. It returns io.EOF if none follows.
func (f *zstdFrames) frame() error {
	head, err := f.in.Peek(zstd.HeaderMaxSize)
	if err != nil && err != io.EOF {
		return err
	}
	magic := head[:min(len(head), len(zstdMagic))]
	skipped := bytes.Clone(magic)
	if len(skipped) > 0 {
		skipped[0] = skipped[0]&0xf0 | skipMagic[0]&0xf
	}
	if len(head) == 0 || !bytes.HasPrefix(zstdMagic, magic) && !bytes.HasPrefix(skipMagic, skipped) {
		return io.EOF
	}
	var h zstd.Header
	if err := h.Decode(head); err != nil {
		return err
	}
	f.left, f.inner, f.sum = int64(h.HeaderSize), !h.Skippable, h.HasCheckSum
	if h.Skippable {
		f.left += int64(h.SkippableSize)
	}
	return nil
}

// block begins the next block of a frame.
func (f *zstdFrames) block() error {
	const header, runLength, checksum = 3, 1, 4
	head, err := f.in.Peek(header)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	is := int64(head[0]) | int64(head[1])<<8 | int64(head[2])<<16
	last, kind, size := is&1 != 0, is>>1&3, is>>3
	if kind == runLength {
		size = 1
	}
	f.left = header + size
	if last {
		f.inner = false
		if f.sum {
			f.left += checksum
		}
	}
	return nil
}

// mostMemory limits the memory of a decoder, bytes.
const mostMemory = 256 << 20

// mostUnpacked returns the limit for a decompressed file, or a session in a database, in bytes. known reports
// whether the size of the file is known.
func (d Disk) mostUnpacked(size int64, known bool) int64 {
	const floor, ceiling = 64 << 20, 8 << 30
	switch {
	case d.MaxSize > 0:
		return d.MaxSize
	case !known:
		return ceiling
	}
	return min(max(100*size, floor), ceiling)
}

// A capped writer fails beyond a limit.
type capped struct {
	io.Writer
	most, left int64
}

func (c *capped) Write(p []byte) (int, error) {
	if c.left -= int64(len(p)); c.left < 0 {
		return 0, &Error{Err: fmt.Errorf("holds more than %d bytes, implausible for its compressed size", c.most),
			Hint: "--max-size sets another limit"}
	}
	return c.Writer.Write(p)
}

// unpacked stores what z decompresses. If the compressed data is truncated, it stores what precedes that.
func unpacked(p packing, name string, z io.Reader, most int64) (*source, error) {
	var broken error
	var trails *trailing
	src, err := spool(p, func(w io.Writer) error {
		n, err := io.Copy(&capped{w, most, most}, z)
		switch { // errors of z; writing to memory never fails
		case n > 0 && errors.Is(err, io.ErrUnexpectedEOF):
			broken, err = labelled(name, err), nil
		case n > 0 && errors.As(err, &trails):
			err = nil
		}
		return err
	})
	if large := (*Error)(nil); errors.As(err, &large) {
		return nil, err
	} else if err != nil {
		return nil, labelled(name, err)
	}
	src.broken, src.trails = broken, trails
	return src, nil
}

// labelled adds the name of the compression to an error, and reports truncated data plainly instead of the
// libraries' unexpected end.
func labelled(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.ErrUnexpectedEOF), err == io.EOF:
		return fmt.Errorf("%s: the compressed data is truncated", name)
	}
	return fmt.Errorf("%s: %w", name, err)
}
