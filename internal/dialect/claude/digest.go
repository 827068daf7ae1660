package claude

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"
	"strings"

	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// notHashed are the fields of a request that its digest leaves out.
var notHashed = []string{"metadata", "stream", "thread", "diagnostics", "safeguards"}

// beyond are the fields that no record has.
var beyond = []dialect.Beyond{
	{Field: "metadata", Reason: "the device, the account and the session"},
	{Field: "stream", Reason: "whether the answer came in parts"},
	{Field: "safeguards", Reason: "sent in plan mode"},
	{Field: "diagnostics", Reason: "left out of the digest"},
	{Field: "system[]", Reason: "a block that names the client may come first"},
}

// A hashed is the last request of the conversation as far as its digest went: after each message that
// has no mark.
type hashed struct {
	head   []byte // what comes before the messages
	sent   *dialect.Sent
	states []hash.Hash
}

// Prove compares a request with its digest: the hash of its body in canonical spelling, with the marks for the cache
// that the record names. A request that builds on the last one is hashed from the first message that is new or marked.
func (r *requests) Prove(of *dialect.Recorded) (dialect.Proof, error) {
	line, err := r.read(of.At)
	if err != nil {
		return "", err
	}
	f := line.All("requestDigest", "cutRequestDigest")
	written := [2]string{f[0].Text(), f[1].Text()}
	now, err := r.digest(of)
	if err != nil {
		return "", err
	}
	is := func(text string) bool { return strings.EqualFold(text, hex.EncodeToString(now[:])) }
	hidden := func(name string) bool { return !slices.Contains(notHashed, name) }
	switch {
	case is(written[0]):
		return dialect.Proved, nil
	case is(written[1]):
		return dialect.Cut, nil
	case slices.ContainsFunc(of.Missing, hidden):
		return dialect.Withheld, nil
	}
	return dialect.Unproved, nil
}

func (r *requests) digest(of *dialect.Recorded) (d dialect.Digest, err error) {
	var fields []jsonl.Field
	for _, f := range of.Head {
		if !slices.Contains(notHashed, f.Name) {
			f.Value = dialect.AppendCanonical(nil, of.Marked(f), true)
			fields = append(fields, f)
		}
	}
	fields = append(fields, jsonl.Field{Name: "messages", Value: jsonl.Value("[]")})
	head, after, _ := bytes.Cut(dialect.AppendSorted(nil, fields), []byte(`"messages":[`))
	var states []hash.Hash
	if bytes.Equal(r.hashed.head, head) {
		states = r.hashed.states[:min(of.Sent.Shared(r.hashed.sent), len(r.hashed.states))]
	}
	plain := min(len(states), of.FirstMarked())
	now := begun(head, states[:plain])
	k := plain
	for t, err := range of.Turns(plain) {
		if err != nil {
			return d, err
		}
		text := t.AppendCanonical(nil)
		if k >= len(states) && !aside(of.Source) {
			state := begun(head, states)
			writeElement(state, k, text)
			states = append(states, state)
		}
		writeElement(now, k, dialect.AppendCanonical(nil, of.MarkedTurn(k, text), true))
		k++
	}
	if !aside(of.Source) {
		r.hashed = hashed{head, of.Sent, states}
	}
	now.Write(after)
	return dialect.Digest(now.Sum(nil)), nil
}

// begun is a hash after the last of these states, or after the head.
func begun(head []byte, states []hash.Hash) hash.Hash {
	if len(states) == 0 {
		h := sha256.New()
		h.Write(head)
		h.Write([]byte(`"messages":[`))
		return h
	}
	h, _ := states[len(states)-1].(hash.Cloner).Clone() // of SHA-256 never fails
	return h
}

func writeElement(h hash.Hash, k int, text []byte) {
	if k > 0 {
		h.Write([]byte{','})
	}
	h.Write(text)
}

// Prompt is of [dialect.Body].
func (r *requests) Prompt(of *dialect.Recorded) (sections []dialect.Section, tools []jsonl.Value) {
	for _, t := range definitionsOf(of.Field("tools")) {
		tools = append(tools, t.definition)
	}
	return blocksOf(of.Field("system")), tools
}
