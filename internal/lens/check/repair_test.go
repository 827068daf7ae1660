package check

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

const head3 = `{"type":"session","version":3,"id":"s","timestamp":"2031-01-02T03:04:05.000Z","cwd":"/"}`

// entry is a line of type typ. The parent "" is none.
func entry(typ, id, parent, rest string) string {
	up := "null"
	if parent != "" {
		up = `"` + parent + `"`
	}
	return fmt.Sprintf(`{"type":"%s","id":"%s","parentId":%s,"timestamp":"2031-01-02T03:04:05.000Z"%s}`, typ, id, up, rest)
}

func user(id, parent string) string {
	return entry("message", id, parent, `,"message":{"role":"user","content":"`+id+`","timestamp":1}`)
}

// calls is an answer that makes those calls, result the result of one.
func calls(id, parent, stop string, calls ...string) string {
	var blocks []string
	for _, c := range calls {
		blocks = append(blocks, `{"type":"toolCall","id":"`+c+`","name":"ls","arguments":{}}`)
	}
	return entry("message", id, parent, `,"message":{"role":"assistant","content":[`+strings.Join(blocks, ",")+
		`],"api":"x","provider":"x","model":"m","stopReason":"`+stop+`","timestamp":1}`)
}

func result(id, parent, call string) string {
	return entry("message", id, parent, `,"message":{"role":"toolResult","toolCallId":"`+call+`","toolName":"ls","content":[],"isError":false,"timestamp":1}`)
}

func file(lines ...string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }

// TestRepairRules: what becomes of a damage, line by line.
func TestRepairRules(t *testing.T) {
	kept := func(id, parent, first string) string {
		return entry("compaction", id, parent, `,"summary":"s","firstKeptEntryId":"`+first+`","tokensBefore":9`)
	}
	label := func(id, parent, target string) string {
		return entry("label", id, parent, `,"targetId":"`+target+`","label":"l"`)
	}
	omit := func(id, parent, target string) string {
		return entry("context_edit", id, parent, `,"targetId":"`+target+`","replacement":null`)
	}
	broken := entry("message", "x", "b", `,"message":null`)
	v1 := strings.Replace(head3, `"version":3,`, "", 1)
	noID := func(line string) string {
		_, rest, _ := strings.Cut(line, `,"timestamp"`)
		return line[:strings.Index(line, `,"id"`)] + `,"timestamp"` + rest
	}
	for _, c := range []struct {
		name     string
		was, now []string
	}{
		{"a second byte order mark, on a line of its own, goes with the first",
			[]string{"\ufeff\ufeff", head3, user("a", "")},
			[]string{head3, user("a", "")}},
		{"a compaction that keeps from what is taken out keeps from the next entry",
			[]string{head3, user("a", ""), user("b", "a"), broken, user("c", "x"), kept("k", "c", "x")},
			[]string{head3, user("a", ""), user("b", "a"), user("c", "b"), kept("k", "c", "c")}},
		{"and nothing where there is none",
			[]string{head3, user("a", ""), user("b", "a"), broken, kept("k", "x", "x")},
			[]string{head3, user("a", ""), user("b", "a"), kept("k", "b", "k")}},
		{"an edit of what is taken out edits nothing else, a label goes up",
			[]string{head3, user("a", ""), user("a", "a"), user("b", "a"), broken, omit("e", "x", "x"), label("l", "e", "x")},
			[]string{head3, strings.Replace(user("a", ""), `"id":"a"`, `"id":"a'"`, 1), user("a", "a'"), user("b", "a"), omit("e", "b", "x"), label("l", "e", "b")}},
		{"in version 1 an index counts without what is taken out",
			[]string{v1, noID(user("a", "")), noID(broken), noID(user("b", "a")), noID(entry("compaction", "k", "b", `,"summary":"s","firstKeptEntryIndex":3,"tokensBefore":9`))},
			[]string{v1, noID(user("a", "")), noID(user("b", "a")), noID(entry("compaction", "k", "b", `,"summary":"s","firstKeptEntryIndex":2,"tokensBefore":9`))}},
		{"cycles that depend on each other by parents that stand below",
			[]string{head3, user("a", "g"), user("b", "d"), user("c", "d"), user("d", "e"), user("e", "d"), user("g", "h"), user("h", "g")},
			[]string{head3, user("a", "g"), user("b", "d"), user("c", "d"), user("d", ""), user("e", "d"), user("g", "e"), user("h", "g")}},
		{"a cycle that a broken line closed",
			[]string{head3, user("a", ""), user("b", "c"), strings.TrimSuffix(user("c", "b"), "}")},
			[]string{head3, user("a", ""), user("b", "a")}},
		{"a header that is glued to its first entry",
			[]string{head3 + user("a", ""), user("b", "a")},
			[]string{head3, user("a", ""), user("b", "a")}},
		{"a late header without id",
			[]string{user("a", ""), strings.Replace(head3, `"id":"s"`, `"id":7`, 1)},
			[]string{strings.Replace(head3, `"id":"s"`, `"id":"7"`, 1), user("a", "")}},
	} {
		out, _ := repaired(t, c.name, file(c.was...))
		var now []string
		for k, line := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
			if id := jsonl.Value(line).Get("id").Text(); k == 1 && len(id) == 8 { // an id that was made
				out = bytes.ReplaceAll(out, []byte(id), []byte("a'"))
			}
			now = append(now, line)
		}
		if string(out) != string(file(c.now...)) {
			t.Errorf("%s:\n got %s\nwant %s", c.name, strings.Join(now, "\n     "), strings.Join(c.now, "\n     "))
		}
	}
}

