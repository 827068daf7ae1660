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

// Why a session is not appended to, where a caller may want to know.
var (
	ErrTorn    = errors.New("torn tail")                     // the last line has no newline
	ErrTooNew  = errors.New("its format is too new")         // its version is above 3
	ErrChanged = errors.New("has changed since it was read") // reading it again helps
)

// AppendOptions say how to append. The zero value is fit for use.
type AppendOptions struct {
	Who  string        // the command, for others who wait for the lock; ctxtool when empty
	Wait time.Duration // for the lock, 5 s when 0
	Held bool          // the caller has the lock
}

// An appendFile is what appending needs of a file: *os.File, or in tests one that
// fails. Write adds to its end.
type appendFile interface {
	io.ReaderAt
	io.Writer
	Stat() (os.FileInfo, error)
	Truncate(size int64) error
	Sync() error
}

// A diskFile is a file that is synced as its disk does it.
type diskFile struct {
	*os.File
	disk Disk
}

func (f diskFile) Sync() error { return f.disk.sync(f.File) }

// Append adds the batch to the session's file: with one write and one sync, under
// the lock, and only if the file is still what was read. Nothing that was there is
// touched. A file that pi would not take, or not take the new entries of, is
// refused; so is one whose last line is not finished. After a write or a sync that
// fails the new bytes are taken back, and the error says whether that was possible.
// Every error is an *Error.
//
// The Session knows nothing of the new entries, and has to be opened again to
// append more. A batch without entries is appended by doing nothing.
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
	defer f.Close() // what it could say has been said by the sync
	if err = s.unchanged(f); err == nil {
		err = appendTo(diskFile{f, disk}, s.src.size, b.lines)
	}
	return s.at(err)
}

// lock takes the lock of the file called name.
func (o AppendOptions) lock(disk Disk, name string) (unlock func(), err error) {
	if o.Who == "" {
		o.Who = "ctxtool"
	}
	if o.Wait == 0 {
		o.Wait = 5 * time.Second
	}
	return disk.Lock(name, o.Who, o.Wait)
}

// at puts an error at the session, unless it has a place already.
func (s *Session) at(err error) error { return atFile(s.Name, err) }

// atFile puts an error at a file, unless it has a place already.
func atFile(name string, err error) error {
	var placed *Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &placed):
		return &Error{Pos: Pos{File: name}, Err: plainPathError(err)}
	case placed.Pos.File == "":
		return &Error{Pos: Pos{File: name, Line: placed.Pos.Line, Entry: placed.Pos.Entry}, Err: placed.Err, Hint: placed.Hint}
	}
	return err
}

// An endMark is what is remembered of a file's end, to know it again: a hash of
// the bytes from the last record on. Comparing those of all the file would cost as
// much as reading it; what is behind the last record is what others change.
type endMark struct {
	from int64 // offset of the last record
	seed maphash.Seed
	hash uint64
}

// markEnd remembers the end of a file that may be appended to.
func (s *Session) markEnd() (err error) {
	if s.src.info == nil || s.src.packing != plain {
		return nil
	}
	s.end.from, s.end.seed = s.records[len(s.records)-1].off, maphash.MakeSeed()
	s.end.hash, err = s.end.sum(s.src.bytes, s.src.size)
	return err
}

// sum is the hash of the file's bytes from the mark up to size.
func (m *endMark) sum(r io.ReaderAt, size int64) (uint64, error) {
	var h maphash.Hash
	h.SetSeed(m.seed)
	buf := make([]byte, max(1, min(size-m.from, 32<<10)))
	n, err := io.CopyBuffer(&h, io.NewSectionReader(r, m.from, size-m.from), buf)
	if err == nil && n < size-m.from {
		err = fmt.Errorf("%w: it is shorter", ErrChanged)
	}
	return h.Sum64(), err
}

// unchanged says whether f is the file that was read, as it was.
func (s *Session) unchanged(f appendFile) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	how := ""
	switch grown := info.Size() - s.src.size; {
	case !os.SameFile(info, s.src.info):
		how = "another file has its name"
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
		how = "its last line is another one"
	}
	return &Error{Err: fmt.Errorf("%w: %s", ErrChanged, how), Hint: "run the command again, on what the file is now"}
}

