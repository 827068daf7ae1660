package claude

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"iter"
	"slices"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A requests rebuilds requests from their records. It takes the lines of a transcript in order.
type requests struct {
	read   func(at dialect.Span) (jsonl.Value, error)
	turns  map[dialect.Digest]place // the messages that records or blobs give
	shapes map[dialect.Digest]jsonl.Value
	had    map[string]*dialect.Recorded // by id
	run    *run
	hashed hashed
	// fields of shapes in canonical spelling, by where they are
	spelled map[*byte]jsonl.Value

	waits     []*dialect.Recorded // for an answer
	sessions  []string            // of each of them
	answering string              // what names the answer at hand, empty after a prompt
	said      bool                // a message stands after the last one that waits
}

// A run is the message that records in a row make: those of the user, or the lines of an answer. As
// it grows, each of its beginnings is a message that may have been sent.
type run struct {
	role  jsonl.Value
	of    string // of an answer, its id
	blob  bool   // it is a record of a message as it was sent
	hash  hash.Hash
	lines []dialect.Span
	parts int32
	text  []byte // of the last part
}

// A place is where a message stands: the beginning of a run.
type place struct {
	*run
	lines, parts int32
}

// recorded implements Recorded of the dialect.
func recorded(lines dialect.Lines) iter.Seq[*dialect.Recorded] {
	return func(yield func(*dialect.Recorded) bool) {
		r := &requests{
			read: lines.Read, turns: map[dialect.Digest]place{}, shapes: map[dialect.Digest]jsonl.Value{},
			had: map[string]*dialect.Recorded{}, spelled: map[*byte]jsonl.Value{},
		}
		for l := range lines.All {
			for _, done := range r.line(l) {
				if !yield(done) {
					return
				}
			}
		}
		for _, w := range r.waits {
			if !yield(w) {
				return
			}
		}
	}
}

// line takes a line. It returns the requests that are complete.
func (r *requests) line(l dialect.Numbered) (done []*dialect.Recorded) {
	var f [3]jsonl.Value
	l.Value.Fields(f[:], "type", "message", "sessionId")
	switch typ, m := f[0], f[1]; {
	case typ.Is("user"):
		if !nth(m.Get("content"), 0).Get("type").Is("tool_result") {
			r.answering = ""
		}
		r.message(l, m)
	case typ.Is("assistant"):
		done = r.answer(l, m, f[2])
		r.message(l, m)
	case typ.Is("api-request-blob"):
		at := place{&run{blob: true, lines: []dialect.Span{l.At}}, 1, 0}
		r.turns[dialect.TurnOf(m).Digest()] = at
	case typ.Is("api-request-shape"):
		shape := l.Value.Get("shape")
		r.shapes[sha256.Sum256(dialect.AppendCanonical(nil, shape, false))] = slices.Clone(shape)
	case typ.Is("api-request"):
		now := r.request(l)
		if aside(now.Source) {
			return append(done, now)
		}
		r.waits, r.sessions, r.said = append(r.waits, now), append(r.sessions, f[2].Text()), false
	}
	return done
}

// answer takes a line of an answer. If it is the first one, what waits for an answer is complete: the request that
// the line names, or else the last one.
func (r *requests) answer(l dialect.Numbered, m, session jsonl.Value) (done []*dialect.Recorded) {
	f := l.Value.All("uuid", "requestId", "requestRef")
	name := answerName(m.Get("id"), f[1]).Text()
	if name == r.answering && name != "" {
		return nil
	}
	r.answering = name
	at := len(r.waits) - 1
	if f[2].IsString() {
		at = slices.IndexFunc(r.waits, func(w *dialect.Recorded) bool { return f[2].Is(w.ID) })
	}
	if at >= 0 {
		w := r.waits[at]
		w.Answer = f[0].Text()
		if of := r.sessions[at]; session.IsString() && of != session.Text() {
			w.Lacks = fmt.Sprintf("it is of the session %q, and its answer is of %q", of, session.Text())
		} else if at > 0 && !f[2].IsString() {
			r.ambiguous(w, r.waits[at-1])
		}
	}
	done, r.waits, r.sessions = r.waits, nil, nil
	return done
}