// TestRefuse: a version that is too new is refused, also where its header is glued.
func TestRefuse(t *testing.T) {
	head := strings.Replace(head3, `"version":3`, `"version":4`, 1)
	for _, lines := range [][]string{{head, user("a", "")}, {head + user("a", ""), user("b", "a")}} {
		s := must.Get(sessionfmt.OpenReader("s.jsonl", bytes.NewReader(file(lines...)), sessionfmt.Options{}))
		if _, err := NewRepair(s); err == nil {
			t.Errorf("%s: repaired", lines[0])
		}
		s.Close()
	}
}

// TestAnswerCalls: what is appended, and where nothing can be.
func TestAnswerCalls(t *testing.T) {
	patched := entry("context_transform", "t", "r", `,"transformerName":"x","schemaVersion":1,"patch":[{"op":"messages_cached_replace","scope":"cached","invalidateCacheReason":"r","messages":[`+
		`{"role":"assistant","content":[{"type":"toolCall","id":"p","name":"ls","arguments":{}}],"stopReason":"toolUse","timestamp":1}]}]`)
	for _, c := range []struct {
		name  string
		lines []string
		want  []string // kinds of what is appended; nil where it is refused
	}{
		{"a call at the end", []string{head3, user("a", ""), calls("b", "a", "toolUse", "1", "2"), result("r", "b", "1")}, []string{"message"}},
		{"a call further up", []string{head3, user("a", ""), calls("b", "a", "toolUse", "1"), user("c", "b")}, []string{"context_edit"}},
		{"one id for two calls, and one result", []string{head3, user("a", ""), calls("b", "a", "toolUse", "1"), calls("c", "b", "toolUse", "1"), result("r", "c", "1")}, []string{"context_edit"}},
		{"a failed answer with a result", []string{head3, user("a", ""), calls("b", "a", "error", "1"), result("r", "b", "1"), user("c", "r")}, []string{"context_edit"}},
		{"a result whose call a patch makes", []string{head3, user("r", ""), patched, result("q", "t", "p"), user("c", "q")}, []string{}},
		{"version 1", []string{`{"type":"session","id":"s"}`, calls("b", "a", "toolUse", "1")}, nil},
	} {
		s, err := sessionfmt.OpenReader("s.jsonl", bytes.NewReader(file(c.lines...)), sessionfmt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		r := must.Get(NewRepair(s))
		err = r.AnswerCalls(time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC))
		var got []string
		if r.tail != nil {
			for line := range bytes.Lines(r.tail.Lines()) {
				got = append(got, jsonl.Value(line).Get("type").Text())
			}
		}
		if (err != nil) != (c.want == nil) || err == nil && fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
		r.Close()
		s.Close()
	}
}

