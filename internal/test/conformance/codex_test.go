package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/internal/lens/check"
	"ctxtool/internal/test/must"
)

// rolloutLine is one of a rollout, at that second.
func rolloutLine(at int, typ, payload string) string {
	return fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:%02d.000Z","type":%q,"payload":%s}`, at, typ, payload)
}

func rolloutItem(at int, role, kind, id, text string) string {
	return rolloutLine(at, "response_item", fmt.Sprintf(`{"type":"message","id":%q,"role":%q,"content":[{"type":%q,"text":%q}]}`, id, role, kind, text))
}

// rollout is the session that the suite asks for.
func rollout() []string {
	return []string{
		rolloutLine(0, "session_meta", `{"id":"s1","cwd":"/work","cli_version":"0.1.12"}`),
		rolloutItem(1, "user", "input_text", "u1", "List the files."),
		rolloutLine(2, "response_item", `{"type":"function_call","id":"a1","name":"exec_command","arguments":"{}","call_id":"c1"}`),
		rolloutLine(3, "response_item", `{"type":"function_call_output","id":"r1","call_id":"c1","output":"a.go and b.go"}`),
		rolloutItem(4, "assistant", "output_text", "a2", "There are two."),
		rolloutItem(5, "user", "input_text", "u2", "And now?"),
		rolloutItem(6, "assistant", "output_text", "a3", "Nothing is left."),
	}
}

func TestCodex(t *testing.T) {
	t.Parallel()
	instead := rolloutItem(8, "user", "input_text", "u3", "Instead?")
	Run(t, Agent{
		Name:   "codex",
		Lines:  rollout(),
		Resume: []string{rolloutLine(7, "turn_context", `{"model":"m"}`), instead},
		Fork:   []string{rolloutLine(7, "event_msg", `{"type":"thread_rolled_back","num_turns":1}`), instead},
		Usage:  []string{"payload.usage.input_tokens", "payload.usage.output_tokens"},
		Found: map[string]string{
			"a line twice":                 "6 repeated; +0",
			"two files":                    "9 repeated, 9 time-backward, 10 repeated, 11 repeated, 12 repeated, 13 repeated, 14 repeated; +6",
			"a huge line":                  "+0",
			"no header":                    "no-header; +0",
			"a broken header":              "no-header, 1 malformed; +0",
			"a newer version":              "+0",
			"a newer version, and a field": "1 too-new; +0",
			"a call without a result":      "3 call-without-result; -2",
		},
	})
}

// TestContinued: findings in files that a session continues name those, and their lines.
func TestContinued(t *testing.T) {
	dir := t.TempDir()
	write := func(id string, lines ...string) (name string, size int) {
		name = filepath.Join(dir, "rollout-2026-01-01T00-00-00-"+id+".jsonl")
		data := strings.Join(lines, "\n") + "\n"
		if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
		return name, len(data)
	}
	continues := func(id, of string, size int) string {
		return fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":%q,"cwd":"/work","history_base":{"thread_id":%q,"end_byte_offset":%d,"end_ordinal_exclusive":9}}}`, id, of, size)
	}
	l := rollout()
	_, first := write("p1", l[0], l[1], "broken", l[2]+l[3])
	_, second := write("p2", continues("p2", "p1", first), l[4], "{broken", `{"type":"moon"}`)
	name, _ := write("p3", continues("p3", "p2", second), "broken", l[5]+l[6])
	r := check.File(name, check.Options{})
	r.Rename("s.jsonl")
	var got []string
	for _, f := range r.Findings {
		s := fmt.Sprintf("%s:%d %s", filepath.Base(f.File), f.Line, f.Code)
		if f.Hides != nil {
			s += fmt.Sprintf(" hides %d", f.Hides.Messages)
		}
		got = append(got, s)
	}
	const p1, p2 = "rollout-2026-01-01T00-00-00-p1.jsonl", "rollout-2026-01-01T00-00-00-p2.jsonl"
	want := []string{"s.jsonl:2 malformed", "s.jsonl:3 glued hides 2", p1 + ":3 malformed", p1 + ":4 glued", p2 + ":3 malformed", p2 + ":4 unknown-type"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRewritten: a file that begins with a compaction was written again, unless it continues another
// one or the compaction keeps no prompts.
func TestRewritten(t *testing.T) {
	begins := func(meta, history string) []string {
		return []string{
			rolloutLine(0, "session_meta", `{"id":"s1","cwd":"/work"`+meta+`}`),
			rolloutLine(1, "turn_context", `{"model":"gpt-5.5"}`),
			rolloutLine(2, "event_msg", `{"type":"task_started"}`),
			rolloutLine(3, "compacted", `{"message":"","window_number":7,"replacement_history":[`+history+`]}`),
			rolloutItem(4, "user", "input_text", "u2", "And now?"),
			rolloutItem(5, "assistant", "output_text", "a2", "Nothing is left."),
		}
	}
	const prompt = `{"type":"message","role":"user","content":[{"type":"input_text","text":"List the files."}]}`
	const environment = `{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x"}]}`
	const sealed = `{"type":"compaction","encrypted_content":"x"}`
	earlier := begins("", prompt+","+sealed)
	for _, c := range []struct {
		name  string
		lines []string
		want  int // the line of the finding, 0 for none
	}{
		{"it begins with a compaction", earlier, 4},
		{"which keeps no prompt", begins("", environment+","+sealed), 0},
		{"a fork may begin so", begins(`,"forked_from_id":"s0"`, prompt+","+sealed), 0},
		{"a sub-agent may", begins(`,"parent_thread_id":"s0"`, prompt+","+sealed), 0},
		{"its prompt comes before", slices.Insert(slices.Clone(earlier), 3, rolloutItem(3, "user", "input_text", "u1", "List the files.")), 0},
		{"a second compaction", append(slices.Clone(earlier), earlier[3]), 4},
	} {
		name := filepath.Join(t.TempDir(), "s.jsonl")
		must.Do(os.WriteFile(name, []byte(strings.Join(c.lines, "\n")+"\n"), 0o666))
		var got []int
		for _, f := range check.File(name, check.Options{}).Findings {
			if f.Code == "rewritten" {
				got = append(got, f.Line)
			}
		}
		if !slices.Equal(got, slices.DeleteFunc([]int{c.want}, func(n int) bool { return n == 0 })) {
			t.Errorf("%s: found at %d, want %d", c.name, got, c.want)
		}
	}
}
