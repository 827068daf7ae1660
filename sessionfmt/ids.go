package sessionfmt

import (
	"bytes"
	"crypto/sha256"
	"ctxtool/internal/base/abbrev"
	"ctxtool/sessionfmt/jsonl"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"hash/maphash"
	"slices"
)

// A Namer makes ids for entries that have none: the first 8 hex digits of SHA-256 over the parent's id, a line
// feed, and the line without surrounding white space. While the id is taken, it appends a line feed and hashes
// again. The same input gives the same ids on every machine.
type Namer struct {
	s     *Session
	given map[string]bool
	// hash state by line, so that equal lines continue where the previous one ended
	tried map[[sha256.Size]byte]hash.Hash
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

// next is Name for an entry that takes the id at once. more is hashed after the line.
func (n *Namer) next(parent string, line []byte, more string) string {
	h := hashBelow(parent, line)
	h.Write([]byte(more))
	first := [sha256.Size]byte(h.Sum(nil))
	if before := n.tried[first]; before != nil {
		h = before
	}
	for {
		id := hexID(h)
		if !n.Taken(id) {
			return id
		}
		h.Write([]byte{'\n'})
		n.tried[first] = h
	}
}

// hashBelow returns the hash of a line below the entry called parent.
func hashBelow(parent string, line []byte) hash.Hash {
	h := sha256.New()
	h.Write([]byte(parent))
	h.Write([]byte{'\n'})
	h.Write(line)
	return h
}

// hexID returns the id that a hash yields.
func hexID(h hash.Hash) string {
	var sum [sha256.Size]byte
	return hex.EncodeToString(h.Sum(sum[:0])[:4])
}

// Taken reports whether an entry has that id, or Take has reserved it.
func (n *Namer) Taken(id string) bool { return n.given[id] || n.s.Find(id) >= 0 }

// Take reserves an id.
func (n *Namer) Take(id string) { n.given[id] = true }

// giveIDs turns a version 1 file into a tree in memory: every entry gets a new id, whatever it has, and the
// previous entry as parent (docs/session-format.md 11.1).
func (s *Session) giveIDs() error {
	r := s.NewReader()
	names := s.NewNamer()
	ids := make([]byte, 1, 9*len(s.records)+1) // offset 0 stands for the empty id
	add := func(id string) ref {
		at := ref(len(ids))
		ids = append(binary.AppendUvarint(ids, uint64(len(id))), id...)
		return at
	}
	var prev ref
	own := 0
	for i := range s.records {
		rec := &s.records[i]
		if !rec.kind.IsEntry() { // headers keep their ids
			rec.parent, rec.id = 0, add(string(s.idOf(i)))
			continue
		}
		if len(s.idOf(i)) > 0 {
			own++
		}
		rec.parent, prev = uint32(prev), add(names.Name(string(idAt(ids, prev)), r.Entry(i)))
		rec.id = prev
		rec.flags &^= flagWrongID
	}
	s.ids = ids
	if own > 0 {
		s.found.add("v1-ids", 0, "",
			"%d entries have ids, but the header has no version: pi takes the file for version 1, gives new ids and "+
				"makes one line of the tree", own)
	}
	return r.Err()
}

// FirstKept returns the first record that compaction i keeps, given its raw firstKeptEntryId and
// firstKeptEntryIndex; -1 if it does not exist. In version 1 files the index counts the records of the file,
// header included, and must refer to an earlier one (docs/session-format.md 11.1).
func (s *Session) FirstKept(i int, id, index jsonl.Value) int {
	if s.Version < 2 && index.IsNumber() {
		if k, ok := index.Float(); ok && k == float64(int(k)) && k > 0 && int(k) <= i &&
			s.records[int(k)].kind.IsEntry() {
			return int(k)
		}
	}
	return s.FindValue(id)
}

// FindValue returns the record whose id has that value and type; -1 if there is none.
func (s *Session) FindValue(id jsonl.Value) int {
	switch {
	case id.IsString():
		return s.Find(id.Text())
	case id.IsNumber():
		return s.Find("\x00" + string(id))
	}
	return -1
}

// name stores the ids of the record and its parent. The parent is usually the previous record, whose id bytes
// are then shared.
func (u *unit) name(rec *record, h *jsonl.Picked) {
	rec.id = u.intern(h.ID)
	if h.ID.Exists() && !h.ID.IsString() && !h.ID.IsNull() {
		rec.flags |= flagWrongID
	}
	if h.ParentID.Exists() {
		rec.flags |= flagOwnParent
	}
	if h.ID.Exists() {
		rec.flags |= flagOwnID
	}
	if n := len(u.records); n > 0 {
		prev := u.records[n-1].id
		if id := idAt(u.ids, prev); len(id) > 0 && h.ParentID.Is(string(id)) {
			rec.parent = uint32(prev)
			return
		}
	}
	rec.parent = uint32(u.intern(h.ParentID))
}

// intern stores an id in the arena. A number is a valid key in pi; it keeps its spelling, after a zero byte.
// Other values that are not strings are not ids.
func (u *unit) intern(v jsonl.Value) ref {
	at := len(u.ids)
	u.ids = append(u.ids, 0)
	switch {
	case v.IsString():
		u.ids = v.AppendText(u.ids)
	case v.IsNumber() && v.Truthy():
		u.ids = append(append(u.ids, 0), v...)
	}
	if n := len(u.ids) - at - 1; n < 0x80 {
		u.ids[at] = byte(n)
	} else {
		u.ids = slices.Replace(u.ids, at, at+1, binary.AppendUvarint(nil, uint64(n))...)
	}
	return ref(at)
}

// idAt returns the id at an offset of the arena.
func idAt(ids []byte, at ref) []byte {
	n, k := binary.Uvarint(ids[at:])
	return ids[int(at)+k:][:n:n]
}

// An idTable maps ids to records, by open addressing. A slot holds a record number plus one, at most mask; the
// bits above it are a tag of the id, so that ids, which are in the session's arena, are rarely compared.
type idTable struct {
	seed  maphash.Seed
	slots []uint32
	mask  uint64
}

func newIDTable(n int) *idTable {
	size := 16
	for size < n+n/2 {
		size *= 2
	}
	return &idTable{seed: maphash.MakeSeed(), slots: make([]uint32, size), mask: uint64(size - 1)}
}

// tableRoom grows the table if it has no room for another record.
func (s *Session) tableRoom() {
	if len(s.records) >= len(s.table.slots)/3*2 {
		s.newTable(max(cap(s.records), 2*len(s.records)), len(s.records))
	}
}

// newTable makes a table with that much room, and inserts the first records.
func (s *Session) newTable(room, first int) {
	s.table = newIDTable(room)
	for i := range first {
		if id := s.idOf(i); s.Kind(i).IsEntry() && len(id) > 0 {
			p, tag := s.slot(id)
			*p = tag | uint32(i+1)
		}
	}
}

// slot returns the slot of an id, or the free slot for it, and the tag of the id.
func (s *Session) slot(id []byte) (p *uint32, tag uint32) {
	t := s.table
	h, mask := maphash.Bytes(t.seed, id), uint32(t.mask)
	for tag = uint32(h>>32) &^ mask; ; h++ {
		p = &t.slots[h&t.mask]
		if *p == 0 || *p&^mask == tag && bytes.Equal(s.idOf(int(*p&mask-1)), id) {
			return p, tag
		}
	}
}

// withID returns the record with that id, -1 for none.
func (s *Session) withID(id []byte) int {
	p, _ := s.slot(id)
	return int(*p&uint32(s.table.mask)) - 1
}

// idOf returns the id of record i from the arena, parentOf the id of its parent.
func (s *Session) idOf(i int) []byte { return idAt(s.ids, s.records[i].id) }

func (s *Session) parentOf(i int) []byte {
	if s.Orphan(i) {
		return idAt(s.ids, ref(s.records[i].parent))
	} else if up := s.Parent(i); up >= 0 {
		return s.idOf(up)
	}
	return nil
}

// mostShort is the length up to which an id is printed whole, bytes.
const mostShort = 8

// ShortIDs returns a function that shortens an id to its shortest unique prefix in the session, at least 8
// bytes. It may be called concurrently. width is the length of the longest such prefix, ignoring those over 16
// bytes.
func (s *Session) ShortIDs() (short func(id string) string, width int) {
	var all []string
	long := false
	for i := range s.records {
		long = long || len(s.idOf(i)) > mostShort
	}
	for i := range s.records {
		if r := &s.records[i]; long && r.kind.IsEntry() && r.flags&flagShadowed == 0 {
			all = append(all, s.ID(i))
		}
	}
	return abbrev.Of(all, mostShort)
}
