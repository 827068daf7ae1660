// Package keep copies sessions into an archive, before their agent deletes them.
//
// An archive is a folder with the folders of agents, as they are in the folder of a user. Each file of
// theirs is one there, packed by zstd; a database is a backup of it. Nothing is deleted: where a session
// has lost something since, what the archive had of it stays as NAME.orig-N.
package keep

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"

	"github.com/klauspost/compress/zstd"
)

// What a file is to an archive.
const (
	New       = "new"
	Grown     = "grown"     // it has all that the archive has, and more
	Rewritten = "rewritten" // it has lost something that the archive has
	Unchanged = "unchanged"
)

// An Archive is a folder of kept sessions.
type Archive struct {
	Disk sessionfmt.Disk
	Dir  string
	Dry  bool // nothing is written
}

// A File is a session's, or a database of sessions.
type File struct {
	Name     string
	Place    string // its name in the archive, without compression
	Database bool
}

// A Copy is the result for one file.
type Copy struct {
	State  string
	Size   int64  // bytes of what was copied
	Packed int64  // of the copy
	Older  string // the name that the older state has now; empty for none
}

// mostTries is how often a file is copied that is rewritten meanwhile.
const mostTries = 3

// Keep copies a file if it has changed since. A copy appears once it was read back, and is the file byte for
// byte.
func (a *Archive) Keep(f File) (c Copy, err error) {
	for range mostTries {
		if c, err = a.try(f); !errors.Is(err, errChanged) {
			return c, err
		}
	}
	return c, &sessionfmt.Error{Pos: sessionfmt.Pos{File: f.Name}, Err: err, Hint: "the next run copies it"}
}

var errChanged = errors.New("it changes while being read")

func (a *Archive) try(f File) (c Copy, err error) {
	name := filepath.Join(a.Dir, Plain(f.Place)+sessionfmt.PackedEnd)
	o := original{File: f, disk: a.Disk}
	if err := o.look(); err != nil {
		return c, err
	}
	had, err := a.Disk.Stat(name)
	kept := err == nil
	if kept && o.mark == markOf(a.Disk, name) {
		return Copy{State: Unchanged, Packed: had.Size()}, nil
	}
	earlier := ""
	if kept {
		earlier = name
	}
	if err = o.open(earlier); err != nil {
		return c, err
	}
	defer o.content.Close()
	c = Copy{State: New, Size: o.content.Size()}
	if kept {
		if c.State, err = o.since(name); err != nil {
			return c, err
		}
	}
	if a.Dry {
		return c, nil
	}
	return c, a.copy(&o, name, &c)
}

// Plain returns the name of a file without that of its compression.
func Plain(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), sessionfmt.PackedEnd)
}

// Encoders and decoders are those of one CPU: files are copied in parallel.
var (
	encoders = sync.Pool{New: func() any {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
		if err != nil {
			panic(err) // the options are constant
		}
		return z
	}}
	buffers = sync.Pool{New: func() any { return new([2][64 << 10]byte) }}
)

// window is how far back the compression looks, bytes: several files are compressed at once.
const window = 1 << 20

// copy writes a copy, reads it back, and gives it its name.
func (a *Archive) copy(o *original, name string, c *Copy) error {
	if err := os.MkdirAll(a.Disk.Path(filepath.Dir(name)), 0o700); err != nil { // sessions hold secrets
		return err
	}
	f, err := a.Disk.Create(name)
	if err != nil {
		return err
	}
	defer f.Abort()
	f.Like(o.info)
	z := encoders.Get().(*zstd.Encoder)
	defer encoders.Put(z)
	z.Reset(f)
	if _, err = io.Copy(z, o.text()); err == nil {
		err = z.Close()
	}
	if err == nil {
		_, err = f.Write(o.mark.frame())
	}
	if err != nil {
		return err
	}
	written, err := f.Written()
	if err != nil {
		return err
	}
	back, err := sessionfmt.Unpack(written)
	if err != nil {
		return err
	}
	defer back.Close()
	if same, err := begins(back, o.text(), true); err != nil || !same {
		return errors.Join(errChanged, err)
	}
	c.Packed = written.Size()
	if c.State == Rewritten {
		c.Older, err = f.CommitKeeping()
		return err
	}
	return f.Commit()
}

// begins reports whether a text begins with another one, or is it if whole.
func begins(text, with io.Reader, whole bool) (bool, error) {
	buf := buffers.Get().(*[2][64 << 10]byte)
	defer buffers.Put(buf)
	for {
		n, err := io.ReadFull(with, buf[0][:])
		end := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !end {
			return false, err
		}
		m, err := io.ReadFull(text, buf[1][:n])
		switch {
		case err == io.EOF && n > 0, err == io.ErrUnexpectedEOF:
			return false, nil
		case err != nil && err != io.EOF:
			return false, err
		case !bytes.Equal(buf[0][:n], buf[1][:m]):
			return false, nil
		case end && whole:
			_, err := io.ReadFull(text, buf[1][:1])
			return err == io.EOF, nil
		case end:
			return true, nil
		}
	}
}

// A mark tells whether a file has changed since it was copied: a hash of its size, its time and its last
// bytes. A copy ends with it, in a frame that zstd skips.
type mark [sha256.Size]byte

// markTail is how many of the last bytes of a file count.
const markTail = 4 << 10

