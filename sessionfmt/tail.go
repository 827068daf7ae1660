package sessionfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"ctxtool/sessionfmt/jsonl"
)

// ErrTail is the error if a session cannot be read from its end; use Open instead.
var ErrTail = errors.New("cannot be read from its end")

var errNoHeader = fmt.Errorf("%w: its first line is not a session header", ErrTail)

// A Need is what has to be known of a path in addition to the entries that make the context of
// its leaf.
type Need uint8

// Needs can be combined.
const (
	NeedModel    Need = 1 << iota // the last model set on the path
	NeedThinking                  // the last thinking level
	NeedPath                      // every entry of the path
	NeedSize                      // a recorded size of the context, or else every entry
)

// tailWindow is the number of bytes that OpenTail reads at first; tailGrowth is the factor for each further
// attempt.
const (
	tailWindow = 64 << 10
	tailGrowth = 4
)

// OpenTail opens the end of a session, as OpenLast does: as much as the context of the leaf needs under pi's
// rules. It does not detect duplicate ids, or anything in earlier lines. The error is ErrTail if the file does
// not allow it: an old version, a damaged header, or a parent after its child.
func OpenTail(name string, need Need, opt Options) (*Session, error) {
	src, id, err := opt.fetchAlone(name)
	if err != nil {
		return nil, err
	}
	if id.dialect != nil {
		src.close()
		return nil, atFile(name, errNoHeader)
	}
	for size := int64(tailWindow); ; size *= tailGrowth {
		s, err := opt.openLast(name, src, id, size)
		if errors.Is(err, ErrNotSession) {
			return nil, atFile(name, errNoHeader)
		} else if err != nil {
			return nil, err
		}
		path, _ := s.Path(s.leaf)
		enough, err := s.tells(path, need)
		if err != nil {
			src.close()
			return nil, s.at(err)
		}
		if enough {
			s.narrow(path)
			return s, nil
		}
	}
}

// narrow reduces what is known about a session to a path and the last lines, which have no numbers.
func (s *Session) narrow(path []int) {
	on, end := map[int]bool{}, 0
	for _, i := range path {
		end = int(s.records[i].line)
		on[end] = true
	}
	s.Findings = slices.DeleteFunc(s.Findings, func(f Finding) bool {
		return !on[f.Line] && f.Line < end || f.Code == "duplicate-id" // whose text names a line
	})
	for k := range s.Findings {
		s.Findings[k].Line = 0
	}
	for i := range s.records {
		s.records[i].line = 0
	}
	s.Coverage = Coverage{Partial: true, Entries: len(path)}
}

// tells reports whether the end of a session suffices for the context of its leaf, to which the path leads.
func (s *Session) tells(path []int, need Need) (enough bool, err error) {
	faulty := func(code string) bool {
		return slices.ContainsFunc(s.found.list, func(f Finding) bool { return f.Code == code })
	}
	switch {
	case s.header != 0, s.records[0].off() > 0, faulty("header-id"):
		return false, errNoHeader
	case s.Version < 3, faulty("version"):
		return false, fmt.Errorf("%w: its format version is older than 3", ErrTail)
	case s.leaf < 0:
		return !s.Coverage.Partial, nil
	}
	if len(path) == 0 { // the leaf is its own parent
		path = []int{s.leaf}
	}
	for k, i := range path {
		if s.Orphan(i) && !s.Coverage.Partial || s.Parent(i) >= i || k == 0 && s.Parent(i) >= 0 {
			return false, fmt.Errorf("%w: the parent %q of an entry does not come before it", ErrTail,
				Quote(idString(s.parentOf(i))))
		}
	}
	if len(s.parentOf(path[0])) == 0 {
		return true, nil
	}
	cut, changed, r := false, false, s.NewReader()
	for k, i := range slices.Backward(path) {
		if need&NeedSize != 0 && !changed && s.Answers(i) {
			line, err := r.Line(i)
			if err != nil {
				return false, err
			}
			m := line.Get("message").Message()
			if u := m.Usage.Usage(); !m.Failed() && u.Context() > 0 {
				need &^= NeedSize
			}
		}
		switch s.Kind(i) {
		case jsonl.ContextEdit, jsonl.Deletion, jsonl.Transform:
			changed = true
		case jsonl.ModelChange, jsonl.Assistant:
			need &^= NeedModel
		case jsonl.ThinkingChange:
			need &^= NeedThinking
		case jsonl.Compaction, jsonl.Reset:
			changed = true
			if cut {
				continue
			}
			line, err := r.Line(i)
			kept := line.Get("firstKeptEntryId")
			if err != nil || kept.Truthy() && !slices.Contains(path[:k+1], s.FindValue(kept)) {
				return false, err
			}
			cut = true
		}
	}
	return cut && need == 0, nil
}

