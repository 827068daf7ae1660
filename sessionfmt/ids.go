package sessionfmt

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"ctxtool/sessionfmt/jsonl"
)

// A Namer makes ids for entries of a session that need one: the first 8 hex digits of SHA-256
// over the parent's id, a line feed, and the line without surrounding white space. If the id is
// taken, it appends a line feed and hashes again. The same input gives the same ids on every
// machine.
type Namer struct {
	s     *Session
	given map[string]bool
	tried map[[sha256.Size]byte]hash.Hash // the hash state by line, so that equal lines continue where the previous one ended
}

// NewNamer returns a Namer for entries of s.
func (s *Session) NewNamer() *Namer {
	return &Namer{s: s, given: map[string]bool{}, tried: map[[sha256.Size]byte]hash.Hash{}}
}

// Name returns a new id for a line below the entry called parent.
func (n *Namer) Name(parent string, line []byte) string {
	id := n.next(parent, jsonl.Trim(line), "")
	n.given[id] = true
	return id
}

// next is Name for an entry that gets the id at once. What follows the line belongs to it.
func (n *Namer) next(parent string, line []byte, more string) string {
	h := sha256.New()
	h.Write([]byte(parent))
	h.Write([]byte{'\n'})
	h.Write(line)
	h.Write([]byte(more))
	first := [sha256.Size]byte(h.Sum(nil))
	if before := n.tried[first]; before != nil {
		h = before
	}
	for {
		var sum [sha256.Size]byte
		id := hex.EncodeToString(h.Sum(sum[:0])[:4])
		if !n.Taken(id) {
			return id
		}
		h.Write([]byte{'\n'})
		n.tried[first] = h
	}
}

// Taken reports whether an entry has that id, or will get it.
func (n *Namer) Taken(id string) bool { return n.given[id] || n.s.Find(id) >= 0 }

// Take marks an id as taken.
func (n *Namer) Take(id string) { n.given[id] = true }

// giveIDs makes a version 1 file a tree in memory: every entry gets a new id, regardless of its
// own, and the previous entry as parent (docs/session-format.md 11.1).
func (s *Session) giveIDs() error {
	r := s.NewReader()
	names := s.NewNamer()
	ids := make([]byte, 1, 9*len(s.records)+1) // offset 0 is the empty id
	add := func(id string) ref {
		at := ref(len(ids))
		ids = append(binary.AppendUvarint(ids, uint64(len(id))), id...)
		return at
	}
	var prev ref
	own := 0
	for i := range s.records {
		rec := &s.records[i]
		if !rec.kind.IsEntry() { // a header keeps its id
			rec.parent, rec.id = 0, add(string(s.idOf(i)))
			continue
		}
		if len(s.idOf(i)) > 0 {
			own++
		}
		line, err := r.Line(i)
		if err != nil {
			return err
		}
		rec.parent, prev = prev, add(names.Name(string(idAt(ids, prev)), line))
		rec.id = prev
		rec.flags &^= flagWrongID
	}
	s.ids = ids
	if own > 0 {
		s.found.add("v1-ids", 0, "",
			"%d entries have ids, but the header has no version: pi takes the file for version 1, gives new ids and makes one line of the tree", own)
	}
	return nil
}

// FirstKept returns the record that compaction i keeps first, given its raw firstKeptEntryId
// and firstKeptEntryIndex; -1 if it does not exist. In version 1 files the index counts the
// records of the file, header included, and may only refer to earlier ones
// (docs/session-format.md 11.1).
func (s *Session) FirstKept(i int, id, index jsonl.Value) int {
	if s.Version < 2 && index.IsNumber() {
		if k, ok := index.Float(); ok && k == float64(int(k)) && k > 0 && int(k) <= i && s.records[int(k)].kind.IsEntry() {
			return int(k)
		}
	}
	return s.FindValue(id)
}

// FindValue returns the record whose id is that value, of the same type; -1 if there is none.
func (s *Session) FindValue(id jsonl.Value) int {
	switch {
	case id.IsString():
		return s.Find(id.Text())
	case id.IsNumber():
		return s.Find("\x00" + string(id))
	}
	return -1
}
