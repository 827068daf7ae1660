package codex_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/must"
	"ctxtool/replay"
	"ctxtool/replay/models"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// A rollout is made line by line. Each has a time of its own.
type rollout struct{ lines []string }

func (r *rollout) add(typ, payload string) *rollout {
	r.lines = append(r.lines, fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:%02d.000Z","type":%q,"payload":%s}`, len(r.lines), typ, payload))
	return r
}

func begin() *rollout {
	return new(rollout).add("session_meta", `{"id":"s1","cwd":"/work","base_instructions":{"text":"Be brief."}}`).
		add("turn_context", `{"model":"gpt-5.5"}`)
}

func (r *rollout) item(payload string) *rollout { return r.add("response_item", payload) }

func (r *rollout) user(text string) *rollout {
	return r.item(fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, text))
}

func (r *rollout) note(text string) *rollout {
	return r.item(fmt.Sprintf(`{"type":"message","role":"developer","content":[{"type":"input_text","text":%q}]}`, text))
}

func (r *rollout) answer(text string) *rollout {
	return r.item(fmt.Sprintf(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}`, text))
}

func (r *rollout) used() *rollout {
	return r.add("token_usage_record", `{"response_id":"r","usage":{"input_tokens":100,"cached_input_tokens":60,"output_tokens":7,"total_tokens":107}}`)
}

func (r *rollout) back(n int) *rollout {
	return r.add("event_msg", fmt.Sprintf(`{"type":"thread_rolled_back","num_turns":%d}`, n))
}

func (r *rollout) open(t *testing.T) *sessionfmt.Session {
	t.Helper()
	s := must.Get(sessionfmt.OpenReader("rollout.jsonl", bytes.NewReader(text(r)), sessionfmt.Options{}))
	t.Cleanup(func() { s.Close() })
	return s
}

func text(r *rollout) []byte { return []byte(strings.Join(r.lines, "\n") + "\n") }

// says is the context at the leaf: the role and the text of each message.
func says(t *testing.T, s *sessionfmt.Session) string {
	t.Helper()
	e := must.Get(replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf())))
	var all []string
	for m, err := range e.CachedMessages() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m.Raw.Get("role").Text()[:1]+":"+m.Raw.Get("content").ContentText())
	}
	return strings.Join(all, " ")
}

func TestContext(t *testing.T) {
	half := strings.Repeat("a", 39_996)
	history := func(texts ...string) string {
		var items []string
		for _, text := range texts {
			items = append(items, fmt.Sprintf(`{"type":"message","role":"user","content":[{"type":"input_text","text":%q}]}`, text))
		}
		return `{"message":"sum","replacement_history":[` + strings.Join(items, ",") + `]}`
	}
	for _, c := range []struct {
		name string
		r    *rollout
		want string
	}{
		{"plain", begin().note("n").user("a").answer("1"), "u:n u:a a:1"},
		{"an answer of several items", begin().user("a").item(`{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]}`).answer("1").used(), "u:a a:1"},
		{"two answers", begin().user("a").answer("1").used().answer("2").used(), "u:a a:1 a:2"},
		{"turns taken back", begin().user("a").answer("1").user("b").answer("2").back(1).user("c"), "u:a a:1 u:c"},
		{"notes go with the turn", begin().user("a").answer("1").note("n").user("b").back(1).user("c"), "u:a a:1 u:c"},
		{"but not before the first", begin().note("n").user("a").answer("1").back(1).user("c"), "u:n u:c"},
		{"more turns than there are", begin().user("a").back(9).user("c"), "u:c"},
		{"a compaction", begin().user("a").answer("1").add("compacted", history("a", "sum")).user("b"), "u:a u:sum u:b"},
		{"a compaction that was taken back", begin().user("a").user("b").add("compacted", history("a", "b", "sum")).user("c").back(3).user("d"), "u:d"},
		{"taken back across a compaction", begin().user("a").user("b").add("compacted", history("a", "b", "sum")).user("c").back(2).user("d"), "u:a u:d"},
		{"taken back across an old compaction", begin().user("a").answer("1").user("b").add("compacted", `{"message":"sum"}`).user("c").back(2).user("d"), "u:a u:d"},
		{"taken back twice across a compaction", begin().user("a").user("b").user("c").add("compacted", history("a", "b", "c", "sum")).back(1).user("d").back(2).user("e"), "u:a u:e"},
		{"taken back twice across an old compaction", begin().user("a").user("b").user("c").add("compacted", `{"message":"sum"}`).back(1).user("d").back(2).user("e"), "u:a u:e"},
		{"an old compaction of prompts that were taken back", begin().user("a").user("b").add("compacted", `{"message":"one"}`).back(1).user("c").add("compacted", `{"message":"two"}`).user("d"), "u:a u:c u:two u:d"},
		{"two old compactions", begin().user("a").add("compacted", `{"message":"one"}`).user("b").add("compacted", `{"message":"two"}`).user("c"), "u:a u:b u:two u:c"},
		{"an old compaction of a prompt without room", begin().user("gone").user(half+"12345678"+half).user("bcd").user("e").add("compacted", `{"message":"sum"}`).user("f").back(2), "u:half\n…2 tokens truncated…\nhalf u:bcd"},
		{"an old compaction", begin().user("a").answer("1").user("b").add("compacted", `{"message":"sum"}`).user("c"), "u:a u:b u:sum u:c"},
		{"an old compaction without a text", begin().user("a").add("compacted", `{"message":""}`), "u:a u:(no summary available)"},
		{"Codex wrote it", begin().user("a").user("<environment_context>x").user("b").back(1).user("c"), "u:a u:c"},
	} {
		if got := strings.ReplaceAll(says(t, c.r.open(t)), half, "half"); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestFirstMonths reads a rollout without envelopes.
func TestFirstMonths(t *testing.T) {
	s := (&rollout{[]string{
		`{"id":"s1","timestamp":"2025-05-01T00:00:00Z","instructions":"Be brief."}`,
		`{"record_type":"state"}`,
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]}`,
		`{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}","call_id":"c1"}`,
		`{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"x\"}"}`,
	}}).open(t)
	if got := says(t, s); got != `u:a a: t:{"output":"x"}` {
		t.Error(got)
	}
	if s.ID(s.Header()) != "s1" || s.Kind(1) != jsonl.System {
		t.Errorf("header %q, then %s", s.ID(s.Header()), s.Kind(1))
	}
}

