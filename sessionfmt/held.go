package sessionfmt

import (
	"bytes"
	"ctxtool/sessionfmt/jsonl"
	"errors"
	"io"
	"maps"
	"slices"
)

// Copy returns a copy of the session that can hold entries which are not in its file: Hold adds them, Reparent
// places them. It needs memory for an index, and reads the same file, so the session must stay open. A copy
// cannot be appended to.
func (s *Session) Copy() *Session {
	next, src := *s, *s.src
	src.file, src.info, src.temp, src.more = nil, nil, "", nil // closed by the original session
	next.src = &src
	next.records, next.ids = slices.Clone(s.records), slices.Clone(s.ids)
	next.times, next.held = slices.Clone(s.times), slices.Clone(s.held)
	next.found.list, next.Findings = slices.Clone(s.found.list), slices.Clone(s.Findings)
	next.Coverage.Unknown = maps.Clone(s.Coverage.Unknown)
	table := *s.table
	table.slots = slices.Clone(table.slots)
	next.table = &table
	return &next
}

// Hold adds the entries of a batch to a copy, read back from their lines. They get the next record numbers, and
// the last one becomes the leaf. Their lines stay in memory. Hold must not be called concurrently with other
// methods.
func (s *Session) Hold(b *Batch) error {
	if b.err != nil {
		return s.at(b.err)
	}
	x := indexer{src: s.src, head: jsonl.NewHeadReader(jsonl.Pick{}), times: len(s.times) > 0}
	u, n, lines := &unit{}, len(s.records), bytes.Clone(b.lines)
	for line := range bytes.Lines(lines) {
		line = line[:len(line)-1]
		u.cover.Lines++
		u.cover.passed++
		if x.add(u, line, s.src.size, false) == nil {
			return s.at(errors.New("a new entry cannot be read back"))
		}
		s.held = append(s.held, line[:len(line):len(line)])
	}
	if err := s.merge(u); err != nil {
		return err
	}
	s.extend(n)
	return nil
}

// Reparent gives record i of a copy another parent, -1 for none. Its line keeps the parent that it was written
// with.
func (s *Session) Reparent(i, parent int) {
	s.records[i].parent = uint32(parent + 1)
	s.records[i].flags &^= flagOrphan
	s.forward = s.forward || parent >= i
}

// Held reports whether record i is only in memory.
func (s *Session) Held(i int) bool { return i >= len(s.records)-len(s.held) }

// heldLine returns the line of a held record.
func (s *Session) heldLine(i int) []byte { return s.held[i-(len(s.records)-len(s.held))] }

// Weave writes a copy of a session with the entries that it holds: each before the entries of the file that
// follow it by Reparent, the rest at the end. All other lines are written byte for byte.
func (s *Session) Weave(w io.Writer) error {
	if err := s.refuseShape(&Batch{s: s}); err != nil {
		return s.at(err)
	}
	written := make([]bool, len(s.held))
	put := func(i int) error {
		k := i - (len(s.records) - len(s.held))
		if written[k] {
			return nil
		}
		written[k] = true
		return writeLine(w, s.held[k])
	}
	for l, err := range s.Lines {
		if err != nil {
			return err
		}
		if l.Record >= 0 && s.follows(l.Record) {
			if err := s.heldAbove(l.Record, put); err != nil {
				return err
			}
			l.Raw = jsonl.Value(jsonl.Trim(l.Raw)).AppendEdited(nil,
				jsonl.Field{Name: "parentId", Value: jsonl.AppendQuoted(nil, s.ID(s.Parent(l.Record)))})
		}
		if err := writeLine(w, l.Raw); err != nil {
			return err
		}
	}
	for k := range s.held {
		if err := put(len(s.records) - len(s.held) + k); err != nil {
			return err
		}
	}
	return nil
}

// follows reports whether record i, an entry of the file, follows a held one.
func (s *Session) follows(i int) bool { return s.Parent(i) >= 0 && s.Held(s.Parent(i)) }

// heldAbove passes the held entries above record i to put, the oldest first.
func (s *Session) heldAbove(i int, put func(i int) error) error {
	var above []int
	for i = s.Parent(i); i >= 0 && s.Held(i); i = s.Parent(i) {
		above = append(above, i)
	}
	for _, i := range slices.Backward(above) {
		if err := put(i); err != nil {
			return err
		}
	}
	return nil
}
