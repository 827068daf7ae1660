package models

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"
	"strconv"
	"sync"

	"ctxtool/sessionfmt/jsonl"
)

// callSeed seeds all ids in a process; workers share it.
var callSeed = sync.OnceValue(maphash.MakeSeed)

// A CallID identifies a model call by hashes, which differ from process to process. The id that a provider
// gives an answer is never enough: gateways give all answers the same one.
type CallID struct {
	Record uint64 // hash of its record: id, time, response and usage, which copies of a file and most forks keep
	Import uint64 // the same with the session, which an import keeps; 0 unless the record may be an import
	Shared uint64 // hash of what the agent keeps in a copy with another id; 0 for none
	// Copy reports that the record was copied from another session, which owns the call. From is that session
	// if only the relation identifies the original.
	Copy bool
	From uint64
}

// A CallRecord is the data that identifies the call of a record; absent values are nil.
type CallRecord struct {
	ID, Time, Response, Shared jsonl.Value
	Usage                      *jsonl.Usage
}

func (r *CallRecord) appendRecord(buf []byte) []byte {
	buf = append(buf, 'e')
	for _, v := range [...]jsonl.Value{r.ID, r.Time, r.Response} {
		buf = append(append(buf, v...), 0)
	}
	u := r.Usage
	for _, n := range [...]int64{u.Input, u.Output, u.CacheRead, u.CacheWrite} {
		buf = binary.LittleEndian.AppendUint64(buf, uint64(n))
	}
	if u.Cost.Total != 0 { // an import writes 0 if none is recorded
		buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(u.Cost.Total))
	}
	return buf
}

// Identify returns the id of the call of a record, and bytes that only this call and its copies have: those of
// CallID.Shared, or if there is none of CallID.Record. They are in the memory of buf.
func (r *CallRecord) Identify(buf []byte) (CallID, []byte) {
	buf = r.appendRecord(buf[:0])
	id := CallID{Record: maphash.Bytes(callSeed(), buf)}
	if r.Shared.IsString() {
		buf = append(append(buf[:0], 's'), r.Shared...)
		id.Shared = maphash.Bytes(callSeed(), buf)
	}
	return id, buf
}

// CallOrigins completes the ids of the calls of a session, in the order of its records.
type CallOrigins struct {
	Session  string // id of the session
	Import   bool   // it may import another agent's session, whose id it then has
	LocalIDs bool   // its record ids are only unique within the session
	// Copied reports whether a record was copied from another session. from is the id of that session if only
	// the relation identifies the original, because the copy has another id or time.
	Copied func(record int) (from string, copied bool)

	session uint64 // hash of Session
	copies  int
}

// Complete completes the id of a record's call. text identifies the call of a copy with another id or time;
// copies of one session have equal texts in the same order. It is nil for other calls.
func (o *CallOrigins) Complete(c *CallID, record int) (text []byte) {
	if o.session == 0 {
		o.session = sessionHash(o.Session)
	}
	within := c.Record ^ o.session
	switch {
	case o.Import:
		c.Import = within
	case o.LocalIDs:
		c.Record = within
	}
	from, copied := o.Copied(record)
	c.Copy = copied
	if !copied {
		return nil
	}
	n := o.copies
	o.copies++
	if from == "" {
		return nil
	}
	text = append(strconv.AppendInt([]byte{'c'}, int64(n), 10), " "+from...)
	c.Record, c.From = maphash.Bytes(callSeed(), text), sessionHash(from)
	return text
}

func sessionHash(id string) uint64 { return maphash.String(callSeed(), "i"+id) }

// A CallSet holds the calls of several sessions, each once. Add copies after all other calls, since the
// original owns a call. The zero value is empty.
type CallSet struct {
	slots []uint64 // hashes, each at its slot or after it; 0 is a free one
	n     int
}

// Grow makes room for n more calls.
func (s *CallSet) Grow(calls int) {
	if need := 2 * (s.n + 2*calls); need > len(s.slots) {
		s.resize(need)
	}
}

// AddSession adds the id of a session: later copies of its calls are known.
func (s *CallSet) AddSession(id string) { s.add(sessionHash(id)) }

// Add adds a call, and reports whether it is new.
func (s *CallSet) Add(c CallID) bool {
	known := c.Copy && (s.has(c.Shared) || s.has(c.From))
	for _, hash := range [...]uint64{c.Record, c.Import} {
		known = !s.add(hash) || known
	}
	s.add(c.Shared)
	return !known
}

// add adds a hash, and reports whether it is new, which 0 always is.
func (s *CallSet) add(hash uint64) bool {
	if hash == 0 {
		return true
	}
	if 2*s.n >= len(s.slots) {
		s.resize(max(32, 4*s.n))
	}
	at, is := s.place(hash)
	if is {
		return false
	}
	s.slots[at] = hash
	s.n++
	return true
}

// has reports whether a hash is in the set; 0 never is.
func (s *CallSet) has(hash uint64) bool {
	if hash == 0 || s.n == 0 {
		return false
	}
	_, is := s.place(hash)
	return is
}

// place returns the slot of a hash, or the one that it would get. There is a free one.
func (s *CallSet) place(hash uint64) (at uint64, is bool) {
	most := uint64(len(s.slots)) - 1
	for at = hash & most; s.slots[at] != 0; at = (at + 1) & most {
		if s.slots[at] == hash {
			return at, true
		}
	}
	return at, false
}

// resize moves the set to at least so many slots, a power of two.
func (s *CallSet) resize(slots int) {
	old := s.slots
	s.slots = make([]uint64, 1<<bits.Len(uint(slots-1)))
	for _, hash := range old {
		if hash != 0 {
			at, _ := s.place(hash)
			s.slots[at] = hash
		}
	}
}