// markFrame is how a frame begins that zstd skips, with its size.
var markFrame = binary.LittleEndian.AppendUint32([]byte{0x5c, 0x2a, 0x4d, 0x18}, sha256.Size)

func (m mark) frame() []byte { return append(bytes.Clone(markFrame), m[:]...) }

// markOf returns the mark of a copy.
func markOf(disk sessionfmt.Disk, name string) (m mark) {
	f, err := disk.OpenRegular(name)
	if err != nil {
		return m
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return m
	}
	end := make([]byte, len(markFrame)+len(m))
	if _, err = f.ReadAt(end, info.Size()-int64(len(end))); err == nil && bytes.HasPrefix(end, markFrame) {
		copy(m[:], end[len(markFrame):])
	}
	return m
}

// An original is a file that is kept.
type original struct {
	File
	disk    sessionfmt.Disk
	info    fs.FileInfo
	mark    mark
	content *sessionfmt.Content
	less    bool // of a database: it has lost something
}

// look reads what the mark is made of.
func (o *original) look() (err error) {
	f, err := o.disk.OpenRegular(o.Name)
	if err != nil {
		return err
	}
	defer f.Close()
	if o.info, err = f.Stat(); err != nil {
		return err
	}
	h := sha256.New()
	if o.Database {
		fmt.Fprint(h, o.disk.DatabaseState(o.Name))
	} else {
		fmt.Fprintln(h, o.info.Size(), o.info.ModTime().UnixNano())
		tail := min(o.info.Size(), markTail)
		if _, err = io.Copy(h, io.NewSectionReader(f, o.info.Size()-tail, tail)); err != nil {
			return err
		}
	}
	h.Sum(o.mark[:0])
	return nil
}

// open opens what is copied. earlier is the copy that the archive has, empty for none.
func (o *original) open(earlier string) (err error) {
	if !o.Database {
		o.content, err = o.disk.OpenContent(o.Name)
		return err
	}
	b, err := o.disk.BackUp(o.Name, earlier)
	if err == nil {
		o.content, o.less = &b.Content, b.Less
	}
	return err
}

// text returns the content from its beginning.
func (o *original) text() io.Reader { return io.NewSectionReader(o.content, 0, o.content.Size()) }

// since returns what the file is to its copy.
func (o *original) since(name string) (state string, err error) {
	f, err := o.disk.OpenRegular(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	old, err := sessionfmt.Unpack(f)
	if err != nil {
		return Rewritten, nil // the copy is damaged: it stays as it is
	}
	defer old.Close()
	counted := &counter{Reader: old}
	grown, err := begins(o.text(), counted, false)
	switch {
	case err == nil && grown && counted.n == o.content.Size():
		return Unchanged, nil
	case err == nil && grown, o.Database && !o.less:
		return Grown, nil
	case err == nil && strings.HasSuffix(Plain(o.Name), ".json") && o.hasAll(name):
		return Grown, nil
	}
	return Rewritten, nil
}

// hasAll reports whether a document has all entries of its copy: its agent writes it again each time.
func (o *original) hasAll(name string) bool {
	opt := sessionfmt.Options{Disk: o.disk, Workers: 1}
	old, err := sessionfmt.Open(name, opt)
	if err != nil {
		return false
	}
	defer old.Close()
	now, err := sessionfmt.Open(o.Name, opt)
	if err != nil {
		return false
	}
	defer now.Close()
	for i := range old.Len() {
		if old.Kind(i) != jsonl.Header && now.Find(old.ID(i)) < 0 {
			return false
		}
	}
	return true
}

// A counter counts what is read.
type counter struct {
	io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// Schema is that of a Report.
const Schema = "ctxtool/keep/1"

// A Report is what was kept, schema ctxtool/keep/1.
type Report struct {
	Schema  string `json:"schema"`
	Archive string `json:"archive"`          // its folder, as given
	Dry     bool   `json:"dryRun,omitempty"` // nothing was written
	Files   []Row  `json:"files"`            // in the order of their names

	Now time.Time `json:"-"` // when this is
}

// A Row is a file of a session, or a database of sessions.
type Row struct {
	File string `json:"file"` // as it was found
	// `new`, `grown`, `rewritten` (lost content that the archive has), `unchanged`
	State   string `json:"state,omitempty"`
	Size    int64  `json:"size,omitempty"`    // bytes that were copied
	Packed  int64  `json:"packed,omitempty"`  // bytes of the copy
	Older   string `json:"older,omitempty"`   // where the older state of a rewritten one is
	Deletes string `json:"deletes,omitempty"` // when its agent deletes it, at its next start
	Error   string `json:"error,omitempty"`   // why it could not be copied
}

// Deletes returns when an agent deletes a session at its next start, by the agent's settings, the zero time
// for never.
func Deletes(disk sessionfmt.Disk, d *dialect.Dialect, settings string, written time.Time) time.Time {
	if d == nil || d.Days == nil || written.IsZero() {
		return time.Time{}
	}
	var set jsonl.Value
	if data, err := disk.ReadFile(settings); err == nil {
		set, _ = jsonl.ParseValue(data)
	}
	days := d.Days(set)
	if days < 0 {
		return time.Time{}
	}
	return written.Add(time.Duration(days * float64(24*time.Hour)))
}