// TestAnswers holds what is an answer to a request, and its usage.
func TestAnswers(t *testing.T) {
	s := begin().user("a").answer("1").used().user("b").answer("half").user("c").answer("3").used().open(t)
	var got []string
	lines := s.NewReader()
	for rec := range s.Len() {
		if s.Kind(rec) == jsonl.Assistant {
			line := must.Get(lines.Line(rec))
			m := line.Get("message")
			u := m.Get("usage").Usage()
			got = append(got, fmt.Sprintf("%s %t %s %s %d %d %d", m.Get("content").ContentText(), s.Answers(rec), m.Get("stopReason").Text(), m.Get("model").Text(), u.Input, u.CacheRead, u.Output))
		}
	}
	want := "1 true stop gpt-5.5 40 60 7, half false aborted gpt-5.5 0 0 0, 3 true stop gpt-5.5 40 60 7"
	if got := strings.Join(got, ", "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestBrokenStream: after a stream that broke off the program asks again, with what was whole of it. The two answers
// are told apart by how far the history goes that an item answers, or by a token_count that no record precedes.
func TestBrokenStream(t *testing.T) {
	item := func(text string, after int) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:09.000Z","type":"response_item","payload":{"type":"message",`+
			`"role":"assistant","content":[{"type":"output_text","text":%q}]},"metadata":{"sampled_through_sequence":%d}}`,
			text, after)
	}
	counted := `{"timestamp":"2026-01-01T00:00:09.000Z","type":"event_msg","payload":{"type":"token_count"}}`
	for name, lines := range map[string][]string{
		"by the history": {item("whole", 1), item("again", 2), item("and more", 2)},
		"by a count":     {item("whole", 1), counted, item("again", 1)},
	} {
		r := begin().user("z").answer("0").used().user("a")
		r.lines = append(r.lines, lines...)
		s := r.used().user("b").open(t)
		var got []string
		for rec := range s.Len() {
			if !s.Answers(rec) {
				continue
			}
			n := 0
			for range must.Get(replay.New(s, replay.Options{}).At(sessionfmt.Before(rec))).CachedMessages() {
				n++
			}
			got = append(got, fmt.Sprint(n))
		}
		if said := strings.Join(got, " "); said != "1 4" {
			t.Errorf("%s: requests have %s messages, want 1 and 4", name, said)
		}
	}
}

