package dialect

import (
	"crypto/sha256"
	"iter"
	"slices"
	"strconv"
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// A Recorded is a request as its agent recorded it beside the conversation
// (docs/session-format.md 16.9).
type Recorded struct {
	Line   int    // of its record, see Numbered
	At     Span   // likewise
	ID     string // of the record
	Source string // what asked: the conversation, a summary, a title
	Answer string // the id of the line that begins its answer, empty for none
	// Lacks says why its body cannot be rebuilt, in words; empty if it can. Without a body it has none of what follows.
	Lacks string

	Head  []jsonl.Field // the fields of its body besides the messages, sorted, without marks for the cache
	Marks []Mark
	Sent  *Sent // its messages, without marks for the cache
	// Missing are fields of the body that the agent says it did not record; Beyond are those that it never records.
	Missing []string
	Beyond  []Beyond

	Body  Body // reads it
	proof Proof
}

// A Body reads what recorded requests name.
type Body interface {
	// Turn returns a message, without marks for the cache.
	Turn(of Digest) (Turn, error)
	// Prove compares a request that can be rebuilt with its digest. It is fastest in the order of the file.
	Prove(r *Recorded) (Proof, error)
	// Prompt returns the sections of its system prompt, and its tools, as entries have them.
	Prompt(r *Recorded) (sections []Section, tools []jsonl.Value)
	// Messages yields its messages as entries have them.
	Messages(r *Recorded) iter.Seq2[Shown, error]
}

// A Shown is a message in the shape of docs/session-format.md 3.
type Shown struct {
	Kind jsonl.Kind
	Raw  jsonl.Value
}

// A Section is a named text of a system prompt.
type Section struct{ Name, Text string }

// Beyond names a field of a body that no record has, and tells what it is.
type Beyond struct{ Field, Reason string }

// A Mark asks for the cache in a place of a body.
type Mark struct {
	Path  []jsonl.Value // names and indexes
	Value jsonl.Value
}

// A Sketch is what the record of a request names: enough to compare it with another one, without the texts of its
// messages and without proof.
type Sketch struct {
	Params jsonl.Value // the fields of its body besides system prompt, tools and messages
	Prompt *PromptSketch
	Sent   *Sent
}

// A PromptSketch is the system prompt and the tools of requests, as entries have them.
type PromptSketch struct {
	Sections []Section
	Tools    []jsonl.Value
}

// A Digest is the SHA-256 of a canonical text.
type Digest = [sha256.Size]byte

// Lines are the lines of a file.
type Lines struct {
	All  func(yield func(l Numbered) bool)
	Read func(at Span) (jsonl.Value, error) // a line again, valid until the next
}

// A Numbered is a line of a file. Its value is valid during the call.
type Numbered struct {
	Number int // from 1; below 1 it stands in a file that this one continues
	At     Span
	Value  jsonl.Value
}

// Sent are the messages of a request, by their digests: the first ones of another, and more.
type Sent struct {
	base *Sent
	keep int // of the base's
	tail []Digest
}

// NewSent returns the messages of a request that begins with those of another; nil for none.
func NewSent(base *Sent, keep int, tail []Digest) *Sent { return &Sent{base, keep, tail} }

// Len is the number of messages.
func (s *Sent) Len() int { return s.keep + len(s.tail) }

// From returns the messages from an index on.
func (s *Sent) From(k int) (all []Digest) {
	var parts [][]Digest
	for end := s.Len(); s != nil && end > k; s = s.base {
		if end > s.keep {
			parts = append(parts, s.tail[max(0, k-s.keep):end-s.keep])
			end = s.keep
		}
	}
	for _, part := range slices.Backward(parts) {
		all = append(all, part...)
	}
	return all
}

// Shared is how many leading messages are known to be the same as those of another request, which it
// builds on.
func (s *Sent) Shared(other *Sent) int {
	if s.base == nil || s.base != other {
		return 0
	}
	return s.keep
}

// A Proof is what a recorded request says of what was sent.
type Proof string

// The proofs.
const (
	Proved   Proof = "proved"   // its digest holds: this was sent
	Cut      Proof = "cut"      // the digest of what the agent shortened holds: more was sent
	Withheld Proof = "withheld" // the digest does not hold, and fields were not recorded
	Unproved Proof = "unproved" // the digest does not hold
	Gone     Proof = "gone"     // it cannot be rebuilt, see Lacks
)

// Exact reports whether a body is what was sent, or all that the agent sent of itself.
func (p Proof) Exact() bool { return p == Proved || p == Cut }

// Proof compares the request with its digest, once. It is fastest in the order of the file.
func (r *Recorded) Proof() (p Proof, err error) {
	if r.Lacks != "" {
		return Gone, nil
	}
	if r.proof == "" {
		r.proof, err = r.Body.Prove(r)
	}
	return r.proof, err
}

// Doubt says, after Proof, why a request is not proved, in words; empty if it is.
func (r *Recorded) Doubt() string {
	switch {
	case r.Lacks != "":
		return r.Lacks
	case r.proof == Withheld:
		return "its digest does not hold without what it lacks: " + strings.Join(r.Missing, ", ")
	case r.proof == Unproved:
		return "its digest is not that of what it names"
	}
	return ""
}

// Unrecorded lists the fields of the body that no record has.
func (r *Recorded) Unrecorded() (names []string) {
	for _, b := range r.Beyond {
		names = append(names, b.Field)
	}
	return names
}

// Field returns a field of the body besides the messages, without marks for the cache.
func (r *Recorded) Field(name string) jsonl.Value {
	for _, f := range r.Head {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}

// Marked returns a field of the body with its marks for the cache.
func (r *Recorded) Marked(f jsonl.Field) jsonl.Value {
	for _, m := range r.Marks {
		if len(m.Path) > 0 && m.Path[0].Is(f.Name) {
			f.Value = setMark(f.Value, m.Path[1:], m.Value)
		}
	}
	return f.Value
}

// FirstMarked is the index of the first message with a mark, and their number if there is none.
func (r *Recorded) FirstMarked() int {
	first := int64(r.Sent.Len())
	for _, m := range r.Marks {
		if len(m.Path) > 1 && m.Path[0].Is("messages") {
			first = min(first, max(0, m.Path[1].Int()))
		}
	}
	return int(first)
}

// HasMark reports whether message k has a mark for the cache.
func (r *Recorded) HasMark(k int) bool {
	at := strconv.Itoa(k)
	return slices.ContainsFunc(r.Marks, func(m Mark) bool {
		return len(m.Path) > 1 && m.Path[0].Is("messages") && string(m.Path[1]) == at
	})
}

// MarkedTurn returns the JSON of message k with its marks for the cache.
func (r *Recorded) MarkedTurn(k int, text []byte) jsonl.Value {
	for _, m := range r.Marks {
		if len(m.Path) > 1 && m.Path[0].Is("messages") && string(m.Path[1]) == strconv.Itoa(k) {
			text = setMark(text, m.Path[2:], m.Value)
		}
	}
	return text
}

// setMark sets a mark on the object at the end of a path. A path that does not exist marks nothing.
func setMark(v jsonl.Value, path []jsonl.Value, mark jsonl.Value) jsonl.Value {
	if len(path) == 0 {
		if !v.IsObject() {
			return v
		}
		return v.AppendEdited(nil, jsonl.Field{Name: CacheMark, Value: mark})
	}
	if v.IsObject() {
		name := path[0].Text()
		if of := v.Get(name); of.Exists() {
			return v.AppendEdited(nil, jsonl.Field{Name: name, Value: setMark(of, path[1:], mark)})
		}
		return v
	}
	all := slices.Collect(v.Elements)
	if k := path[0].Int(); k >= 0 && k < int64(len(all)) {
		all[k] = setMark(all[k], path[1:], mark)
	}
	return List(all...)
}

// Turns yields the messages of the request from an index on, without marks for the cache.
func (r *Recorded) Turns(from int) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		for _, of := range r.Sent.From(from) {
			if t, err := r.Body.Turn(of); !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// Items yields the messages of the request, in the provider's form.
func (r *Recorded) Items(yield func(jsonl.Value, error) bool) {
	for t, err := range r.Turns(0) {
		if err != nil {
			yield(nil, err)
			return
		}
		if !yield(t.AppendJSON(nil), nil) {
			return
		}
	}
}

// Unlike compares messages from an index on with those of the request. It returns the index of the
// first that differs, and -1 if none does.
func (r *Recorded) Unlike(turns []Turn, from int) int {
	sent := r.Sent.From(from)
	for k, t := range turns[min(from, len(turns)):] {
		if k >= len(sent) || t.Digest() != sent[k] {
			return from + k
		}
	}
	if len(turns) < r.Sent.Len() {
		return len(turns)
	}
	return -1
}
