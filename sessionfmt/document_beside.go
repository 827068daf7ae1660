package sessionfmt

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A beside is a document that belongs to a session's own, with its state when it was read.
type beside struct {
	name    string
	info    fs.FileInfo // nil for one that does not exist
	damaged *damage     // why it is left out
}

// besides opens the documents that belong to that of a session, each as a line of its own. Those that
// are damaged are left out.
func (id *identity) besides(name string, own *source, opt Options) (parts []part, err error) {
	if id.doc == nil || own.info == nil {
		return nil, nil // a stream has nothing beside it
	}
	for _, name := range id.dialect.Files.Around(sessionName(name)) {
		b := beside{name: opt.Disk.packed(name)}
		p, err := b.read(opt)
		b.damaged, _ = errors.AsType[*damage](err)
		id.doc.beside = append(id.doc.beside, b)
		switch {
		case err == nil:
			parts = append(parts, p)
		case b.damaged == nil && !errors.Is(err, fs.ErrNotExist):
			closeParts(parts)
			return nil, atFile(b.name, err)
		}
	}
	return parts, nil
}

// half reports whether the document breaks off.
func (b *beside) half() bool { return b.damaged != nil && b.damaged.code == "broken-off" }

// packed returns the name of a file, or of its compression if that exists instead.
func (d Disk) packed(name string) string {
	for _, end := range []string{"", PackedEnd, ".gz"} {
		if d.isRegular(name + end) {
			return name + end
		}
	}
	return name
}

// Beside returns the documents that belong to a session's own, each as one line. Unreadable ones are left out.
func Beside(disk Disk, d *dialect.Dialect, name string) (lines []jsonl.Value) {
	for _, name := range d.Files.Around(sessionName(name)) {
		if src, err := disk.fetchFile(disk.packed(name), nil); err == nil {
			if line, err := oneDocument(src); err == nil {
				lines = append(lines, line)
			}
			src.close()
		}
	}
	return lines
}

// Owned returns the session's own document to which the named one belongs, and its dialect; nil if it belongs
// to none.
func Owned(disk Disk, name string) (d *dialect.Dialect, own string) {
	for _, d := range dialects {
		for _, own := range d.Files.OwnOf(sessionName(name)) {
			if own = disk.packed(own); disk.isRegular(own) {
				return d, own
			}
		}
	}
	return nil, ""
}

// calls returns the name of a file in messages; see Options.Called.
func (o Options) calls(name string) string {
	if o.Called != nil {
		return o.Called(name)
	}
	return name
}

// A damage is the reason why a document cannot be read, with the code of its finding.
type damage struct {
	code string
	err  error
}

func (d *damage) Error() string { return d.err.Error() }

// read returns the document as a line.
func (b *beside) read(opt Options) (part, error) {
	src, err := opt.Disk.fetchFile(b.name, nil)
	if err != nil {
		return part{}, cmp.Or(notThere(err), err)
	}
	defer src.close()
	b.info = src.info
	line, err := oneDocument(src)
	if err != nil {
		return part{}, err
	}
	whole, err := spool(src.packing, func(w io.Writer) error {
		_, err := w.Write(append(line, '\n'))
		return err
	})
	if err == nil && opt.Through != nil {
		before := whole
		whole, err = through(src.packing, before.plain(), opt.Through)
		before.close()
	}
	if err != nil {
		return part{}, err
	}
	return part{name: opt.calls(b.name), src: whole, keep: whole.size, own: true}, nil
}

// notThere returns fs.ErrNotExist for errors that mean it, such as a folder that is a file.
func notThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fs.ErrNotExist
	}
	return nil
}

// oneDocument returns the object that the file consists of, on one line.
func oneDocument(src *source) (jsonl.Value, error) {
	if src.broken != nil {
		return nil, &damage{"broken-off", src.broken}
	}
	if err := jsonl.Room(src.size); err != nil {
		return nil, err
	}
	text := make([]byte, src.size)
	if err := readFullAt(src.bytes, text, 0); err != nil {
		return nil, err
	}
	text = jsonl.Trim(text)
	_, err := jsonl.ParseValue(text)
	switch bad, _ := errors.AsType[*jsonl.SyntaxError](err); {
	case len(text) == 0, bad != nil && bad.Reason == jsonl.BrokenOff:
		return nil, &damage{"broken-off", dialect.ErrTruncated}
	case bad != nil:
		return nil, &damage{"malformed", fmt.Errorf("the document is not JSON: %s", bad.Reason)}
	case !jsonl.Value(text).IsObject():
		return nil, &damage{"malformed", dialect.ErrNoDocument}
	}
	return jsonl.Value(text).AppendOneLine(text[:0]), nil
}

// partsChanged returns ErrChanged if a document was written, created or removed since it was read.
func (s *Session) partsChanged(disk Disk) error {
	for _, b := range s.doc.beside {
		now, err := disk.Stat(b.name)
		switch {
		case err != nil && b.info == nil:
		case err != nil || b.info == nil || !os.SameFile(now, b.info) || differs(now, b.info):
			return &Error{Pos: Pos{File: b.name}, Err: errWritten, Hint: "run the command again"}
		}
	}
	return nil
}

var errWritten = fmt.Errorf("%w: it was written to", ErrChanged)

// differs reports whether a file was written to between two descriptions.
func differs(a, b fs.FileInfo) bool { return a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) }

// A watched reader fails when its file, which the program rewrites in place, changes: it never returns bytes of
// two versions.
type watched struct {
	*os.File
	was fs.FileInfo
}

// ReadAt implements io.ReaderAt. It returns ErrChanged once the file was written to.
func (w watched) ReadAt(p []byte, off int64) (n int, err error) {
	n, err = w.File.ReadAt(p, off)
	if now, bad := w.File.Stat(); bad == nil && differs(now, w.was) {
		return 0, &Error{Err: errWritten, Hint: "run the command again"}
	}
	return n, err
}

// documentEnd is the name suffix of documents, which their programs rewrite in place.
const documentEnd = ".json"

// watch makes the source notice changes if its file can be rewritten in place.
func (s *source) watch(name string) {
	if s.file != nil && s.info != nil && s.packing == plain && filepath.Ext(name) == documentEnd {
		s.bytes = watched{s.file, s.info}
	}
}

// Opening a document that is being rewritten: attempts, the time between them, and the age below which a
// truncated document is taken for one that is still being written.
const (
	mostOpened = 5
	rewriting  = 20 * time.Millisecond
	recently   = time.Second
)

// unsettled is the error for a document that changed while it was read.
type unsettled struct{ error }

// unsettled reports whether a document, read with this error or none, was probably caught in the middle of a
// write.
func (s *Session) unsettled(err error) bool {
	info := s.src.self().info
	if info == nil || filepath.Ext(sessionName(info.Name())) != documentEnd {
		return false
	}
	half := errors.Is(err, ErrNotSession) || s.src.self().size == 0
	if err == nil && s.doc != nil {
		half = errors.Is(s.doc.broken, dialect.ErrTruncated)
		for k := range s.doc.beside {
			half = half || s.doc.beside[k].half()
		}
	}
	return errors.Is(err, ErrChanged) || half && time.Since(info.ModTime()).Abs() < recently
}