// TestWindow: the window of a model is the one that a task records, of which Codex takes 95 percent for the whole.
func TestWindow(t *testing.T) {
	task := func(r *rollout, window int) *rollout {
		return r.add("event_msg", fmt.Sprintf(`{"type":"task_started","model_context_window":%d}`, window)).
			add("turn_context", `{"model":"gpt-5.5"}`)
	}
	r := new(rollout).add("session_meta", `{"id":"s1"}`)
	s := task(task(r, 258400).user("a").answer("1"), 38000).user("b").answer("2").open(t)
	replayed := replay.New(s, replay.Options{})
	ref := models.Ref{Provider: "openai", ID: "gpt-5.5"}
	if n, from, err := replayed.Window(ref); n != 40000 || from != "session" || err != nil {
		t.Errorf("the window is %d, %s, %v", n, from, err)
	}
}

// TestUnknown keeps and counts lines of unknown types.
func TestUnknown(t *testing.T) {
	s := begin().user("a").add("moon_phase", `{"full":true}`).answer("1").open(t)
	if got := says(t, s); got != "u:a a:1" || s.Coverage.String() == "" {
		t.Error(got)
	}
	if !strings.Contains(s.Coverage.String(), "moon_phase") {
		t.Errorf("coverage %q does not name the unknown type", s.Coverage)
	}
}

// TestForks reads sessions that continue others, and names the one that is missing.
func TestForks(t *testing.T) {
	dir := t.TempDir()
	write := func(id, content string) string {
		name := filepath.Join(dir, "rollout-2026-01-01T00-00-00-"+id+".jsonl")
		must.Do(os.WriteFile(name, []byte(content), 0o666))
		return name
	}
	base := func(id, of string, bytes, ordinal int) *rollout {
		return new(rollout).add("session_meta", fmt.Sprintf(`{"id":%q,"history_base":{"thread_id":%q,"end_byte_offset":%d,"end_ordinal_exclusive":%d}}`, id, of, bytes, ordinal))
	}
	text := func(r *rollout) string { return string(text(r)) }
	first := begin().user("a").answer("1")
	kept := len(text(first))
	write("p1", text(first.user("later")))
	child := write("p2", text(base("p2", "p1", kept, 4).user("b")))
	grand := write("p3", text(base("p3", "p2", 0, 1).user("c")))
	byOrdinal := write("p4", text(base("p4", "p1", 7, 4).user("d"))) // no line ends at byte 7
	for name, want := range map[string]string{child: "u:a a:1 u:b", grand: "u:a a:1 u:c", byOrdinal: "u:a a:1 u:d"} {
		s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		if got := says(t, s); got != want {
			t.Errorf("%s: %s, want %s", filepath.Base(name), got, want)
		}
		if pos := s.Pos(s.Leaf()); pos.File != name || pos.Line != 2 {
			t.Errorf("its leaf is at %s", pos)
		}
		if pos := s.Pos(s.Find("nobody") + 3); filepath.Base(pos.File) != "rollout-2026-01-01T00-00-00-p1.jsonl" {
			t.Errorf("what it continues is at %s", pos)
		}
		s.Close()
	}
	_, err := sessionfmt.Open(write("p5", text(base("p5", "gone", 10, 1))), sessionfmt.Options{})
	if err == nil || !strings.Contains(err.Error(), `continues session gone`) {
		t.Errorf("a missing file: %v", err)
	}
	write("q1", text(base("q1", "q2", 10, 1)))
	if _, err = sessionfmt.Open(write("q2", text(base("q2", "q1", 10, 1))), sessionfmt.Options{}); err == nil {
		t.Error("two sessions that continue each other are read")
	}
}

