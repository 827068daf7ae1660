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

// CopiedFrom makes it the id of a copy of the n-th call, from 0, that was copied from a session with that id, or from
// one that need not be known if that is empty. It returns a text that all copies of that call have; nil for the latter.
func (c *CallID) CopiedFrom(session string, n int) (text []byte) {
	c.Copy = true
	if session == "" {
		return nil
	}
	text = append(strconv.AppendInt([]byte{'c'}, int64(n), 10), " "+session...)
	c.Record, c.From = maphash.Bytes(callSeed(), text), sessionHash(session)
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
	_, known := s[c.Record]
	if c.Copy {
		_, shared := s[c.Shared]
		_, session := s[c.From]
		known = known || c.Shared != 0 && shared || c.From != 0 && session
	}
	s[c.Record] = struct{}{}
	if c.Shared != 0 {
		s[c.Shared] = struct{}{}
	}
	return !known
}