// appendTo adds lines to f, whose size is start. A sync that fails is never tried
// again: the system may have dropped what it could not write, and then says that
// all is well.
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
		failed = "syncing what was appended"
	}
	cause := fmt.Errorf("%s: %w", failed, plainPathError(err))
	if back := takeBack(f, start, start+int64(n)); back != nil {
		return &Error{
			Err:  fmt.Errorf("%w; taking it back: %w: there may be a %w at offset %d", cause, plainPathError(back), ErrTorn, start),
			Hint: "ctxtool repair mends it",
		}
	}
	return &Error{Err: fmt.Errorf("%w: the file is as it was", cause), Hint: "see to the disk, and run the command again"}
}

// takeBack cuts what was appended off again, if nobody has appended to the file
// since: then what would be cut off might be theirs. Its sync is that of the cut, not
// another try at what failed before.
func takeBack(f appendFile, start, end int64) error {
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case info.Size() == start:
		return nil
	case info.Size() != end:
		return fmt.Errorf("it is %d bytes long, not %d: somebody else has written to it", info.Size(), end)
	}
	if err := f.Truncate(start); err != nil {
		return err
	}
	return f.Sync()
}

// refuse says why nothing can be appended to the session, or not this batch.
func (s *Session) refuse(b *Batch) error {
	const whole = "write the session with the new entries elsewhere: -o FILE"
	switch {
	case s.dialect != nil:
		return s.Foreign()
	case s.src.packing != plain:
		return &Error{Err: errors.New("is compressed: only plain files are appended to"), Hint: whole}
	case s.src.info == nil:
		return &Error{Err: errors.New("is a stream: only files are appended to"), Hint: whole}
	case !s.src.info.Mode().IsRegular():
		return &Error{Err: errNotRegular, Hint: whole}
	case s.Coverage.Partial:
		return errors.New("only its end was read: ids may be in use")
	case b.s != s:
		return errors.New("the entries were made for another session")
	}
	if err := s.unchanged(s.src.file); err != nil { // what follows reads it
		return err
	}
	return s.refuseShape(b)
}

// refuseShape says why entries cannot follow those of the session.
func (s *Session) refuseShape(b *Batch) error {
	for _, sound := range []func() error{s.refuseVersion, s.refuseHeader, s.refuseTail} {
		if err := sound(); err != nil {
			return err
		}
	}
	return b.err
}

// refuseHeader says why pi would not open the file (docs/session-format.md 1.1).
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
			why = "its header's id is no string"
		} else if s.records[0].off == int64(len(jsonl.BOM)) && string(mark) == jsonl.BOM {
			why = "it starts with a byte order mark"
		}
	}
	if why == "" {
		return nil
	}
	return &Error{Err: fmt.Errorf("pi refuses the file: %s", why), Hint: "ctxtool repair mends it"}
}

func (s *Session) refuseVersion() error {
	switch {
	case s.dialect != nil:
		return s.Foreign()
	case s.Version > 3:
		return &Error{Err: fmt.Errorf("%w: version %d, and 3 is the last one known", ErrTooNew, s.Version),
			Hint: "a newer ctxtool may know it"}
	case s.Version < 2:
		return &Error{Err: errors.New("its format is version 1, whose entries have no ids to follow"),
			Hint: "ctxtool migrate gives the file today's shape"}
	}
	return nil
}

// refuseTail reports that the last line is not finished: what is appended to it would
// be lost together with it. The offset is that of the line.
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
				Hint: "ctxtool repair mends it"}
		}
	}
	return nil
}

// refuseParent says why no entry can follow record i.
func (s *Session) refuseParent(i int) error {
	r := &s.records[i]
	why := ""
	switch {
	case !r.kind.IsEntry():
		why = "it is no entry, and no other can follow it"
	case len(s.idOf(i)) == 0:
		why = "it has no id, and no other can follow it"
	case r.flags&flagShadowed != 0:
		why = fmt.Sprintf("line %d has the same id, and what follows would follow that", s.Line(int(*s.slot(s.idOf(i)))-1))
	default:
		return nil
	}
	return &Error{Pos: s.Pos(i), Err: errors.New(why), Hint: "ctxtool repair mends it"}
}
