package models

import (
	"hash/maphash"
	"strconv"
	"sync"

	"ctxtool/sessionfmt/jsonl"
)

// callSeed is the seed of all ids in a process, shared by workers.
var callSeed = sync.OnceValue(maphash.MakeSeed)

// A CallID identifies a call of a model by hashes, which differ from process to process. The id that a provider gives
// an answer is no part of it alone: gateways give all answers the same one.
type CallID struct {
	Record uint64 // of its record: its id, time, response and usage, which copies of a file and most forks keep
	Import uint64 // the same with the session, which an import keeps; 0 unless the record may be one
	Shared uint64 // of what the agent keeps in a copy under another id; 0 for none
	// Copy reports that the record was copied from another session, which owns the call; From is of that session where
	// only the relation tells the original.
	Copy bool
	From uint64
}

// A CallRecord is what identifies the call of a record; values are absent where the record has none.
type CallRecord struct {
	ID, Time, Response, Shared jsonl.Value
	Usage                      *jsonl.Usage
}

// AppendText appends a text that only this call and its copies have: that of CallID.Shared, or if there is none that of
// CallID.Record.
func (r *CallRecord) AppendText(buf []byte) []byte {
	if r.Shared.IsString() {
		return append(append(buf, 's'), r.Shared...)
	}
	return r.appendRecord(buf)
}

func (r *CallRecord) appendRecord(buf []byte) []byte {
	buf = append(buf, 'e')
	for _, v := range [...]jsonl.Value{r.ID, r.Time, r.Response} {
		buf = append(append(buf, v...), 0)
	}
	u := r.Usage
	for _, n := range [...]int64{u.Input, u.Output, u.CacheRead, u.CacheWrite} {
		buf = append(strconv.AppendInt(buf, n, 10), 0)
	}
	if u.Cost.Total != 0 { // an import writes 0 where none is recorded
		buf = strconv.AppendFloat(buf, u.Cost.Total, 'g', -1, 64)
	}
	return buf
}

// Identify returns the id of the call of a record. It uses and returns the memory of buf.
func (r *CallRecord) Identify(buf []byte) (CallID, []byte) {
	buf = r.appendRecord(buf[:0])
	id := CallID{Record: maphash.Bytes(callSeed(), buf)}
	if r.Shared.IsString() {
		buf = r.AppendText(buf[:0])
		id.Shared = maphash.Bytes(callSeed(), buf)
	}
	return id, buf
}

// CallOrigins completes the ids of the calls of a session, in the order of its records.
type CallOrigins struct {
	Session  string // its id
	Import   bool   // it may be an import of another agent's session, whose id it has then
	LocalIDs bool   // ids of its records say nothing of other sessions
	// Copied reports whether a record was copied from another session; from is the id of that where only the relation
	// tells the original, since the copy has another id or time.
	Copied func(record int) (from string, copied bool)

	copies int
}

// Complete completes the id of the call of a record. text identifies the call of a copy under another id or time, which
// copies of one session have in the same order; it is nil for other calls.
func (o *CallOrigins) Complete(c *CallID, record int) (text []byte) {
	within := c.Record ^ sessionHash(o.Session)
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

// A CallSet is calls of several sessions, each once. Copies are added after all other calls, since the original owns a
// call.
type CallSet map[uint64]struct{}

// AddSession adds the id of a session: later copies of its calls are known.
func (s CallSet) AddSession(id string) { s[sessionHash(id)] = struct{}{} }

// Add adds a call, and reports whether it is new.
func (s CallSet) Add(c CallID) bool {
	known := s.has(c.Record) || s.has(c.Import) || c.Copy && (s.has(c.Shared) || s.has(c.From))
	for _, hash := range [...]uint64{c.Record, c.Import, c.Shared} {
		if hash != 0 {
			s[hash] = struct{}{}
		}
	}
	return !known
}

// has reports whether a hash is in the set; 0 never is.
func (s CallSet) has(hash uint64) bool {
	_, ok := s[hash]
	return ok
}
