package check

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ctxtool/sessionfmt"

	"github.com/klauspost/compress/zstd"
)

// rollout and transcript are two sessions of other agents with one conversation: a prompt, a
// call with its result, an answer, a prompt, an answer. The fifth line of both is the second
// answer, and the fourth the result.
func rollout() []string {
	var lines []string
	add := func(typ, payload string) {
		lines = append(lines, fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:%02d.000Z","type":%q,"payload":%s}`, len(lines), typ, payload))
	}
	say := func(role, kind, id, text string) {
		add("response_item", fmt.Sprintf(`{"type":"message","id":%q,"role":%q,"content":[{"type":%q,"text":%q}]}`, id, role, kind, text))
	}
	add("session_meta", `{"id":"s1","cwd":"/work","cli_version":"0.1.12"}`)
	say("user", "input_text", "u1", "List the files.")
	add("response_item", `{"type":"function_call","id":"a1","name":"exec_command","arguments":"{}","call_id":"c1"}`)
	add("response_item", `{"type":"function_call_output","id":"r1","call_id":"c1","output":"a.go and b.go"}`)
	say("assistant", "output_text", "a2", "There are two.")
	say("user", "input_text", "u2", "And now?")
	say("assistant", "output_text", "a3", "Nothing is left.")
	return lines
}

func transcript() []string {
	var lines []string
	add := func(typ, id, up, message string) {
		parent := `null`
		if up != "" {
			parent = `"` + up + `"`
		}
		lines = append(lines, fmt.Sprintf(`{"parentUuid":%s,"type":%q,"message":%s,"uuid":%q,"sessionId":"s1","cwd":"/work","version":"2.1.12","timestamp":"2026-01-01T00:00:%02d.000Z"}`, parent, typ, message, id, len(lines)))
	}
	answer := func(id, up, block string) {
		add("assistant", id, up, fmt.Sprintf(`{"id":"m%s","role":"assistant","model":"claude-opus-4-5","stop_reason":"end_turn","content":[%s],"usage":{"input_tokens":10,"output_tokens":1}}`, id, block))
	}
	lines = append(lines, `{"type":"file-history-snapshot","messageId":"u1"}`)
	add("user", "u1", "", `{"role":"user","content":"List the files."}`)
	answer("a1", "u1", `{"type":"tool_use","id":"c1","name":"Bash","input":{}}`)
	add("user", "r1", "a1", `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"a.go and b.go"}]}`)
	answer("a2", "r1", `{"type":"text","text":"There are two."}`)
	add("user", "u2", "a2", `{"role":"user","content":"And now?"}`)
	answer("a3", "u2", `{"type":"text","text":"Nothing is left."}`)
	return lines
}

// A damaged is a way to damage a session, and what a check then finds in one of Codex and one of
// Claude Code: each finding, at which line, what it hides (messages, tokens, requests), and how
// many messages the context has.
type damaged struct {
	name          string
	damage        func(lines []string) string
	codex, claude string
}

func damages() []damaged {
	swap := func(old, new string) func([]string) string {
		return func(l []string) string { return strings.ReplaceAll(strings.Join(l, "\n")+"\n", old, new) }
	}
	lines := func(change func(l []string) []string) func([]string) string {
		return func(l []string) string { return strings.Join(change(l), "\n") + "\n" }
	}
	at := func(k int, by ...string) func([]string) string { // put in before line k, from 1
		return lines(func(l []string) []string { return slices.Insert(l, k-1, by...) })
	}
	const moon, tide = `{"type":"moon","timestamp":"2026-01-01T00:00:04.000Z","payload":{}}`, `{"type":"tide","timestamp":"2026-01-01T00:00:04.000Z","payload":{}}`
	return []damaged{
		{"sound", swap("", ""), "6", "6"},
		{"a torn last line", func(l []string) string { return strings.Join(l, "\n")[:len(strings.Join(l, "\n"))-20] }, "7 torn; 5", "7 torn; 5"},
		{"no final newline", func(l []string) string { return strings.Join(l, "\n") }, "7 unterminated; 6", "7 unterminated; 6"},
		{"glued lines", lines(func(l []string) []string { l[4] += l[5]; return slices.Delete(l, 5, 6) }),
			"5 glued hides 2/6/1; 4", "5 glued hides 2/6/1, 6 bridged hides 3/10/1; 4"},
		{"a line glued to half of one", lines(func(l []string) []string { l[4] = l[4][:min(60, len(l[4])/2)] + l[5]; return slices.Delete(l, 5, 6) }),
			"5 malformed hides 1/2/0; 4", "5 malformed hides 1/2/0, 6 bridged hides 3/10/1; 4"},
		{"NUL bytes", func(l []string) string { l[4] = "\x00\x00" + l[4]; return strings.Join(l, "\n") + "\n\x00\x00\x00" },
			"5 padded, 8 padded; 6", "5 padded, 8 padded; 6"},
		{"a malformed line", lines(func(l []string) []string { l[4] = l[4][:min(70, len(l[4])/2)]; return l }), "5 malformed; 5", "5 malformed, 6 bridged hides 3/10/1; 5"},
		{"no JSON at all", at(5, "oops"), "5 malformed; 6", "5 malformed; 6"},
		{"bytes that are not UTF-8", swap("There are", "There \xff\xfe"), "5 invalid-utf8; 6", "5 invalid-utf8; 6"},
		{"CR LF", swap("\n", "\r\n"), "crlf; 6", "crlf; 6"},
		{"blank lines", at(5, "", " "), "blank-line; 6", "blank-line; 6"},
		{"lines that are not objects", at(5, "17", "[1]", "null"), "5 scalar-line, 6 scalar-line, 7 scalar-line; 6", "5 scalar-line, 6 scalar-line, 7 scalar-line; 6"},
		{"a byte order mark", func(l []string) string { return "\ufeff" + strings.Join(l, "\n") + "\n" }, "1 bom; 6", "1 bom; 6"},
		{"a line twice", lines(func(l []string) []string { return slices.Insert(l, 5, l[4]) }), "6 repeated; 6", "6 repeated; 6"},
		{"a dangling parent", swap(`"parentUuid":"a2"`, `"parentUuid":"gone"`), "6", "6 bridged hides 4/14/2; 6"},
		{"a lost beginning", lines(func(l []string) []string { return slices.Delete(l, 1, 2) }), "5", "2 incomplete; 5"},
		{"a parent cycle", swap(`"parentUuid":null`, `"parentUuid":"a3"`), "6", "2 incomplete; 6"},
		{"its own parent", swap(`"parentUuid":"a2"`, `"parentUuid":"u2"`), "6", "6 bridged hides 4/14/2; 6"},
		{"a call without a result", lines(func(l []string) []string { return slices.Delete(l, 3, 4) }), "3 call-without-result; 4", "3 call-without-result, 4 bridged hides 2/6/1; 5"},
		{"a result without its call", swap(`"c1"}]}`, `"c2"}]}`), "6", "6"},
		{"an empty file", swap("", ""), "unread", "unread"},
		{"the header alone", lines(func(l []string) []string { return l[:1] }), "0", "0"},
		{"no header", lines(func(l []string) []string { return l[1:] }), "no-header; 6", "6"},
		{"a broken header", lines(func(l []string) []string { l[0] = l[0][:30]; return l }), "no-header, 1 malformed; 6", "1 malformed; 6"},
		{"a huge line", swap("There are two.", strings.Repeat("There are two. ", 200000)), "6", "7 maybe-cleared; 6"},
		{"a newer version", swap(`.1.12"`, `.200.1"`), "1 too-new; 6", "2 too-new; 6"},
		{"unknown types", at(5, moon, tide, moon), "5 unknown-type, 6 unknown-type; 6", "5 unknown-type, 6 unknown-type; 6"},
	}
}

// TestDialects damages a session of each agent in each way.
func TestDialects(t *testing.T) {
	for _, test := range damages() {
		for _, d := range []struct {
			agent string
			lines []string
			want  string
		}{{"codex", rollout(), test.codex}, {"claude", transcript(), test.claude}} {
			data := test.damage(d.lines)
			if test.name == "an empty file" {
				data = ""
			}
			if got := damageReport(t, d.agent, data); got != d.want {
				t.Errorf("%s of %s: %s, want %s", test.name, d.agent, got, d.want)
			}
		}
	}
}

// damageReport checks a session, plain and packed with the same result, and returns its
// findings with what they hide, and the messages of its context.
func damageReport(t *testing.T, agent, data string) string {
	t.Helper()
	dir := t.TempDir()
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write([]byte(data))
	w.Close()
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for name, packed := range map[string][]byte{"s.jsonl": []byte(data), "s.jsonl.gz": gz.Bytes(), "s.jsonl.zst": enc.EncodeAll([]byte(data), nil)} {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, packed, 0o666); err != nil {
			t.Fatal(err)
		}
		all = append(all, reportOf(t, agent, name))
	}
	if slices.Sort(all); all[0] != all[2] {
		t.Errorf("packed it differs: %q", all)
	}
	return all[0]
}