// OpenLast is like Open for the first line of a session and the lines that begin in its last size bytes.
// Earlier entries are missing, as are files that the session continues: only what the last entries record
// themselves can be relied on. Line numbers are not those of the file. A session that is one document is read
// whole.
func OpenLast(name string, size int64, opt Options) (*Session, error) {
	src, id, err := opt.fetchAlone(name)
	if err != nil {
		return nil, err
	}
	if id.doc != nil {
		s, err := opt.openSource(name, src)
		if _, again := errors.AsType[unsettled](err); again {
			return Open(name, opt)
		}
		return s, err
	}
	return opt.openLast(name, src, id, size)
}

// fetchAlone returns the bytes of a session's own file, and what they are.
func (o Options) fetchAlone(name string) (src *source, id identity, err error) {
	if src, err = o.fetch(name); err != nil {
		return nil, id, atFile(name, err)
	}
	if id, _, err = src.identify(name); err != nil {
		src.close()
	}
	return src, id, atFile(name, err)
}

// openLast is OpenLast for the bytes of a session that is not a document.
func (o Options) openLast(name string, src *source, id identity, size int64) (*Session, error) {
	s := o.newSession(name, src, id)
	head, err := src.lineEnd(0)
	if err == nil && src.size-size > head {
		var from int64
		from, err = src.lineEnd(src.size - size)
		cut := *src
		cut.bytes = &spliced{
			parts: []io.ReaderAt{io.NewSectionReader(src.bytes, 0, head),
				io.NewSectionReader(src.bytes, from, src.size-from)},
			sizes: []int64{head, src.size - from},
		}
		cut.size, cut.own, s.src = head+src.size-from, src, &cut
	}
	if err != nil {
		src.close()
		return nil, atFile(name, err)
	}
	s.Coverage.Partial = s.src != src
	if err = s.index(o); err == nil {
		err = s.visit(o)
	}
	if err != nil {
		s.src.close()
		return nil, atFile(name, err)
	}
	return s, nil
}

// lineEnd returns the offset after the line at an offset; the size of the source if it is the last.
func (s *source) lineEnd(off int64) (int64, error) {
	buf := make([]byte, tailWindow)
	for ; off < s.size; off += int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), s.size-off)]
		if err := readFullAt(s.bytes, buf, off); err != nil {
			return 0, err
		}
		if at := bytes.IndexByte(buf, '\n'); at >= 0 {
			return off + int64(at) + 1, nil
		}
	}
	return s.size, nil
}

// Grow indexes what was appended to the file since it was read, and reports whether that was possible. It is
// not if the file was replaced, is compressed or of an old version, if its last line was incomplete or changed,
// or if a new line affects earlier ones. The session is then invalid and must be opened again. Grow must not be
// called concurrently with other methods.
func (s *Session) Grow() bool {
	size, n := s.src.size, len(s.records)
	if s.dialect != nil || s.src.info == nil || s.src.packing != plain || s.Version < 3 || s.orphans || s.leaf < n-1 {
		return false
	}
	info, err := s.src.disk.Stat(s.Name)
	if err != nil || !os.SameFile(info, s.src.info) || info.Size() < size || s.refuseTail() != nil {
		return false
	}
	if hash, err := s.end.sum(s.src.bytes, size); err != nil || hash != s.end.hash {
		return false
	}
	s.src.size = info.Size()
	if s.scan(s.src, size-1, 1, Options{Times: len(s.times) > 0}, s.merge) != nil {
		return false
	}
	for i := n; i < len(s.records); i++ {
		if id := s.idOf(i); !s.Kind(i).IsEntry() || len(id) > 0 && s.withID(id) >= 0 {
			return false
		}
	}
	s.extend(n)
	return s.markEnd() == nil
}

// extend completes the index for the records from n on, which follow those of a complete index.
func (s *Session) extend(n int) {
	if len(s.records) > len(s.table.slots)/8*7 {
		s.newTable(2*len(s.records), n)
	}
	s.indexIDs(n)
	s.link(n)
	s.leaf = len(s.records) - 1
	s.Findings = s.placed(s.found.all())
}
