package sessionfmt

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"time"

	"ctxtool/sessionfmt/jsonl"
)

// Reasons for refusing to append, for errors.Is.
var (
	ErrTorn    = errors.New("torn tail")                     // the last line has no newline
	ErrTooNew  = errors.New("format too new")                // its version is above 3
	ErrChanged = errors.New("has changed since it was read") // opening the session again helps
)

// AppendOptions configure Append. The zero value is valid.
type AppendOptions struct {
	Who  string        // the command's name, shown to processes that wait for the lock; ctxtool if empty
	Wait time.Duration // how long to wait for the lock; 5 s if 0
	Held bool          // the caller already holds the lock
}

// An appendFile is the part of *os.File that Append uses, so that tests can make any write or sync fail. Write
// appends.
type appendFile interface {
	io.ReaderAt
	io.Writer
	Stat() (os.FileInfo, error)
	Truncate(size int64) error
	Sync() error
}

// A diskFile is a file that its Disk makes durable, which tests can replace.
type diskFile struct {
	*os.File
	disk Disk
}

func (f diskFile) Sync() error { return f.disk.sync(f.File) }

// Append adds the batch to the session's file, with one write and one sync, under the lock, and
// only if the file is unchanged since it was read. Existing bytes are never changed. It refuses
// a file that pi would not open, new entries that pi would not accept, and a file whose last
// line is incomplete. If the write or the sync fails, it removes the new bytes, and the error
// reports whether that was possible. Every error is an *Error.
//
// The Session does not know the new entries. Open it again to append more. Appending an empty
// batch does nothing.
func (s *Session) Append(b *Batch, opt AppendOptions) error {
	if b.Len() == 0 {
		return nil
	}
	if err := s.refuse(b); err != nil {
		return s.at(err)
	}
	disk := s.src.disk
	if !opt.Held {
		unlock, err := opt.lock(disk, s.Name)
		if err != nil {
			return err
		}
		defer unlock()
	}
	f, err := os.OpenFile(disk.Path(s.Name), os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return s.at(err)
	}
	defer f.Close() // the sync has reported any error
	if err = s.unchanged(f); err == nil {
		err = appendTo(diskFile{f, disk}, s.src.size, b.lines)
	}
	return s.at(err)
}

// lock takes the lock of the named session, unless the caller holds it.
func (o AppendOptions) lock(disk Disk, name string) (unlock func(), err error) {
	if o.Who == "" {
		o.Who = "ctxtool"
	}
	if o.Wait == 0 {
		o.Wait = 5 * time.Second
	}
	return disk.Lock(name, o.Who, o.Wait)
}

// at adds the session's name to an error that has no position yet.
func (s *Session) at(err error) error { return atFile(s.Name, err) }

// atFile adds a file name to an error that has no position yet.
func atFile(name string, err error) error {
	var placed *Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &placed):
		return &Error{Pos: Pos{File: name}, Err: plainPathError(err)}
	case placed.Pos.File == "":
		return &Error{Pos: Pos{File: name, Line: placed.Pos.Line, Entry: placed.Pos.Entry}, Err: placed.Err,
			Hint: placed.Hint}
	}
	return err
}

// An endMark identifies the end of a file: a hash of the bytes from the last record on. Hashing
// the whole file would cost as much as reading it, and other programs only change what follows
// the last record.
type endMark struct {
	from int64 // offset of the last record
	seed maphash.Seed
	hash uint64
}

// markEnd records the end of a file that can be appended to.
func (s *Session) markEnd() (err error) {
	if s.src.info == nil || s.src.packing != plain {
		return nil
	}
	s.end.from, s.end.seed = s.records[len(s.records)-1].off(), maphash.MakeSeed()
	s.end.hash, err = s.end.sum(s.src.bytes, s.src.size)
	return err
}

// sum returns the hash of the file's bytes from the mark up to size.
func (m *endMark) sum(r io.ReaderAt, size int64) (uint64, error) {
	var h maphash.Hash
	h.SetSeed(m.seed)
	buf := make([]byte, max(1, min(size-m.from, 32<<10)))
	n, err := io.CopyBuffer(&h, io.NewSectionReader(r, m.from, size-m.from), buf)
	if err == nil && n < size-m.from {
		err = fmt.Errorf("%w: the file is shorter", ErrChanged)
	}
	return h.Sum64(), err
}

// unchanged returns an error with ErrChanged if f is not the file that was read.
func (s *Session) unchanged(f appendFile) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	how := ""
	switch grown := info.Size() - s.src.size; {
	case !os.SameFile(info, s.src.info):
		how = "it was replaced by another file"
	case grown > 0:
		how = fmt.Sprintf("it is %s longer", plural(int(grown), "byte"))
	case grown < 0:
		how = fmt.Sprintf("it is %s shorter", plural(int(-grown), "byte"))
	default:
		hash, err := s.end.sum(f, s.src.size)
		if err != nil {
			return err
		}
		if hash == s.end.hash {
			return nil
		}
		how = "its last line changed"
	}
	return &Error{Err: fmt.Errorf("%w: %s", ErrChanged, how), Hint: "run the command again"}
}

