package sessionfmt

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt/jsonl"
)

// TestTyped: what visitors and readers get of an entry of another agent's without its JSON is what
// reading that gives: its head, fields of it and of its message, and the message.
func TestTyped(t *testing.T) {
	pick := jsonl.Pick{Record: []string{"usage", "targetId", "modelId"}, Message: []string{"usage", "model", "toolName", "content", "responseId", "customType"}}
	made, messages := 0, 0
	for _, c := range append(corpus.Foreign(t), corpus.Agents(t)...) {
		var heads []string
		var said []jsonl.Message
		visit := func(p *jsonl.Picked) {
			heads = append(heads, headOf(p))
			if said = append(said, jsonl.Message{}); p.Kind.IsTurn() {
				said[len(said)-1] = copyOf(p.Said())
			}
		}
		s, err := OpenReader(c.Name, bytes.NewReader(c.Data), Options{Workers: 1, Pick: pick, Visit: func() func(*jsonl.Picked) { return visit }})
		if err != nil {
			continue
		}
		r, lines, whole := s.NewReader(), s.NewReader(), jsonl.NewHeadReader(pick)
		for i := range s.Len() {
			line := must.Get(lines.Line(i))
			want, bad := whole.Read(line)
			if bad != nil {
				t.Fatalf("%s: record %d: %v in %.200s", c.Name, i, bad, line)
			}
			if want.Kind != s.Kind(i) || heads[i] != headOf(want) {
				t.Errorf("%s: record %d is of kind %s, and seen as %s, not %s", c.Name, i, s.Kind(i), heads[i], headOf(want))
			}
			if made++; !s.Kind(i).IsTurn() {
				continue
			}
			messages++
			var m jsonl.Message
			size := must.Get(r.Message(i, &m))
			message := copyOf(want.Said())
			if size != len(line.Get("message")) || !reflect.DeepEqual(copyOf(&m), message) || !reflect.DeepEqual(said[i], message) {
				t.Errorf("%s: record %d, %d bytes: %v, seen as %v, not %v of %s", c.Name, i, size, m, said[i], message, line)
			}
		}
		s.Close()
	}
	if made < corpus.Least(t, 500, 40) || messages < corpus.Least(t, 300, 20) {
		t.Errorf("%d entries, %d messages", made, messages)
	}
}

// copyOf is a message that stays.
func copyOf(m *jsonl.Message) jsonl.Message {
	var c jsonl.Message
	v, to := reflect.ValueOf(*m), reflect.ValueOf(&c).Elem()
	for k := range v.NumField() {
		if raw, ok := v.Field(k).Interface().(jsonl.Value); ok {
			to.Field(k).Set(reflect.ValueOf(slices.Clone(raw)))
		}
	}
	c.Kind = m.Kind
	for _, b := range m.Blocks {
		b.Raw, b.Text.Value, b.ID, b.Name = slices.Clone(b.Raw), slices.Clone(b.Text.Value), slices.Clone(b.ID), slices.Clone(b.Name)
		b.Args, b.Data, b.Mime = slices.Clone(b.Args), slices.Clone(b.Data), slices.Clone(b.Mime)
		c.Blocks = append(c.Blocks, b)
	}
	return c
}

func headOf(p *jsonl.Picked) string {
	said := p.Message
	if !p.Kind.IsMessage() {
		said = nil
	}
	return fmt.Sprintf("%s %s %s %s %s %s %s %s", p.Kind, p.Type, p.ID, p.ParentID, p.Timestamp, p.Role, p.Record, said)
}

// rollout is one of Codex with a number of turns, each of an answer with a call and its result.
// No line has an id of its own, but for the calls.
func rollout(turns int) []byte {
	var b bytes.Buffer
	n := 0
	add := func(typ, payload string) {
		fmt.Fprintf(&b, `{"timestamp":"2026-01-01T00:00:00.000Z","ordinal":%d,"type":"%s","payload":%s}`+"\n", n, typ, payload)
		n++
	}
	add("session_meta", `{"id":"00000000-0000-7000-8000-000000000000","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}`)
	for k := range turns {
		add("turn_context", `{"model":"m"}`)
		add("response_item", fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":"prompt %d"}]}`, k))
		add("response_item", fmt.Sprintf(`{"type":"function_call","name":"shell","arguments":"{}","call_id":"c%d"}`, k))
		add("event_msg", `{"type":"item_completed"}`)
		output := fmt.Sprintf(`{"type":"function_call_output","call_id":"c%d","output":"%s"}`, k, strings.Repeat("x", k%100))
		if k > 0 { // once a usage was seen, one ends an answer after the results too
			add("response_item", output)
		}
		add("token_usage_record", fmt.Sprintf(`{"response_id":"r%d","usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}`, k))
		if k == 0 {
			add("response_item", output)
		}
	}
	return b.Bytes()
}

// TestArranged: entries of a long file are found by their ids, have the entry before them as
// parent, and all lines that belong to them, whatever the number of workers.
func TestArranged(t *testing.T) {
	const turns = 20000
	data := rollout(turns)
	if len(data) < 16*unitSize {
		t.Fatal("too short")
	}
	for _, workers := range []int{1, 4} {
		s := must.Get(OpenReader("r.jsonl", bytes.NewReader(data), Options{Workers: workers, Times: true}))
		if want := 3*turns + 2; s.Len() != want || s.Coverage.Entries != want-1 || s.Leaf() != want-1 {
			t.Fatalf("%d workers: %d records, %d entries, leaf %d", workers, s.Len(), s.Coverage.Entries, s.Leaf())
		}
		r := s.NewReader()
		for i := range s.Len() {
			if i > 0 && s.Find(s.ID(i)) != i {
				t.Fatalf("%d workers: record %d has the id %q, which is that of %d", workers, i, s.ID(i), s.Find(s.ID(i)))
			}
			if i > 1 && s.Parent(i) != i-1 {
				t.Fatalf("%d workers: record %d has the parent %d", workers, i, s.Parent(i))
			}
			raw, err := r.Raw(i)
			if want := map[jsonl.Kind]int{jsonl.Assistant: 2, jsonl.ToolResult: 1}[s.Kind(i)]; err != nil || bytes.Count(raw, []byte("\n")) != want {
				t.Fatalf("%d workers: record %d, %s: %v, %q", workers, i, s.Kind(i), err, raw)
			}
		}
		s.Close()
	}
}

// TestTypedAllocations: showing another agent's entry takes next to no allocations.
func TestTypedAllocations(t *testing.T) {
	s := must.Get(OpenReader("r.jsonl", bytes.NewReader(rollout(100)), Options{}))
	r := s.NewReader()
	n := testing.AllocsPerRun(10, func() {
		for i := range s.Len() {
			if _, err := r.Line(i); err != nil {
				t.Fatal(err)
			}
		}
	})
	if each := n / float64(s.Len()); each > 0.1 {
		t.Errorf("%.2f allocations an entry", each)
	}
}
