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
	Line   int    // line of its record, see Numbered
	At     Span   // line of its answer, likewise
	ID     string // id of the record
	Source string // purpose of the request: the conversation, a summary, a title
	Answer string // id of the line that begins its answer; empty for none
	// Lacks is the reason, in words, why its body cannot be rebuilt; empty if it can. Without a body the fields
	// below are empty.
	Lacks string

	Head  []jsonl.Field // fields of its body besides the messages, sorted, without cache marks
	Marks []Mark
	Sent  *Sent // its messages, without cache marks
	// Missing lists fields of the body that the agent states it did not record; Beyond, those that it never
	// records.
	Missing []string
	Beyond  []Beyond

	Body  Body // reads the body
	proof Proof
}

// A Body reads what recorded requests refer to.
type Body interface {
	// Turn returns a message, without cache marks.
	Turn(of Digest) (Turn, error)
	// Prove compares a request that can be rebuilt with its digest. It is fastest in file order.
	Prove(r *Recorded) (Proof, error)
	// Prompt returns the sections of the system prompt, and the tools, in the form of entries.
	Prompt(r *Recorded) (sections []Section, tools []jsonl.Value)
	// Messages yields the messages in the form of entries.
	Messages(r *Recorded) iter.Seq2[Shown, error]
}

// A Shown is a message in the shape of docs/session-format.md 3.
type Shown struct {
	Kind jsonl.Kind
	Raw  jsonl.Value
}

// A Section is a named text of a system prompt.
type Section struct{ Name, Text string }

// Beyond names and describes a field of the body that no record has.
type Beyond struct{ Field, Reason string }

// A Mark asks the provider to cache the body up to a place.
type Mark struct {
	Path  []jsonl.Value // names and indexes from the root
	Value jsonl.Value
}

// A Sketch is what the record of a request names: enough to compare it with another one, without the texts of
// its messages and without proof.
type Sketch struct {
	Params jsonl.Value // fields of its body besides system prompt, tools and messages
	Prompt *PromptSketch
	Sent   *Sent
}

// A PromptSketch is the system prompt and the tools of requests, in the form of entries.
type PromptSketch struct {
	Sections []Section
	Tools    []jsonl.Value
}

// A Digest is the SHA-256 of a canonical text.
type Digest = [sha256.Size]byte

// Lines gives access to the lines of a file.
type Lines struct {
	All  func(yield func(l Numbered) bool)
	Read func(at Span) (jsonl.Value, error) // reads a line again, valid until the next call
}

// A Numbered is a line with its number. Its value is valid during the call.
type Numbered struct {
	Number int // from 1; below 1 in a file that this one continues
	At     Span
	Value  jsonl.Value
}

// Sent lists the messages of a request by digest: some of the first messages of another request, then more.
type Sent struct {
	base *Sent
	keep int // number of messages of the base
	tail []Digest
}

// NewSent returns the messages of a request that begins with the first keep messages of base, which may be nil.
func NewSent(base *Sent, keep int, tail []Digest) *Sent { return &Sent{base, keep, tail} }

// Len returns the number of messages.
func (s *Sent) Len() int { return s.keep + len(s.tail) }

// From returns the digests of the messages from an index on.
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

// Shared returns how many leading messages are certainly those of another request, because it builds on that.
func (s *Sent) Shared(other *Sent) int {
	if s.base == nil || s.base != other {
		return 0
	}
	return s.keep
}

// A Proof is the result of comparing a recorded request with its digest.
type Proof string

// Results of a comparison.
const (
	Proved   Proof = "proved"   // the digest matches: this was sent
	Cut      Proof = "cut"      // the digest of what the agent shortened matches: more was sent
	Withheld Proof = "withheld" // the digest does not match, and fields were not recorded
	Unproved Proof = "unproved" // the digest does not match
	Gone     Proof = "gone"     // it cannot be rebuilt, see Lacks
)

// Exact reports whether the body is what was sent, or all of it that the agent itself wrote.
func (p Proof) Exact() bool { return p == Proved || p == Cut }

// Proof compares the request with its digest, once. It is fastest in file order.
func (r *Recorded) Proof() (p Proof, err error) {
	if r.Lacks != "" {
		return Gone, nil
	}
	if r.proof == "" {
		r.proof, err = r.Body.Prove(r)
	}
	return r.proof, err
}

// Doubt returns, after Proof, the reason in words why a request is not proved; empty if it is.
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

// Field returns a field of the body besides the messages, without cache marks.
func (r *Recorded) Field(name string) jsonl.Value {
	for _, f := range r.Head {
		if f.Name == name {
			return f.Value
		}
	}
	return nil
}

// Marked returns a field of the body with its cache marks.
func (r *Recorded) Marked(f jsonl.Field) jsonl.Value {
	for _, m := range r.Marks {
		if len(m.Path) > 0 && m.Path[0].Is(f.Name) {
			f.Value = setMark(f.Value, m.Path[1:], m.Value)
		}
	}
	return f.Value
}

// FirstMarked returns the index of the first message with a cache mark, or the number of messages if none has
// one.
func (r *Recorded) FirstMarked() int {
	first := int64(r.Sent.Len())
	for _, m := range r.Marks {
		if len(m.Path) > 1 && m.Path[0].Is("messages") {
			first = min(first, max(0, m.Path[1].Int()))
		}
	}
	return int(first)
}

// HasMark reports whether message k has a cache mark.
func (r *Recorded) HasMark(k int) bool {
	at := strconv.Itoa(k)
	return slices.ContainsFunc(r.Marks, func(m Mark) bool {
		return len(m.Path) > 1 && m.Path[0].Is("messages") && string(m.Path[1]) == at
	})
}

// MarkedTurn returns the JSON of message k with its cache marks.
func (r *Recorded) MarkedTurn(k int, text []byte) jsonl.Value {
	for _, m := range r.Marks {
		if len(m.Path) > 1 && m.Path[0].Is("messages") && string(m.Path[1]) == strconv.Itoa(k) {
			text = setMark(text, m.Path[2:], m.Value)
		}
	}
	return text
}

// setMark sets a mark on the object at the end of a path. A path that does not exist changes nothing.
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

// Turns yields the messages of the request from an index on, without cache marks.
func (r *Recorded) Turns(from int) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		for _, of := range r.Sent.From(from) {
			if t, err := r.Body.Turn(of); !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// Items yields the messages of the request in the provider's form.
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

// Unlike returns the index of the first of these messages, from an index on, that differs from the request; -1
// if none does.
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