// appendTo appends lines to f, whose size is start. It never retries a failed sync: the system
// may have dropped the data and then report success.
func appendTo(f appendFile, start int64, lines []byte) error {
	n, err := f.Write(lines)
	if err == nil && n < len(lines) {
		err = io.ErrShortWrite
	}
	failed := "appending"
	if err == nil {
		if err = f.Sync(); err == nil {
			return nil
		}
		failed = "syncing the appended entries"
	}
	cause := fmt.Errorf("%s: %w", failed, plainPathError(err))
	if back := takeBack(f, start, start+int64(n)); back != nil {
		return &Error{
			Err: fmt.Errorf("%w; removing them again: %w: there may be a %w at offset %d", cause, plainPathError(back),
				ErrTorn, start),
			Hint: "run ctxtool repair",
		}
	}
	return &Error{Err: fmt.Errorf("%w: the file is unchanged", cause),
		Hint: "check the disk, and run the command again"}
}

// takeBack truncates the file to remove what was appended, unless another process has appended
// since. Its sync is for the truncation, not a retry of the failed one.
func takeBack(f appendFile, start, end int64) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case info.Size() == start:
		return nil
	case info.Size() != end:
		return fmt.Errorf("it has %d bytes, expected %d: another process has written to it", info.Size(), end)
	}
	if err := f.Truncate(start); err != nil {
		return err
	}
	return f.Sync()
}

// refuse returns why nothing can be appended to the session, or why this batch cannot.
func (s *Session) refuse(b *Batch) error {
	const whole = "write the session with the new entries elsewhere: -o FILE"
	switch {
	case s.dialect != nil:
		return s.Foreign()
	case s.src.packing != plain:
		return &Error{Err: errors.New("cannot append to a compressed file"), Hint: whole}
	case s.src.info == nil:
		return &Error{Err: errors.New("cannot append to a stream"), Hint: whole}
	case !s.src.info.Mode().IsRegular():
		return &Error{Err: errNotRegular, Hint: whole}
	case s.Coverage.Partial:
		return errors.New("only its end was read: new ids may be in use")
	case b.s != s:
		return errors.New("the entries were made for another session")
	}
	if err := s.unchanged(s.src.file); err != nil { // the checks below read the file
		return err
	}
	return s.refuseShape(b)
}

// refuseShape returns why the batch cannot follow the session's entries, whatever the file looks like now.
func (s *Session) refuseShape(b *Batch) error {
	for _, sound := range []func() error{s.refuseVersion, s.refuseHeader, s.refuseTail} {
		if err := sound(); err != nil {
			return err
		}
	}
	return b.err
}

// refuseHeader returns why pi would not open the file (docs/session-format.md 1.1).
func (s *Session) refuseHeader() error {
	why := ""
	switch {
	case s.header < 0:
		why = "it has no session header"
	case s.header > 0:
		why = "its session header is not the first record"
	default:
		head, err := s.NewReader().Line(s.header)
		if err != nil {
			return err
		}
		mark := make([]byte, min(len(jsonl.BOM), int(s.src.size)))
		if err := readFullAt(s.src.bytes, mark, 0); err != nil {
			return err
		}
		if !head.Get("id").IsString() {
			why = "its header's id is not a string"
		} else if s.records[0].off() == int64(len(jsonl.BOM)) && string(mark) == jsonl.BOM {
			why = "it starts with a byte order mark"
		}
	}
	if why == "" {
		return nil
	}
	return &Error{Err: fmt.Errorf("pi refuses the file: %s", why), Hint: "run ctxtool repair"}
}

func (s *Session) refuseVersion() error {
	switch {
	case s.dialect != nil:
		return s.Foreign()
	case s.Version > 3:
		return &Error{Err: fmt.Errorf("%w: version %d, the latest supported is 3", ErrTooNew, s.Version),
			Hint: "a newer ctxtool may support it"}
	case s.Version < 2:
		return &Error{Err: errors.New("the format is version 1, whose entries have no ids"),
			Hint: "ctxtool migrate " + s.Name + " --write upgrades it"}
	}
	return nil
}

// refuseTail returns an error with ErrTorn and the line's offset if the last line is
// incomplete, since an entry appended to it would be lost with it.
func (s *Session) refuseTail() error {
	var buf [4 << 10]byte
	for end := s.src.size; end > 0; {
		part := buf[:min(int64(len(buf)), end)]
		end -= int64(len(part))
		if err := readFullAt(s.src.bytes, part, end); err != nil {
			return err
		}
		nl := bytes.LastIndexByte(part, '\n')
		at := end + int64(nl) + 1
		if at == s.src.size {
			return nil
		}
		if nl >= 0 || end == 0 {
			return &Error{Err: fmt.Errorf("%w at offset %d: the last line has no newline", ErrTorn, at),
				Hint: "run ctxtool repair"}
		}
	}
	return nil
}

// refuseParent returns why no entry can have record i as its parent.
func (s *Session) refuseParent(i int) error {
	r := &s.records[i]
	why := ""
	switch {
	case !r.kind.IsEntry():
		why = "it is not an entry, so no entry can follow it"
	case len(s.idOf(i)) == 0:
		why = "it has no id, so no entry can follow it"
	case r.flags&flagShadowed != 0:
		why = fmt.Sprintf("line %d has the same id, so new entries would follow that one", s.Line(s.withID(s.idOf(i))))
	default:
		return nil
	}
	return &Error{Pos: s.Pos(i), Err: errors.New(why), Hint: "run ctxtool repair"}
}
