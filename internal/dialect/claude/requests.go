package claude

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"iter"
	"slices"
	"strconv"
	"strings"

	"ctxtool/internal/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A digest is the SHA-256 of a canonical text.
type digest = [sha256.Size]byte

// A requests rebuilds requests from their records. It takes the lines of a transcript in order.
type requests struct {
	turns  map[digest]dialect.Turn // the messages that records or blobs give
	shapes map[digest]jsonl.Value
	sent   map[string][]digest // the messages of each request, by the id of its record
	run    run

	waits     *dialect.Recorded // for its answer
	answering string            // the message that the last answer is a line of
}

// A run is the message that records in a row make: those of the user, or the lines of an answer. As
// it grows, each of its beginnings is a message that may have been sent.
type run struct {
	role jsonl.Value
	of   string // of an answer, its id
	hash hash.Hash
	turn []jsonl.Value
}

// recorded is the dialect's Recorded.
func recorded(lines iter.Seq2[int, jsonl.Value]) iter.Seq[dialect.Recorded] {
	return func(yield func(dialect.Recorded) bool) {
		r := &requests{turns: map[digest]dialect.Turn{}, shapes: map[digest]jsonl.Value{}, sent: map[string][]digest{}}
		for number, line := range lines {
			done := r.line(number, line)
			if done != nil && !yield(*done) {
				return
			}
		}
		if r.waits != nil {
			yield(*r.waits)
		}
	}
}

// line takes a line. It returns a request that is complete.
func (r *requests) line(number int, line jsonl.Value) (done *dialect.Recorded) {
	var f [3]jsonl.Value
	line.Fields(f[:], "type", "message", "uuid")
	switch typ, m := f[0], f[1]; {
	case typ.Is("user"), typ.Is("assistant"):
		if id := m.Get("id").Text(); typ.Is("assistant") && id != r.answering {
			r.answering = id
			if done, r.waits = r.waits, nil; done != nil {
				done.Answer = f[2].Text()
			}
		}
		r.message(m)
	case typ.Is("api-request-blob"):
		turn := dialect.AddTurn(nil, m)[0]
		r.turns[sha256.Sum256(turn.AppendCanonical(nil))] = turn
	case typ.Is("api-request-shape"):
		shape := jsonl.Value(dialect.AppendCanonical(nil, line.Get("shape"), false))
		r.shapes[sha256.Sum256(shape)] = shape
	case typ.Is("api-request"):
		now := r.request(number, line)
		if aside(now.Source) {
			return now
		}
		done, r.waits = r.waits, now
	}
	return done
}

// aside reports whether what asked was not the conversation.
func aside(source string) bool {
	switch source {
	case "compact", "away_summary", "prompt_suggestion", "hook_prompt", "agent_summary":
		return true
	}
	return false
}

// message takes the message of a record.
func (r *requests) message(m jsonl.Value) {
	role, content := m.Get("role"), m.Get("content")
	if !role.Exists() || !content.Exists() {
		r.run = run{}
		return
	}
	now := &r.run
	if of := m.Get("id").Text(); now.hash == nil || string(now.role) != string(role) || now.of != of {
		*now = run{role: slices.Clone(role), of: of, hash: sha256.New()}
		now.hash.Write([]byte(`{"content":[`))
	}
	for _, part := range dialect.CanonicalParts(content) {
		if len(now.turn) > 0 {
			now.hash.Write([]byte{','})
		}
		now.hash.Write(part)
		now.turn = append(now.turn, part)
		whole, _ := now.hash.(hash.Cloner).Clone() // of SHA-256 never fails
		whole.Write([]byte(`],"role":` + string(role) + `}`))
		key := digest(whole.Sum(nil))
		if _, had := r.turns[key]; !had {
			r.turns[key] = dialect.Turn{Role: now.role, Parts: now.turn[:len(now.turn):len(now.turn)]}
		}
	}
}