func reportOf(t *testing.T, agent, name string) string {
	r := File(name, Options{})
	if r.Verdict == Unread {
		return "unread"
	}
	if r.Agent != agent {
		t.Errorf("read as a session of %q", r.Agent)
	}
	var found []string
	for _, f := range r.Findings {
		s := f.Code
		if f.Line > 0 {
			s = fmt.Sprintf("%d %s", f.Line, f.Code)
		}
		if f.Hides != nil {
			s += fmt.Sprintf(" hides %d/%d/%d", f.Hides.Messages, f.Hides.Tokens, f.Hides.Requests)
		}
		if strings.HasPrefix(f.Fix, "ctxtool") && !strings.HasSuffix(f.Fix, " -o NEW.jsonl") {
			t.Errorf("%s: the fix of %s would write to it: %s", agent, f.Code, f.Fix)
		}
		found = append(found, s)
	}
	s, err := sessionfmt.Open(name, sessionfmt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	now, err := Measure(s, s.Leaf())
	if err != nil {
		t.Error(err)
	}
	return strings.TrimPrefix(fmt.Sprintf("%s; %d", strings.Join(found, ", "), now.Messages), "; ")
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
	r := File(name, Options{})
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

// TestDocumentLines: findings in a document name the lines of the file, plain and packed.
func TestDocumentLines(t *testing.T) {
	data, err := os.ReadFile("../../testdata/dialects/9c01aa7e55d2.json")
	if err != nil {
		t.Fatal(err)
	}
	whole := string(data)
	for _, test := range []struct{ name, text, want string }{
		{"a time that is none", strings.Replace(whole, `"2026-01-20 08:15:31.000412"`, `"soon"`, 1), "14 bad-time; 7"},
		{"an unknown role", strings.Replace(whole, `"role": "user"`, `"role": "alien"`, 1), "14 unknown-type; 6"},
		{"no JSON", strings.Replace(whole, `"c2",`, `"c2" x,`, 1), "41 broken-off; 2"},
		{"cut", whole[:strings.Index(whole, "x is 1")], "75 broken-off; 6"},
		{"another value beside", strings.Replace(whole, `"id"`, `"more": [{"a": "]"}], "id"`, 1), "7"},
		{"another document after it", whole + whole, "93 broken-off; 7"},
		{"on one line", strings.Join(strings.Fields(whole), " "), "7"},
		{"CR LF", strings.ReplaceAll(whole, "\n", "\r\n"), "7"},
	} {
		if got := damageReport(t, "swe-cli", test.text); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
