package sessionfmt

import "os"

// Grow indexes what was appended to the file since it was read, and reports whether that was
// possible. It is not possible if the file was replaced, is compressed or of an old version, if
// its last line was incomplete or changed, or if a new line affects earlier ones. The session
// is then invalid and must be opened again. Grow must not be called concurrently with other
// methods.
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

// extend completes the index for records from n on, which follow those of a complete one.
func (s *Session) extend(n int) {
	if len(s.records) > len(s.table.slots)/8*7 {
		s.newTable(2*len(s.records), n)
	}
	s.indexIDs(n)
	s.link(n)
	s.leaf = len(s.records) - 1
	s.Findings = s.placed(s.found.all())
}
