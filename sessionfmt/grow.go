package sessionfmt

import "os"

// Grow indexes what has been appended to the file since it was read, and reports whether
// that was possible. It is not where the file is another one, or packed, or of an old
// version, where its last line was not whole or has changed, and where what is new changes
// what is known of the rest: then the session is of no use any more, and is opened again.
// Nobody else may use it meanwhile.
func (s *Session) Grow() bool {
	size, n := s.src.size, len(s.records)
	if s.src.info == nil || s.src.packing != plain || s.Version < 3 || s.orphans || s.leaf < n-1 {
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
	if s.scan(size-1, 1, Options{Times: len(s.times) > 0}) != nil || len(s.records) > len(s.table.slots)/8*7 {
		return false
	}
	for i := n; i < len(s.records); i++ {
		if r := &s.records[i]; !r.kind.IsEntry() || r.id.n > 0 && *s.slot(s.idBytes(r.id)) != 0 {
			return false
		}
	}
	s.indexIDs(n)
	s.link(n)
	s.leaf = len(s.records) - 1
	s.Findings = s.found.all()
	return s.markEnd() == nil
}