// ambiguous compares the record of a request with the one before it, which no answer stands between. A request that
// failed is sent again.
func (r *requests) ambiguous(w, before *dialect.Recorded) {
	if w.Lacks == "" && before.Lacks == "" && !r.said && !slices.Equal(w.Sent.From(0), before.Sent.From(0)) {
		w.Lacks = fmt.Sprintf("the record in line %d, of other messages, stands before the same answer", before.Line)
	}
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
func (r *requests) message(l dialect.Numbered, m jsonl.Value) {
	f := m.All("role", "content", "id")
	role, content := f[0], f[1]
	r.said = true
	if !role.Exists() || !content.Exists() {
		r.run = nil
		return
	}
	now := r.run
	if of := f[2].Text(); now == nil || string(now.role) != string(role) || now.of != of {
		now = &run{role: slices.Clone(role), of: of, hash: sha256.New()}
		now.hash.Write([]byte(`{"content":[`))
		if r.run != nil {
			now.text, r.run.text, r.run.hash = r.run.text[:0], nil, nil
		}
		r.run = now
	}
	now.lines = append(now.lines, l.At)
	dialect.EachPart(content, func(part jsonl.Value) {
		if now.parts++; now.parts > 1 {
			now.hash.Write([]byte{','})
		}
		now.text = dialect.AppendPart(now.text[:0], part)
		now.hash.Write(now.text)
		whole, _ := now.hash.(hash.Cloner).Clone() // of SHA-256 never fails
		whole.Write([]byte(`],"role":` + string(role) + `}`))
		key := dialect.Digest(whole.Sum(nil))
		if _, had := r.turns[key]; !had {
			r.turns[key] = place{now, int32(len(now.lines)), now.parts}
		}
	})
}

// Turn implements [dialect.Body], like Prove.
func (r *requests) Turn(of dialect.Digest) (t dialect.Turn, err error) {
	at := r.turns[of]
	t.Role = at.role
	for _, span := range at.run.lines[:at.lines] {
		line, err := r.read(span)
		if err != nil {
			return t, err
		}
		m := line.Get("message")
		if at.blob {
			return dialect.TurnOf(m), nil
		}
		t.Parts = append(t.Parts, dialect.CanonicalParts(m.Get("content"))...)
	}
	t.Parts = t.Parts[:min(int(at.parts), len(t.Parts))]
	return t, nil
}

// request reads the record of a request.
func (r *requests) request(l dialect.Numbered) *dialect.Recorded {
	f := l.Value.All("id", "querySource", "params", "shapeHash", "base", "keep", "cacheControl", "withheld")
	now := &dialect.Recorded{Line: l.Number, At: l.At, ID: f[0].Text(), Source: f[1].Text(), Body: r}
	twin := r.had[now.ID]
	r.had[now.ID] = now
	var base *dialect.Recorded
	if f[4].IsString() {
		base = r.had[f[4].Text()]
	}
	var tail []dialect.Digest
	missing := ""
	for of := range l.Value.Get("tail").Elements {
		d := digestOf(of)
		if _, ok := r.turns[d]; !ok && missing == "" {
			missing = of.Text()
		}
		tail = append(tail, d)
	}
	shape, shaped := r.shapes[digestOf(f[3])]
	marks, marked := marksOf(f[6])
	keep := f[5].Int()
	switch {
	case twin != nil:
		now.Lacks = fmt.Sprintf("the record in line %d has the same id", twin.Line)
	case f[4].IsString() && base == nil:
		now.Lacks = fmt.Sprintf("the request %q, which it builds on, is not in the file", f[4].Text())
	case base != nil && base.Sent == nil:
		now.Lacks = fmt.Sprintf("the request in line %d, which it builds on, cannot be rebuilt", base.Line)
	case keep < 0 || base == nil && keep > 0 || base != nil && keep > int64(base.Sent.Len()):
		now.Lacks = fmt.Sprintf("it keeps %d messages, and the request that it builds on does not have them", keep)
	case missing != "":
		now.Lacks = fmt.Sprintf("no message in the file has the hash %q", missing)
	case !shaped:
		now.Lacks = fmt.Sprintf("its prompt and tools, with the hash %q, are not in the file", f[3].Text())
	case !f[2].IsObject():
		now.Lacks = "params must be an object"
	case !marked:
		now.Lacks = fmt.Sprintf("it has more than %d marks for the cache", mostMarks)
	}
	if now.Lacks != "" {
		return now
	}
	var of *dialect.Sent
	if base != nil {
		of = base.Sent
	}
	now.Sent, now.Marks, now.Beyond = dialect.NewSent(of, int(keep), tail), marks, beyond
	if thread := l.Value.Get("thread"); thread.Exists() && !thread.Get("type").Is("none") {
		now.Beyond = append(slices.Clip(beyond), dialect.Beyond{Field: "thread", Reason: "it continued one: what " +
			"was sent before was not sent again"})
	}
	for name, v := range slices.Clone(f[2]).Ordered {
		if name != "messages" && name != "system" && name != "tools" {
			now.Head = append(now.Head, jsonl.Field{Name: name, Value: v})
		}
	}
	for name, v := range shape.Ordered {
		now.Head = append(now.Head, jsonl.Field{Name: name, Value: v})
	}
	dialect.SortFields(now.Head)
	for name := range f[7].Elements {
		now.Missing = append(now.Missing, name.Text())
	}
	return now
}

// digestOf returns a digest that is written in hex, which no text has if it is not one.
func digestOf(v jsonl.Value) (d dialect.Digest) {
	raw, _ := hex.DecodeString(v.Text())
	copy(d[:], raw)
	return d
}

// mostMarks is how many marks for the cache a request has at most; providers take four.
const mostMarks = 16

// marksOf returns the marks of a record.
func marksOf(list jsonl.Value) (marks []dialect.Mark, ok bool) {
	for m := range slices.Clone(list).Elements {
		if len(marks) == mostMarks {
			return nil, false
		}
		marks = append(marks, dialect.Mark{Path: slices.Collect(m.Get("path").Elements), Value: m.Get("value")})
	}
	return marks, true
}
