package claude

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"slices"
	"strings"

	"ctxtool/sessionfmt/dialect"
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
			f.Value = r.canonical(of.Marked(f))
			fields = append(fields, f)
		}
	}
	fields = append(fields, jsonl.Field{Name: "messages", Value: jsonl.Value("[]")})
	head, after, _ := bytes.Cut(dialect.AppendSorted(nil, fields), []byte(`"messages":[`))
	var states []hash.Hash
	if bytes.Equal(r.hashed.head, head) {
		states = r.hashed.states[:min(of.Sent.Shared(r.hashed.sent), len(r.hashed.states))]
	}
	all := !aside(of.Source) // the next one may build on it
	plain := min(len(states), of.FirstMarked())
	now := begun(head, states[:plain])
	k := plain
	for t, err := range of.Turns(plain) {
		if err != nil {
			return d, err
		}
		if k >= len(states) && all {
			state := begun(head, states)
			writeComma(state, k)
			t.WriteCanonical(state)
			states = append(states, state)
		}
		if writeComma(now, k); of.HasMark(k) {
			now.Write(dialect.AppendCanonical(nil, of.MarkedTurn(k, t.AppendCanonical(nil)), true))
		} else {
			t.WriteCanonical(now)
		}
		k++
	}
	if all {
		r.hashed = hashed{head, of.Sent, states}
	}
	now.Write(after)
	return dialect.Digest(now.Sum(nil)), nil
}

// canonical returns a field of a body in canonical spelling. Those of a shape are the same values in many
// requests.
func (r *requests) canonical(v jsonl.Value) jsonl.Value {
	if len(v) < leastSpelled {
		return dialect.AppendCanonical(nil, v, true)
	}
	of := &v[0]
	if r.spelled[of] == nil {
		if len(r.spelled) == mostSpelled {
			clear(r.spelled)
		}
		r.spelled[of] = dialect.AppendCanonical(nil, v, true)
	}
	return r.spelled[of]
}

// mostSpelled is how many fields are kept in canonical spelling, of at least leastSpelled bytes.
const mostSpelled, leastSpelled = 32, 1 << 10

// begun returns a hash after the last of these states, or after the head.
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

func writeComma(h hash.Hash, k int) {
	if k > 0 {
		h.Write([]byte{','})
	}
}

// Prompt implements [dialect.Body].
func (r *requests) Prompt(of *dialect.Recorded) (sections []dialect.Section, tools []jsonl.Value) {
	for _, t := range definitionsOf(of.Field("tools")) {
		tools = append(tools, t.definition)
	}
	return blocksOf(of.Field("system")), tools
}
