package sessionfmt

import (
	"errors"

	"ctxtool/sessionfmt/jsonl"
)

// finish completes the index after all lines are in it: version, old formats, ids, leaf, and findings that
// depend on the whole file.
func (s *Session) finish() error {
	if err := s.findHeader(); err != nil {
		return err
	}
	if s.dialect == nil { // an arrangement already did
		if err := s.makeTree(); err != nil {
			return err
		}
	}
	broken, line, size := s.src.broken, s.Coverage.passed, s.src.size
	if s.doc != nil {
		line, size = line+1, s.doc.size
		if broken == nil {
			broken = s.doc.broken
		}
	}
	if broken != nil {
		s.found.add("broken-off", line, "", "%v: it is read up to there, %d bytes", broken, size)
	}
	if s.src.trails != nil {
		s.found.add("trailing-data", 0, "", "%v: it is not read", s.src.trails)
	}
	if s.dialect != nil {
		if err := s.foreignFindings(); err != nil {
			return err
		}
	}
	s.Findings = s.placed(s.found.all())
	return nil
}

// makeTree indexes the ids, then resolves parents and the leaf.
func (s *Session) makeTree() error {
	s.table = newIDTable(len(s.records)) // version 1 has no ids yet
	if s.Version < 2 {
		if err := s.giveIDs(); err != nil {
			return err
		}
	}
	if s.Version < 3 {
		for i := range s.records {
			if s.records[i].kind == jsonl.HookMessage {
				s.records[i].kind = jsonl.Custom
			}
		}
	}
	s.indexIDs(0)
	s.findLeaf()
	s.link(0)
	return nil
}

func (s *Session) find(code string, i int, format string, args ...any) {
	entry := ""
	if s.Kind(i).IsEntry() {
		entry = s.ID(i)
	}
	s.found.add(code, int(s.records[i].line), entry, format, args...)
}

// findHeader finds the header and the version. pi opens a file only if its first record is a header whose id is
// a string; the entries are read anyway, so that damage can be repaired.
func (s *Session) findHeader() error {
	s.header = -1
	known, ids := false, false
	for i := range s.records {
		r := &s.records[i]
		known = known || r.kind == jsonl.Header || r.kind.IsMessage() || r.kind == jsonl.CustomMessage
		ids = ids || r.kind.IsEntry() && len(s.idOf(i)) > 0
		if r.kind != jsonl.Header {
			continue
		}
		if s.header >= 0 {
			s.find("second-header", i, "a second session header: pi skips it")
			continue
		}
		s.header = i
		if i > 0 && s.records[0].kind != jsonl.Slot {
			s.find("late-header", i, "the session header is not the first record: pi refuses the file")
		}
	}
	if !known {
		if s.src.size == 0 {
			return s.empty()
		}
		return s.notSession()
	}
	if s.header < 0 {
		s.found.add("no-header", 0, "", "no session header%s", piOnly(s.dialect, ": pi refuses the file"))
		s.Version = 3
		if !ids {
			s.Version = 1
		}
		return nil
	}
	return s.readVersion()
}

// readVersion reads the version from the header.
func (s *Session) readVersion() error {
	line, err := s.NewReader().Line(s.header)
	if err != nil {
		return err
	}
	var f [2]jsonl.Value
	line.Fields(f[:], "version", "id")
	if !f[1].IsString() {
		s.find("header-id", s.header, "the header's id is not a string: pi refuses the file")
	}
	version, ok := f[0].Version()
	s.Version = version
	if !ok {
		s.find("version", s.header, "version %s is not a number: pi rewrites the file whenever it opens it",
			Quote(string(f[0])))
	} else if version > 3 {
		s.find("too-new", s.header, "format version %s is newer than 3: read as it is", Quote(string(f[0])))
	}
	return nil
}

// indexIDs adds the records from one on to the id table. If two ids are equal, the later record has it, as in
// pi.
func (s *Session) indexIDs(from int) {
	for i := from; i < len(s.records); i++ {
		r := &s.records[i]
		if !r.kind.IsEntry() {
			continue
		}
		s.Coverage.Entries++
		if r.flags&flagWrongID != 0 {
			s.find("id-type", i, "its id is not a string: pi finds it only by a parentId of the same type")
		}
		id := s.idOf(i)
		if len(id) == 0 {
			s.find("missing-id", i, "it has no id: no entry can follow it, and pi continues at a new root")
			continue
		}
		p, tag := s.slot(id)
		if *p != 0 {
			was := &s.records[s.withID(id)]
			was.flags |= flagShadowed
			s.find("duplicate-id", i, "line %d has the same id: pi uses this one, and the other is unreachable",
				was.line)
		}
		*p = tag | uint32(i+1)
	}
}

// findLeaf finds the last entry. A scalar on the last line does not count, although pi would take it and show
// an empty session.
func (s *Session) findLeaf() {
	s.leaf = len(s.records) - 1
	for s.leaf >= 0 && !s.records[s.leaf].kind.IsEntry() {
		if s.records[s.leaf].kind == jsonl.Scalar {
			s.find("scalar-leaf", s.leaf, scalarLeaf)
		}
		s.leaf--
	}
}

const scalarLeaf = "the last record is not an object: pi shows an empty session; ctxtool uses the entry before it"

// link resolves the parents of the records from one on, and reports missing ones. It also records whether any
// parent comes after its child: without that, no cycle is possible.
func (s *Session) link(from int) {
	for i := from; i < len(s.records); i++ {
		r := &s.records[i]
		parent := idAt(s.ids, ref(r.parent))
		if len(parent) == 0 {
			r.parent = 0
			continue
		}
		if !r.kind.IsEntry() {
			r.flags |= flagOrphan
			continue
		}
		if i > 0 && s.records[i-1].id == ref(r.parent) && s.records[i-1].flags&flagShadowed == 0 {
			r.parent = uint32(i)
			continue
		}
		p := s.withID(parent)
		if p < 0 {
			r.flags |= flagOrphan
		} else {
			r.parent = uint32(p + 1)
		}
		switch {
		case p < 0 && s.Coverage.Partial: // the parent precedes the part that was read
		case p < 0:
			s.orphans = true
			s.find("orphan", i, "its parent %q is not in the file: pi loses everything before it",
				Quote(idString(parent)))
		case p == i:
			s.forward = true
			s.find("self-parent", i, "it is its own parent: pi runs out of memory; the entry is left out")
		case p > i:
			s.forward = true
		}
	}
}

// empty returns the error for a session of 0 bytes.
func (s *Session) empty() error {
	if s.Name == "-" {
		return &Error{Err: errors.New("standard input is empty"),
			Hint: "name a file or an id instead of -, or check the command that writes to the pipe"}
	}
	return errors.New("the file is empty: pi would write a new header to it")
}
