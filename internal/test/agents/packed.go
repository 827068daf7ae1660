package agents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

// A packedBody is a body as a difference to that of an earlier request.
type packedBody struct {
	Base  int                        `json:"base,omitempty"` // the number of that request, 0 for none
	Keep  int                        `json:"keep,omitempty"` // how many of its messages come first
	Gone  []string                   `json:"gone,omitempty"` // members that the body does not have
	Marks map[string]json.RawMessage `json:"marks,omitempty"`
	Body  map[string]json.RawMessage `json:"body"`
	Tail  []json.RawMessage          `json:"tail,omitempty"`
}

// packed are requests, each as a difference to the earlier one that shares most with it.
func packed(requests []*Request) []byte {
	var b bytes.Buffer
	for n, q := range requests {
		members, messages, marks := q.split()
		best := packedBody{Body: members, Tail: messages, Marks: marks}
		size := len(must.Get(json.Marshal(best)))
		for base := n - 1; base >= max(0, n-12); base-- {
			if requests[base].Interface != q.Interface {
				continue
			}
			had, before, _ := requests[base].split()
			d := packedBody{Base: requests[base].N, Body: map[string]json.RawMessage{}, Marks: marks}
			for d.Keep < min(len(messages), len(before)) && bytes.Equal(messages[d.Keep], before[d.Keep]) {
				d.Keep++
			}
			d.Tail = messages[d.Keep:]
			for name, v := range members {
				if !bytes.Equal(had[name], v) {
					d.Body[name] = v
				}
			}
			for name := range had {
				if _, ok := members[name]; !ok {
					d.Gone = append(d.Gone, name)
				}
			}
			slices.Sort(d.Gone)
			if more := len(must.Get(json.Marshal(d))); more < size {
				best, size = d, more
			}
		}
		line := *q
		line.Packed, line.Body = &best, nil
		must.Do(encode(&b, line))
	}
	return b.Bytes()
}

// list returns the field of the body with the messages.
func (q *Request) list() string { return forms[or(q.Interface, messagesForm)].list }

// split returns the members of a body, its messages without marks, and these by the place: a message, and a
// block of it.
func (q *Request) split() (members map[string]json.RawMessage, messages []json.RawMessage,
	marks map[string]json.RawMessage) {
	must.Do(json.Unmarshal(q.Body, &members))
	for _, name := range []string{q.list(), "metadata", "client_metadata"} {
		defer delete(members, name)
	}
	marks = map[string]json.RawMessage{}
	for m := range jsonl.Value(members[q.list()]).Elements {
		k := 0
		for b := range m.Get("content").Elements {
			if mark := b.Get(dialect.CacheMark); mark.Exists() {
				marks[fmt.Sprintf("%d/%d", len(messages), k)] = json.RawMessage(mark)
			}
			k++
		}
		messages = append(messages, json.RawMessage(dialect.AppendCanonical(nil, m, false)))
	}
	return members, messages, marks
}

// unpack makes the body of a request, with those before it.
func (q *Request) unpack(before []*Request) {
	p := q.Packed
	if p == nil {
		return
	}
	messages := p.Tail
	if p.Base > 0 {
		at := slices.IndexFunc(before, func(b *Request) bool { return b.N == p.Base })
		members, had, _ := before[at].split()
		messages = append(had[:p.Keep:p.Keep], messages...)
		for name, v := range members {
			if _, ok := p.Body[name]; !ok && !slices.Contains(p.Gone, name) {
				p.Body[name] = v
			}
		}
	}
	for k, m := range messages {
		var blocks []jsonl.Value
		for b := range jsonl.Value(m).Get("content").Elements {
			if mark, ok := p.Marks[fmt.Sprintf("%d/%d", k, len(blocks))]; ok {
				b = b.AppendAdded(nil, jsonl.Field{Name: dialect.CacheMark, Value: jsonl.Value(mark)})
			}
			blocks = append(blocks, b)
		}
		if len(blocks) > 0 {
			content := jsonl.Field{Name: "content", Value: dialect.List(blocks...)}
			messages[k] = json.RawMessage(jsonl.Value(m).AppendEdited(nil, content))
		}
	}
	p.Body[q.list()] = must.Get(json.Marshal(messages))
	q.Body, q.Packed = must.Get(json.Marshal(p.Body)), nil
}