// TestReadOnly refuses to write to a rollout.
func TestReadOnly(t *testing.T) {
	s := begin().user("a").open(t)
	b := s.NewBatch(s.Leaf(), time.Unix(0, 0))
	b.Add(jsonl.SessionInfo, jsonl.Field{Name: "name", Value: jsonl.Value(`"n"`)})
	if err := s.Append(b, sessionfmt.AppendOptions{}); !errors.Is(err, sessionfmt.ErrForeign) {
		t.Errorf("appended: %v", err)
	}
	if _, err := s.Branch(s.Leaf(), "x", time.Unix(0, 0)); !errors.Is(err, sessionfmt.ErrForeign) {
		t.Errorf("branched: %v", err)
	}
}

// beginWith begins a rollout of a version, whose turn cuts outputs over ten bytes and a fifth.
func beginWith(version string) *rollout {
	return new(rollout).add("session_meta", fmt.Sprintf(`{"id":"s1","cli_version":%q}`, version)).
		add("turn_context", `{"model":"gpt-5.5","truncation_policy":{"mode":"bytes","limit":10}}`)
}

func (r *rollout) event(typ string) *rollout {
	return r.add("event_msg", fmt.Sprintf(`{"type":%q}`, typ))
}

func (r *rollout) call(typ, name, output string) *rollout {
	id := fmt.Sprint("c", len(r.lines))
	return r.item(fmt.Sprintf(`{"type":%q,"name":%q,"call_id":%q}`, typ, name, id)).
		item(fmt.Sprintf(`{"type":%q,"call_id":%q,"output":%q}`, typ+"_output", id, output))
}

func (r *rollout) counted(total int) *rollout {
	return r.add("event_msg", fmt.Sprintf(`{"type":"token_count","info":{"last_token_usage":{"input_tokens":5},"total_token_usage":{"total_tokens":%d}}}`, total))
}

// TestOlderVersions: what a version made of its history, by the version that wrote the file.
func TestOlderVersions(t *testing.T) {
	const plain, object = `{"message":"sum"}`, `{"output":"Total output lines: 2\n\nok\n","metadata":{"exit_code":3,"duration_seconds":0.5}}`
	history := `{"message":"sum","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"sum"}]}]}`
	compaction := func(version string) *rollout {
		return beginWith(version).note("n").user("<environment_context>e").user("a").answer("1").add("compacted", plain).user("b")
	}
	inTask := func(version string) *rollout {
		return beginWith(version).event("task_started").user("a").answer("1").
			event("task_started").add("compacted", history).note("m").user("b").answer("2").back(1).user("c")
	}
	patch := func(version string) *rollout {
		return beginWith(version).user("a").call("function_call", "shell", object).call("custom_tool_call", "apply_patch", object)
	}
	const sections = "Exit code: 3\nWall time: 0.5 seconds\nTotal output lines: 2\nOutput:\nok\n"
	for _, c := range []struct {
		name string
		r    *rollout
		want string
	}{
		{"the notes of the beginning come again", compaction("0.80.0"), "u:n u:<environment_context>e u:a u:sum u:b"},
		{"and later do not", compaction("0.99.0"), "u:a u:sum u:b"},
		{"a summary is taken back as a turn", beginWith("0.107.0").user("a").add("compacted", history).user("b").back(2).user("c"), "u:a u:c"},
		{"and its notes stay", beginWith("0.107.0").user("a").answer("1").note("n").user("b").back(1).user("c"), "u:a a:1 u:n u:c"},
		{"a task with a compaction takes all along", inTask("0.146.0"), "u:m u:c"},
		{"and later does not", inTask("0.169.0"), "u:a u:sum u:c"},
		{"outputs are cut", beginWith("0.123.0").user("a").call("function_call", "f", "0123456789äöü---"), "u:a a: t:012345…6 chars truncated…ü---"},
		{"up to a version", beginWith("0.124.0").user("a").call("function_call", "f", "0123456789äöü---"), "u:a a: t:0123456789äöü---"},
		{"objects are sent as lines", patch("0.128.0"), "u:a a: t:" + sections + " a: t:" + sections},
		{"and later as they are", beginWith("0.129.0").user("a").call("function_call", "shell", object), "u:a a: t:" + object},
		{"a usage without items is an answer", beginWith("0.107.0").user("a").counted(5).user("b").counted(9).counted(9).user("c"), "u:a a: u:b a: u:c"},
		{"that of a summary is none", beginWith("0.107.0").user("a").counted(5).add("compacted", history), "u:a u:sum"},
	} {
		if got := says(t, c.r.open(t)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
