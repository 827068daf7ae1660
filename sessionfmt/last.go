package sessionfmt

import (
	"bytes"
	"io"

	"ctxtool/sessionfmt/dialect"
)

// OpenLast is like Open for the first line of a session and those that begin in its last bytes.
// Entries before these are missing, as are files that the session continues, so that only what
// the last entries say themselves can be relied on. Their line numbers are not those of the file.
// A session that is one document is read whole.
func OpenLast(name string, size int64, opt Options) (*Session, error) {
	src, err := openSource(name, opt)
	if err != nil {
		return nil, inFile(name, err)
	}
	first, off := firstLine(src)
	if src.mayBeDocument(first) {
		src.close()
		return Open(name, opt)
	}
	s := &Session{Name: name, src: src, first: dialect.Span{Off: off, Size: uint32(len(first))}}
	for _, d := range dialects {
		if first != nil && d.Sniff(first) {
			s.dialect = d
			break
		}
	}
	head, err := src.lineEnd(0)
	if err == nil && src.size-size > head {
		var from int64
		from, err = src.lineEnd(src.size - size)
		cut := *src
		cut.bytes = &spliced{
			parts: []io.ReaderAt{io.NewSectionReader(src.bytes, 0, head), io.NewSectionReader(src.bytes, from, src.size-from)},
			sizes: []int64{head, src.size - from},
		}
		cut.size, s.src = head+src.size-from, &cut
	}
	if err != nil {
		src.close()
		return nil, inFile(name, err)
	}
	s.Coverage.Partial = s.src != src
	if err := s.index(opt); err != nil {
		return nil, err
	}
	return s, nil
}

// lineEnd returns the offset at which the line after an offset begins, the size for none.
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
