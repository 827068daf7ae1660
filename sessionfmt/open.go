package sessionfmt

import (
	"bytes"
	"errors"
	"io"
	"os"
	"time"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A name becomes a session in three steps. Each knows what the others need not:
//
//	fetch     where the bytes are: in a file, compressed or not; standard input; rows of a database
//	identify  whose format they have, by the first object, or by the document that the file is
//	join      which other files have parts of the session: documents beside it, sessions that it continues
//
// The result is a source, whose bytes can be read at any offset, and an identity. The index and the
// readers use only these.

// Open opens and indexes the session file with that name, or standard input for "-". It
// validates every line. Damage is skipped and listed in Findings. Only input that cannot be
// read at all, or is not a session, is an error.
func Open(name string, opt Options) (s *Session, err error) {
	for range mostOpened - 1 {
		s, err = opt.open(name)
		if _, again := errors.AsType[unsettled](err); !again {
			return s, err
		}
		time.Sleep(rewriting)
	}
	opt.asItIs = true
	return opt.open(name)
}

// OpenReader is like Open for a session in r; name is for messages. It does not call Opened.
func OpenReader(name string, r io.Reader, opt Options) (*Session, error) {
	src, err := through(plain, r, opt.Through)
	if err != nil {
		return nil, atFile(name, err)
	}
	opt.Opened = nil
	return opt.openSource(name, src)
}

func (o Options) open(name string) (*Session, error) {
	src, err := o.fetch(name)
	if err != nil {
		return nil, atFile(name, err)
	}
	return o.openSource(name, src)
}

// openSource makes a session of the bytes of its own file.
func (o Options) openSource(name string, src *source) (*Session, error) {
	id, first, err := src.identify(name)
	if err == nil {
		src, err = id.join(name, src, first, o)
	}
	s := o.newSession(name, src, id)
	if err == nil {
		s.noteFiles(o)
		s.copied = s.findCopied(first, o)
		err = s.index(o)
	}
	if !o.asItIs && s.unsettled(err) {
		err = unsettled{err}
	}
	if err == nil {
		err = s.visit(o)
	}
	if err != nil {
		s.src.close()
		return nil, atFile(name, err)
	}
	if o.Opened != nil {
		o.Opened(s)
	}
	return s, nil
}

// fetch returns the bytes that a name leads to, after the passes of Through.
func (o Options) fetch(name string) (*source, error) {
	src, err := o.Disk.fetch(name, o.stdin())
	if err != nil {
		return nil, err
	}
	if o.Through != nil {
		changed, err := through(src.packing, src.plain(), o.Through)
		src.close()
		if err != nil {
			return nil, err
		}
		changed.broken, changed.trails = src.broken, src.trails
		src = changed
	}
	src.stoppable(o.Disk)
	return src, nil
}

// fetch returns the bytes that a name leads to: those of a file, of stdin for "-", or the rows of a
// session as lines. DATABASE/ID names such a session; the name of the database does if it has one only.
func (d Disk) fetch(name string, stdin *os.File) (*source, error) {
	src, err := d.fetchFile(name, stdin)
	if err != nil {
		if file, id := inDatabase(d, name); id != "" && IsDatabase(d, file) {
			return d.fetchRows(file, id)
		}
		return nil, err
	}
	if !isDatabase(src.bytes) {
		return src, nil
	}
	src.close()
	return d.fetchRows(name, "")
}

// An identity is whose format a session has. Its zero value is pi's.
type identity struct {
	dialect  *dialect.Dialect // nil for pi
	first    dialect.Span     // another agent's first object
	doc      *document        // that the file is, nil for lines
	owner    string           // see Session.Owner
	original bool             // the header names no session that it was copied from
}

// identify returns the identity of a session, and its first object: of a document, the fields that
// tell whose it is.
func (s *source) identify(name string) (id identity, first jsonl.Value, err error) {
	first, off := firstLine(s)
	if id.doc, id.dialect, err = s.document(first); id.doc != nil {
		first = id.doc.head
	} else {
		id.dialect = Sniff(first)
		id.first = dialect.Span{Off: off, Size: uint32(len(first))}
	}
	if id.dialect != nil {
		id.owner = id.dialect.OwnerOf(name, first)
	} else {
		id.original = first.Get("type").Is("session") && !first.Get("parentSession").Truthy()
	}
	return id, first, err
}

// Sniff returns the format of a session with that first line, nil for pi's.
func Sniff(first jsonl.Value) *dialect.Dialect {
	for _, d := range dialects {
		if first != nil && d.Sniff(first) {
			return d
		}
	}
	return nil
}

// mostSniffed is how far into a file its first object is looked for, bytes.
const mostSniffed = 16 << 20

// firstLine returns the first line of a file that is an object, nil if none is near, and where
// it is, bytes.
func firstLine(src *source) (first jsonl.Value, off int64) {
	for size := int64(4 << 10); ; size *= 16 {
		buf := make([]byte, min(size, src.size))
		if readFullAt(src.bytes, buf, 0) != nil {
			return nil, 0
		}
		rest := bytes.TrimPrefix(buf, []byte(jsonl.BOM))
		for whole := true; whole; {
			var line []byte
			at := int64(len(buf) - len(rest))
			if line, rest, whole = bytes.Cut(rest, []byte{'\n'}); !whole && size < src.size {
				break
			}
			if v, err := jsonl.ParseValue(bytes.Trim(line, "\x00")); err == nil && v.IsObject() {
				return v, at + int64(bytes.IndexByte(line, '{'))
			}
		}
		most := int64(mostSniffed)
		if beginsDocument(buf) {
			most = mostSniffed >> 8
		}
		if size >= min(src.size, most) || bytes.HasPrefix(buf, []byte(`{"type":"session",`)) {
			return nil, 0
		}
	}
}

// join returns the bytes of a session, whose own file has the bytes own, with those parts of it that
// other files have. first is its first object.
func (id *identity) join(name string, own *source, first jsonl.Value, opt Options) (*source, error) {
	parts, err := id.besides(name, own, opt)
	if err != nil {
		return own, err
	}
	bases, before, err := id.bases(name, first, opt)
	parts = append(parts, bases...)
	if err != nil {
		closeParts(parts)
		return own, err
	}
	if len(parts) == 0 {
		return own, nil
	}
	return own.splice(parts, id.doc != nil, before), nil
}
