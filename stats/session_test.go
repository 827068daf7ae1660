package stats_test

import (
	"fmt"
	"strings"
	"testing"

	"ctxtool/stats"
)

// TestOutcomes: the outcome of a call depends on the words of its result and on the entries
// around it.
func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		name, want string
		session    *lines
	}{
		{"ok", "1 ok", newLines().answer("a", call("c", "t", "{}"), "").result("r", "c", "Blocked: no error", "")},
		{"error", "1 error", newLines().answer("a", call("c", "t", "{}"), "").result("r", "c", "no such file", failed)},
		{"blocked by a hook's reason", "1 blocked", newLines().answer("a", call("c", "t", "{}"), "").result("r", "c", "🔒 Blocked: secrets", failed)},
		{"blocked without reason", "1 blocked", newLines().answer("a", call("c", "t", "{}"), "").result("r", "c", "Tool execution was blocked by an extension", failed)},
		{"skipped", "1 skipped", newLines().answer("a", call("c", "t", "{}"), "").result("r", "c", "Skipped due to queued user message.", failed)},
		{"aborted while it ran", "1 aborted", newLines().answer("a", call("c", "t", "{}"), "").result("r", "c", "some output\n\nCommand aborted", failed)},
		{"aborted before it ran", "1 aborted", newLines().answer("a", call("c", "t", "{}"), `,"stopReason":"aborted"`)},
		{"an error that speaks of aborting", "1 error", newLines().answer("a", call("c", "t", "{}"), "").result("r", "c", "Command aborted\nwith code 3", failed)},
		{"never answered", "1 unanswered", newLines().answer("a", call("c", "t", "{}"), `,"stopReason":"error"`)},
		{"answered to please the provider", "1 unanswered", newLines().answer("a", call("c", "t", "{}"), "").result("r", "c", "No result provided", failed)},
		{"the result first", "1 ok", newLines().result("r", "c", "x", "").answer("a", call("c", "t", "{}"), "")},
		{"a message between", "1 ok", newLines().answer("a", call("c", "t", "{}"), "").user("u", "wait").answer("b", "", "").result("r", "c", "x", "")},
		{"on another branch", "1 ok", newLines().user("u", "go").answer("a", call("c", "t", "{}"), "").from("u").result("r", "c", "x", "")},
		{"an id again", "1 error, 1 ok", newLines().answer("a", call("c", "t", "{}"), "").result("r", "c", "x", "").answer("b", call("c", "t", "{}"), "").result("s", "c", "x", failed)},
		{"two of three", "2 ok, 1 unanswered", newLines().answer("a", call("c", "t", "{}")+","+call("d", "t", "{}")+","+call("e", "t", "{}"), "").result("r", "e", "x", "").result("s", "c", "x", "")},
		{"a result without a call", "; 1 lost", newLines().result("r", "c", "x", "")},
		{"a result twice", "1 ok; 1 lost", newLines().answer("a", call("c", "t", "{}"), "").result("r", "c", "x", "").result("s", "c", "x", "")},
	} {
		p := c.session.look(t, stats.Options{}, "session").Session
		var got []string
		n := p.Calls
		for _, o := range []struct {
			n    int
			name string
		}{{n.Error, "error"}, {n.OK, "ok"}, {n.Blocked, "blocked"}, {n.Skipped, "skipped"}, {n.Aborted, "aborted"}, {n.Unanswered, "unanswered"}} {
			if o.n > 0 {
				got = append(got, fmt.Sprint(o.n, " ", o.name))
			}
		}
		text := strings.Join(got, ", ")
		if p.LostResults > 0 {
			text += fmt.Sprintf("; %d lost", p.LostResults)
		}
		if text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// TestSession: all branches count, and a prompt has the requests of its longest path.
func TestSession(t *testing.T) {
	l := newLines().user("u", "first").
		answer("a", call("c1", "bash", `{"command":"ls"}`)+","+call("c2", "read", `{ "path" : "x" }`), `,"stopReason":"toolUse"`).
		result("r1", "c1", "out", "").result("r2", "c2", "gone", failed).
		answer("b", said("ok"), `,"stopReason":"stop"`).
		answer("c", said("more"), `,"stopReason":"stop"`).
		from("r2").answer("d", said("other way"), "").
		user("v", "second").answer("e", said("x"), `,"stopReason":"error"`).
		entry("x", `"type":"context_edit","targetId":"e","replacement":null`).
		compaction("k", "v", "short", "").
		entry("s", `"type":"branch_summary","fromId":"c","summary":"left"`)
	p := l.look(t, stats.Options{MaxIterations: 2}, "session").Session
	got := fmt.Sprint(p.Messages, p.Roles, p.Turns, p.Requests, p.StopReasons, p.Models, p.Branches, p.Compactions, p.Summaries, p.Edits, p.Transforms)
	want := "9 map[assistant:5 toolResult:2 user:2] 2 5 map[error:1 none:1 stop:2 toolUse:1] [{p m 5}] 2 1 1 1 0"
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if got := fmt.Sprintf("%+v", p.Tools); got != "[{Tool:bash Calls:1 OK:1 Error:0 Blocked:0 Skipped:0 Aborted:0 Unanswered:0 Nested:0 Asked:16 Got:30} {Tool:read Calls:1 OK:0 Error:1 Blocked:0 Skipped:0 Aborted:0 Unanswered:0 Nested:0 Asked:16 Got:31}]" {
		t.Errorf("%s", got)
	}
	if s := p.Time; s.First != "2026-01-01T00:00:01.000Z" || s.Last != "2026-01-01T00:00:09.000Z" || s.Seconds != 8 {
		t.Errorf("%+v", s)
	}
	if got := fmt.Sprintf("%+v", p.LongPrompts); got != "{Limit:2 Count:1 Most:3 Prompts:[{File: Line:2 Entry:u Requests:3 Text:first}]}" {
		t.Errorf("%s", got)
	}
	sum := twice(t, l.look(t, stats.Options{MaxIterations: 2}, "session", "growth", "compactions")).Session
	if sum.Sessions != 2 || sum.Time.Seconds != 16 || sum.Branches != 4 || sum.Models[0].Requests != 10 || sum.Tools[1].Error != 2 ||
		sum.LongPrompts.Count != 2 || sum.LongPrompts.Prompts[1].File != "b" || sum.LongPrompts.Most != 3 {
		t.Errorf("%+v", sum)
	}
	if p := newLines().user("u", "x").look(t, stats.Options{}, "session").Session; p.LongPrompts.Limit != 25 {
		t.Errorf("gsh's limit: %+v", p.LongPrompts)
	}
}
