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

// A beside is a document that belongs to the one of a session, as it was when it was read.
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

// Beside returns the documents beside one that is a session's own, each on a line, as far as they can be read.
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

// Owned returns the name of the session's own document that one belongs to, and its dialect, nil for none.
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

// calls returns what stands for a file's name in messages.
func (o Options) calls(name string) string {
	if o.Called != nil {
		return o.Called(name)
	}
	return name
}

// A damage is why a document cannot be read, with the code of its finding.
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

// notThere returns fs.ErrNotExist if an error says so.
func notThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fs.ErrNotExist
	}
	return nil
}

// oneDocument returns the object that a file is, on one line.
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

// partsChanged returns an error with ErrChanged if a document was written, or came or went, since it was read.
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

// differs reports whether a file was written to.
func differs(a, b fs.FileInfo) bool { return a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) }

// A watched reads a file that its program rewrites where it is: never bytes of two versions.
type watched struct {
	*os.File
	was fs.FileInfo
}

// ReadAt is io.ReaderAt's. Its error is ErrChanged once the file was written to.
func (w watched) ReadAt(p []byte, off int64) (n int, err error) {
	n, err = w.File.ReadAt(p, off)
	if now, bad := w.File.Stat(); bad == nil && differs(now, w.was) {
		return 0, &Error{Err: errWritten, Hint: "run the command again"}
	}
	return n, err
}

// documentEnd ends the names of documents, which programs rewrite.
const documentEnd = ".json"

// watch makes the source that of a file which may be rewritten.
func (s *source) watch(name string) {
	if s.file != nil && s.info != nil && s.packing == plain && filepath.Ext(name) == documentEnd {
		s.bytes = watched{s.file, s.info}
	}
}

// How often a document is opened that is being rewritten, the time between, and how long after it was written to it is
// taken for that if it seems cut off.
const (
	mostOpened = 5
	rewriting  = 20 * time.Millisecond
	recently   = time.Second
)

// unsettled is the error of a document that was read while it was rewritten.
type unsettled struct{ error }

// unsettled reports whether a document that was read, with an error or without, seems to be half of what it is about
// to be.
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
