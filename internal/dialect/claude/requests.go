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
	sent   map[string]*dialect.Sent // the messages of each request, by the id of its record
	run    run
	hashed hashed

	waits     *dialect.Recorded // for its answer
	answering string            // what names the answer at hand, empty after a prompt
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
		r := &requests{turns: map[digest]dialect.Turn{}, shapes: map[digest]jsonl.Value{},
			sent: map[string]*dialect.Sent{}}
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
	f := line.All("type", "message", "uuid", "requestId")
	switch typ, m := f[0], f[1]; {
	case typ.Is("user"):
		if !nth(m.Get("content"), 0).Get("type").Is("tool_result") {
			r.answering = ""
		}
		r.message(m)
	case typ.Is("assistant"):
		if name := answerName(m.Get("id"), f[3]).Text(); name != r.answering || name == "" {
			r.answering = name
			if done, r.waits = r.waits, nil; done != nil {
				done.Answer = f[2].Text()
			}
		}
		r.message(m)
	case typ.Is("api-request-blob"):
		turn := dialect.TurnOf(m)
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
	params := slices.Clone(line.Get("params"))
	now.Options = dialect.Options{
		Reasoning: params.Get("output_config").Get("effort"), Temperature: params.Get("temperature"),
		MaxTokens: params.Get("max_tokens"),
	}
	var sent *dialect.Sent
	keep := int64(0)
	if base := line.Get("base"); base.IsString() {
		sent = r.sent[base.Text()]
		if keep = line.Get("keep").Int(); sent == nil || keep < 0 || keep > int64(sent.Len()) {
			return now
		}
	}
	var tail []dialect.Turn
	for of := range line.Get("tail").Elements {
		turn, ok := r.turns[digestOf(of)]
		if !ok {
			return now
		}
		tail = append(tail, turn)
	}
	all := dialect.NewSent(sent, int(keep), tail)
	r.sent[now.ID] = all
	if shape, ok := r.shapes[digestOf(line.Get("shapeHash"))]; ok {
		now.Messages = all
		now.Proof = r.proof(line, shape, all, !aside(now.Source))
	}
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

// mostMarks is how many marks for the cache a request has at most; providers take four.
const mostMarks = 16

// A hashed is the last request of the conversation as far as its digest went: after each message that
// has no mark.
type hashed struct {
	head   string // what comes before the messages
	sent   *dialect.Sent
	states []hash.Hash
}

// digest is that of the request that a record, its shape and its messages make: in canonical spelling,
// with the marks for the cache that the record names. A request that builds on the last one is hashed
// from the first message that is new or marked.
func (r *requests) digest(line, shape jsonl.Value, sent *dialect.Sent, keep bool) (d digest, ok bool) {
	marks, ok := marksOf(line)
	if !ok {
		return d, false
	}
	members := map[string][]byte{"messages": nil}
	for _, of := range []jsonl.Value{line.Get("params"), shape} {
		for name, v := range of.Ordered {
			if !slices.Contains(notHashed, name) {
				v = setMarks(v, marks[string(jsonl.AppendQuoted(nil, name))])
				members[name] = dialect.AppendCanonical(nil, v, true)
			}
		}
	}
	before, after, _ := strings.Cut(string(dialect.CanonicalObject(nil, members)), `"messages":`)
	head := before + `"messages":[`
	states := []hash.Hash{}
	if r.hashed.head == head {
		states = r.hashed.states[:min(sent.Shared(r.hashed.sent), len(r.hashed.states))]
	}
	plain := len(states)
	for at := range marks {
		if k, err := strconv.Atoi(at); err == nil {
			plain = min(plain, max(0, k))
		}
	}
	now := begun(head, states[:plain])
	turns := sent.From(plain)
	for k, t := range turns {
		text := t.AppendCanonical(nil)
		if of := marks[strconv.Itoa(plain+k)]; of != nil {
			text = dialect.AppendCanonical(nil, setMarks(text, of), true)
		}
		writeElement(now, plain+k, text)
	}
	now.Write([]byte("]" + after))
	if keep {
		for k := len(states); k < sent.Len(); k++ {
			state := begun(head, states)
			writeElement(state, k, turns[k-plain].AppendCanonical(nil))
			states = append(states, state)
		}
		r.hashed = hashed{head, sent, states}
	}
	return digest(now.Sum(nil)), true
}

// begun is a hash after the last of these states, or after the head.
func begun(head string, states []hash.Hash) hash.Hash {
	if len(states) == 0 {
		h := sha256.New()
		h.Write([]byte(head))
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

// marksOf are the marks of a record, by the member of the body, and those of messages by their index.
func marksOf(line jsonl.Value) (marks map[string][]cacheMark, ok bool) {
	marks = map[string][]cacheMark{}
	n := 0
	for m := range line.Get("cacheControl").Elements {
		if n++; n > mostMarks {
			return nil, false
		}
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
	return marks, true
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
	return dialect.List(all...)
}

// proof compares the digest of a request with that of its record.
func (r *requests) proof(line, shape jsonl.Value, sent *dialect.Sent, keep bool) dialect.Proof {
	f := line.All("requestDigest", "cutRequestDigest", "withheld")
	now, ok := r.digest(line, shape, sent, keep)
	is := func(v jsonl.Value) bool { return ok && strings.EqualFold(v.Text(), hex.EncodeToString(now[:])) }
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
