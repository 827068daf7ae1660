package sessionfmt

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"ctxtool/sessionfmt/jsonl"
)

// ErrTail is the error if a session cannot be read from its end. Use Open instead.
var ErrTail = errors.New("cannot be read from its end")

// A Need is what has to be known of a path in addition to the entries that make the context of
// its leaf.
type Need uint8

// The needs.
const (
	NeedModel    Need = 1 << iota // the last model set on the path
	NeedThinking                  // the last thinking level
	NeedPath                      // every entry of the path
)

// tailWindow is how many bytes OpenTail reads at first. It doubles with each read.
const tailWindow = 64 << 10

// OpenTail opens the end of a session: it reads backwards from the last entry along its path,
// until it has what the leaf's context needs by pi's rules. The result holds only those
// entries, without line numbers. It does not detect duplicate ids, or anything in skipped
// lines. The error is ErrTail if the file does not allow it: an old version, a damaged header,
// or a parent after its child.
func OpenTail(name string, need Need, opt Options) (*Session, error) {
	src, err := openSource(name, opt)
	if err != nil {
		return nil, inFile(name, err)
	}
	s := &Session{Name: name, src: src, header: -1, leaf: -1}
	s.Coverage.Partial = true
	t := &tail{s: s, need: need, x: &indexer{src: src, head: jsonl.NewHeadReader(jsonl.Pick{})}}
	if err := t.read(); err != nil {
		src.close()
		return nil, &Error{Pos: Pos{File: name}, Err: err}
	}
	s.records, s.ids, s.found = t.end.records, t.end.ids, t.end.findings
	slices.Reverse(s.records)
	s.table = newIDTable(len(s.records))
	s.indexIDs(0)
	s.link(0)
	s.leaf = len(s.records) - 1
	s.Findings = s.found.all()
	return s, nil
}

// A tail finds the entries of a path backwards from its leaf.
type tail struct {
	s    *Session
	need Need
	x    *indexer
	end  unit // the entries found, last one first

	want     []byte // the id of the next entry; nil until the leaf is found
	found    bool   // whether the leaf has been found
	cut      bool   // whether the newest compaction has been found
	keeps    string // the id of its first kept entry, empty once that is found
	model    bool
	thinking bool
	done     bool
}

func (t *tail) read() error {
	if err := t.header(); err != nil {
		return err
	}
	window := int64(tailWindow)
	buf := []byte(nil)
	for hi := t.s.src.size; hi > 0 && !t.done; {
		lo := max(0, hi-window)
		buf = slices.Grow(buf[:0], int(hi-lo))[:hi-lo]
		if err := readFullAt(t.s.src.bytes, buf, lo); err != nil {
			return err
		}
		t.s.Coverage.Read += hi - lo
		first := 0 // offset of the first complete line
		if lo > 0 {
			if first = bytes.IndexByte(buf, '\n') + 1; first == 0 {
				window *= 2 // a line longer than the window
				continue
			}
		}
		if err := t.lines(buf[first:], lo+int64(first)); err != nil {
			return err
		}
		hi = lo + int64(first)
		window = min(2*window, unitSize)
	}
	if !t.done && len(t.want) > 0 {
		return fmt.Errorf("%w: the parent %q of an entry does not come before it", ErrTail, Quote(idString(t.want)))
	}
	return nil
}

// header checks the first line, which must be a header of version 3 or later.
func (t *tail) header() error {
	buf := make([]byte, min(t.s.src.size, tailWindow))
	if err := readFullAt(t.s.src.bytes, buf, 0); err != nil {
		return err
	}
	t.s.Coverage.Read += int64(len(buf))
	line, _, _ := bytes.Cut(buf, []byte("\n"))
	h, bad := t.x.head.Read(line)
	if bad != nil || h.Kind != jsonl.Header || !h.ID.IsString() {
		return fmt.Errorf("%w: its first line is not a session header", ErrTail)
	}
	version, ok := h.Line.Get("version").Version()
	if !ok || version < 3 {
		return fmt.Errorf("%w: its format version is older than 3", ErrTail)
	}
	t.s.Version = version
	return nil
}

// lines reads the lines of buf, which starts at off, last one first.
func (t *tail) lines(buf []byte, off int64) error {
	for end := len(buf); end > 0 && !t.done; {
		start := bytes.LastIndexByte(buf[:end-1], '\n') + 1
		line, closed := bytes.CutSuffix(buf[start:end], []byte("\n"))
		if err := t.line(line, off+int64(start), !closed); err != nil {
			return err
		}
		end = start
	}
	return nil
}

// line adds the line if it is the next entry of the path. Once the leaf is found, it skips
// others by their first bytes. open reports whether no newline follows it.
func (t *tail) line(line []byte, off int64, open bool) error {
	if t.found {
		h, ok := t.x.head.Prefix(line)
		if !ok {
			var bad *jsonl.SyntaxError
			if h, bad = t.x.head.Read(line); bad != nil {
				return nil
			}
		}
		if !t.wanted(h.ID) {
			return nil
		}
	}
	u, n := &t.end, len(t.end.records)
	h := t.x.add(u, line, off, open)
	if len(u.records) == n {
		return nil
	}
	rec := u.records[n]
	if !rec.kind.IsEntry() {
		u.records = u.records[:n]
		if rec.kind == jsonl.Scalar && !t.found {
			u.find("scalar-leaf", 0, scalarLeaf)
		}
		return nil
	}
	t.found = true
	t.want = idAt(u.ids, rec.parent)
	if id := idAt(u.ids, rec.id); len(id) > 0 && bytes.Equal(t.want, id) {
		return fmt.Errorf("%w: an entry is its own parent", ErrTail)
	}
	t.note(h)
	return nil
}

func (t *tail) wanted(id jsonl.Value) bool {
	return id.Is(string(t.want)) || len(t.want) > 0 && t.want[0] == 0 && string(id) == string(t.want[1:])
}

// note records what the entry resolves, and whether anything is left to find.
func (t *tail) note(h *jsonl.Picked) {
	switch h.Kind {
	case jsonl.ModelChange, jsonl.Assistant:
		t.model = true
	case jsonl.ThinkingChange:
		t.thinking = true
	case jsonl.Compaction, jsonl.Reset:
		if !t.cut {
			t.cut = true
			kept := h.Line.Get("firstKeptEntryId")
			if t.keeps = kept.Text(); kept.IsNumber() {
				t.keeps = "\x00" // read the whole path, then find its place
			}
		}
	}
	if t.keeps != "" && h.ID.Is(t.keeps) {
		t.keeps = ""
	}
	enough := t.cut && t.keeps == "" && t.need&NeedPath == 0 &&
		(t.model || t.need&NeedModel == 0) && (t.thinking || t.need&NeedThinking == 0)
	t.done = enough || len(t.want) == 0
}
