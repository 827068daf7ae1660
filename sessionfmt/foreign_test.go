package sessionfmt

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
)

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

// TestUnseen: a line that makes several entries, or belongs to several, is yielded with the first of them.
func TestUnseen(t *testing.T) {
	record := func(id, parent, typ, content string) string {
		return fmt.Sprintf(`{"uuid":"%s","parentUuid":"%s","sessionId":"s","version":"2.1.17",`+
			`"timestamp":"2026-01-01T00:00:00.000Z","type":"%s","message":{"id":"m","role":"%[3]s","content":[%s]}}`+"\n",
			id, parent, typ, content)
	}
	data := record("u", "", "user", `{"type":"text","text":"hi"}`) +
		record("a1", "u", "assistant", `{"type":"tool_use","id":"t1","name":"T","input":{}}`) +
		record("a2", "a1", "assistant", `{"type":"tool_use","id":"t2","name":"T","input":{}}`) +
		record("r", "a2", "user", `{"type":"tool_result","tool_use_id":"t1","content":"x"},`+
			`{"type":"tool_result","tool_use_id":"t2","content":"y"},{"type":"text","text":"beside"}`)
	s := must.Get(OpenReader("s.jsonl", strings.NewReader(data), Options{}))
	defer s.Close()
	var got []string
	r, seen := s.NewReader(), map[dialect.Span]bool{}
	for i := range s.Len() {
		n := 0
		for line, err := range r.Unseen(i, seen) {
			if must.Do(err); !strings.Contains(data, string(line)+"\n") {
				t.Errorf("record %d: %q is no line", i, line)
			}
			n++
		}
		got = append(got, fmt.Sprintf("%s %d", s.Kind(i), n))
	}
	want := "session 1,user 0,assistant 2,toolResult 1,toolResult 0,user 0"
	if is := strings.Join(got, ","); is != want {
		t.Errorf("%s, not %s", is, want)
	}
}