// request rebuilds the request of a record.
func (r *requests) request(number int, line jsonl.Value) *dialect.Recorded {
	now := &dialect.Recorded{
		Line: number, ID: line.Get("id").Text(), Source: line.Get("querySource").Text(), Proof: dialect.Gone,
	}
	var sent []digest
	if base := line.Get("base"); base.IsString() {
		before, known := r.sent[base.Text()]
		keep := line.Get("keep").Int()
		if !known || keep < 0 || keep > int64(len(before)) {
			return now
		}
		sent = before[:keep:keep]
	}
	for of := range line.Get("tail").Elements {
		sent = append(sent, digestOf(of))
	}
	r.sent[now.ID] = sent
	shape, ok := r.shapes[digestOf(line.Get("shapeHash"))]
	if !ok {
		return now
	}
	turns := make([]dialect.Turn, 0, len(sent))
	for _, key := range sent {
		turn, ok := r.turns[key]
		if !ok {
			return now
		}
		turns = append(turns, turn)
	}
	now.Messages = turns
	now.Body = body(line, shape, turns)
	now.Proof = proof(line, now.Body)
	return now
}

// digestOf is a digest that is written in hex, which no text has if it is not one.
func digestOf(v jsonl.Value) (d digest) {
	raw, _ := hex.DecodeString(v.Text())
	copy(d[:], raw)
	return d
}

// notHashed are the members of a request that its digest leaves out.
var notHashed = []string{"metadata", "stream", "thread", "diagnostics"}

// body is the request that a record, its shape and its messages make: in canonical spelling, with the
// marks for the cache that the record names.
func body(line, shape jsonl.Value, turns []dialect.Turn) jsonl.Value {
	marks := map[string][]cacheMark{} // by the member of the body, and messages by their index
	for m := range line.Get("cacheControl").Elements {
		path := slices.Collect(m.Get("path").Elements)
		in := 1
		if len(path) > 1 && path[0].Is("messages") {
			in = 2
		}
		if len(path) >= in {
			key := string(path[in-1])
			marks[key] = append(marks[key], cacheMark{path[in:], m.Get("value")})
		}
	}
	members := map[string][]byte{"messages": markedTurns(turns, marks)}
	add := func(of jsonl.Value) {
		for name, v := range of.Ordered {
			if !slices.Contains(notHashed, name) {
				v = setMarks(v, marks[string(jsonl.AppendQuoted(nil, name))])
				members[name] = dialect.AppendCanonical(nil, v, true)
			}
		}
	}
	add(line.Get("params"))
	add(shape)
	return dialect.CanonicalObject(nil, members)
}

// markedTurns are the messages of a request, in canonical spelling.
func markedTurns(turns []dialect.Turn, marks map[string][]cacheMark) []byte {
	all := []byte{'['}
	for k, t := range turns {
		if k > 0 {
			all = append(all, ',')
		}
		start := len(all)
		all = t.AppendCanonical(all)
		if of := marks[strconv.Itoa(k)]; of != nil {
			all = dialect.AppendCanonical(all[:start], setMarks(all[start:], of), true)
		}
	}
	return append(all, ']')
}

// A cacheMark is where a record marks a part of a request for the cache, and how.
type cacheMark struct {
	path  []jsonl.Value
	value jsonl.Value
}

func setMarks(v jsonl.Value, marks []cacheMark) jsonl.Value {
	for _, m := range marks {
		v = m.set(v)
	}
	return v
}

// set marks the object at the end of the path. A path that nothing stands at marks nothing.
func (m cacheMark) set(v jsonl.Value) jsonl.Value {
	if len(m.path) == 0 {
		if !v.IsObject() {
			return v
		}
		return v.AppendEdited(nil, jsonl.Field{Name: dialect.CacheMark, Value: m.value})
	}
	next := cacheMark{m.path[1:], m.value}
	if v.IsObject() {
		name := m.path[0].Text()
		if of := v.Get(name); of.Exists() {
			return v.AppendEdited(nil, jsonl.Field{Name: name, Value: next.set(of)})
		}
		return v
	}
	all := slices.Collect(v.Elements)
	if k := m.path[0].Int(); k >= 0 && k < int64(len(all)) {
		all[k] = next.set(all[k])
	}
	return dialect.List(all)
}

// proof compares a body with the digest of its record.
func proof(line, body jsonl.Value) dialect.Proof {
	var f [3]jsonl.Value
	line.Fields(f[:], "requestDigest", "cutRequestDigest", "withheld")
	now := sha256.Sum256(body)
	is := func(v jsonl.Value) bool { return strings.EqualFold(v.Text(), hex.EncodeToString(now[:])) }
	withheld := 0
	for name := range f[2].Elements {
		if !slices.Contains(notHashed, name.Text()) {
			withheld++
		}
	}
	switch {
	case is(f[0]):
		return dialect.Proved
	case is(f[1]):
		return dialect.Cut
	case withheld > 0:
		return dialect.Withheld
	}
	return dialect.Unproved
}