// TestWithout: what an answer says besides its open calls.
func TestWithout(t *testing.T) {
	const text, thought = `{"type":"text","text":"x"}`, `{"type":"thinking","thinking":"y"}`
	const call, done = `{"type":"toolCall","id":"1","name":"ls","arguments":{}}`, `{"type":"toolCall","id":"2","name":"ls","arguments":{}}`
	for content, want := range map[string]string{
		call:                              `null`,
		thought + "," + call:              `null`,
		call + "," + call:                 `null`,
		call + "," + text:                 `{"content":[` + text + `]}`,
		thought + "," + text + "," + call: `{"content":[` + thought + "," + text + `]}`,
		text + "," + call + "," + done:    `{"content":[` + text + "," + done + `]}`,
	} {
		answer := entry("message", "b", "a", `,"message":{"role":"assistant","content":[`+content+`],"provider":"x","model":"m","stopReason":"toolUse","timestamp":1}`)
		lines := []string{head3, user("a", ""), answer, user("c", "b")}
		if strings.Contains(content, done) {
			lines = []string{head3, user("a", ""), answer, result("r", "b", "2"), user("c", "r")}
		}
		s := must.Get(sessionfmt.OpenReader("s.jsonl", bytes.NewReader(file(lines...)), sessionfmt.Options{}))
		r := must.Get(NewRepair(s))
		must.Do(r.AnswerCalls(time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC)))
		if got := string(jsonl.Value(r.tail.Lines()).Get("replacement")); got != want {
			t.Errorf("of %s: %s, want %s", content, got, want)
		}
		r.Close()
		s.Close()
	}
}

// TestTwins: of several ids that several entries have, each entry but the last gets
// another, and lines that are there twice go.
func TestTwins(t *testing.T) {
	say := func(id, parent, text string) string {
		return entry("message", id, parent, `,"message":{"role":"user","content":"`+text+`","timestamp":1}`)
	}
	was := []string{head3, say("a", "", "1"), say("a", "a", "2"), say("a", "a", "3"), say("b", "a", "4"), say("b", "a", "4"), say("c", "b", "5"), say("c", "b", "6"), say("d", "c", "7")}
	out, quarantine := repaired(t, "twins", file(was...))
	if r := checked(out); r.has("duplicate-id") || len(r.Findings) > 0 {
		t.Errorf("%s has %v", out, r.Findings)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != len(was)-1 || string(quarantine) != was[5]+"\n" {
		t.Fatalf("%d lines, and taken out are %q", len(lines), quarantine)
	}
	for k, id := range []string{"", "?", "?", "a", "b", "?", "c", "d"} {
		got := jsonl.Value(lines[k]).Get("id").Text()
		if renamed := got != "a" && got != "b" && got != "c"; k > 0 && (id == "?" && !renamed || id != "?" && got != id) {
			t.Errorf("line %d has the id %q, not %q", k+1, got, id)
		}
	}
}

// TestRepairMany repairs files of one damage many times over: the time grows with their
// number, not with its square, and no line is lost.
func TestRepairMany(t *testing.T) {
	name := func(i int) string { return fmt.Sprint("i", i) }
	for _, c := range []struct {
		name string
		line func(i, n int) string
	}{
		{"one id for all", func(i, _ int) string {
			return entry("label", "a", "a", fmt.Sprintf(`,"targetId":"a","label":"%d"`, i))
		}},
		{"entries alike without id", func(int, int) string { return entry("label", "", "", `,"targetId":"a"`) }},
		{"orphans of a chain of broken lines", func(i, n int) string {
			if i < n/2 {
				return entry("label", name(i), name(i-1), `,"targetId":`)
			}
			return entry("label", name(i), name(n/2-1), `,"targetId":"a"`)
		}},
		{"cycles of two", func(i, _ int) string { return entry("label", name(i), name(i^1), `,"targetId":"a"`) }},
	} {
		took := func(n int) time.Duration {
			lines := []string{head3}
			for i := range n {
				lines = append(lines, c.line(i, n))
			}
			data := file(lines...)
			before := time.Now()
			out, quarantine := repaired(t, c.name, data)
			after := time.Now()
			if is := bytes.Count(out, []byte{'\n'}) + bytes.Count(quarantine, []byte{'\n'}); is != n+1 {
				t.Errorf("%s: %d lines become %d", c.name, n+1, is)
			}
			return after.Sub(before)
		}
		const n = 4000
		for try := 1; ; try++ { // the machine may be busy
			few, many := took(n), took(4*n)
			if many < 300*time.Millisecond || many < 10*few {
				break
			}
			if try == 3 {
				t.Errorf("%s: %d take %v, %d take %v", c.name, n, few, 4*n, many)
				break
			}
		}
	}
	nested := strings.Repeat(`{"type":"a","x":`, 1<<18)
	out, quarantine := repaired(t, "nested", file(head3, nested, user("a", "")))
	if string(out) != string(file(head3, user("a", ""))) || string(quarantine) != nested+"\n" {
		t.Error("nested beginnings: something else was made of them")
	}
}
