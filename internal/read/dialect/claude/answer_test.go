package claude_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/lens/check"
	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/stats"
)

// answerLine is a line of an answer: `id/request stop prompt block`, - for what is absent, and _ for an empty id.
func answerLine(short string) string {
	f := strings.Fields(short)
	message, request, _ := strings.Cut(f[0], "/")
	id, stop, by := fmt.Sprintf(`"id":%q,`, strings.Trim(message, "_")), fmt.Sprintf("%q", f[1]), ""
	if message == "-" {
		id = ""
	}
	if f[1] == "-" {
		stop = "null"
	}
	if request != "" {
		by = fmt.Sprintf(`,"requestId":%q`, request)
	}
	block := fmt.Sprintf(`{"type":"text","text":%q}`, f[3])
	if call, ok := strings.CutPrefix(f[3], "call:"); ok {
		block = fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"T","input":{}}`, call)
	}
	return fmt.Sprintf(`"type":"assistant","message":{%s"role":"assistant","model":"claude-sonnet-4-5","content":[%s],`+
		`"stop_reason":%s,"usage":{"input_tokens":%s,"output_tokens":5}}%s`, id, block, stop, f[2], by)
}

// answerTests are lines, each the child of the one before it: a prompt, a result, a note, a mark, an attachment,
// or what answerLine makes. The answers that they make have their lines joined by +.
var answerTests = []struct {
	name  string
	lines []string
	want  string
}{
	{"one id for all answers", []string{"> q0", "x end_turn 9 a0", "> q1", "x end_turn 9 a1", "> q2", "x end_turn 9 a2"}, "a0 a1 a2"},
	{"one id and one request for all", []string{"> q0", "x/r end_turn 9 a0", "> q1", "x/r end_turn 9 a1"}, "a0 a1"},
	{"one id, and requests of their own", []string{"> q0", "x/r0 end_turn 9 a0", "> q1", "x/r1 end_turn 9 a1"}, "a0 a1"},
	{"other requests, and no prompt between", []string{"> q", "x/r0 - 9 a", "x/r1 - 9 b"}, "a b"},
	{"an empty id", []string{"> q0", "_ end_turn 9 a0", "> q1", "_ end_turn 9 a1"}, "a0 a1"},
	{"no id", []string{"> q0", "- end_turn 9 a0", "> q1", "- end_turn 9 a1"}, "a0 a1"},
	{"no id, on several lines", []string{"> q", "- - 9 a", "- tool_use 9 call:c", "< c", "- end_turn 20 b"}, "a+c b"},
	{"no id, only requests", []string{"> q", "-/r0 - 9 a", "-/r0 tool_use 9 call:c", "< c", "-/r1 end_turn 9 b"}, "a+c b"},
	{"lines of one answer", []string{"> q", "x/r - 9 a", "x/r - 9 b", "x/r end_turn 9 c"}, "a+b+c"},
	{"a mark and an attachment between", []string{"> q", "x/r - 9 a", "! turn_duration", "@ todo", "x/r end_turn 9 b"}, "a+b"},
	{"a result between", []string{"> q", "x/r - 9 call:c", "< c", "x/r - 9 call:d", "< d", "y/s end_turn 20 a"}, "c+d a"},
	{"a result and a note between", []string{"> q", "x/r - 9 call:c", "< c", "~ skill", "x/r tool_use 9 call:d"}, "c+d"},
	{"a result between, without requests", []string{"> q", "x - 9 call:c", "< c", "x tool_use 9 call:d", "< d"}, "c+d"},
	{"one id, and the next prompt is longer", []string{"> q", "x tool_use 9 call:c", "< c", "x tool_use 30 call:d", "< d", "x end_turn 40 a"}, "c d a"},
	{"one id and constant usage, told by the end", []string{"> q", "x tool_use 9 call:c", "< c", "x end_turn 9 a"}, "c a"},
	{"one id and one request, told by the end", []string{"> q", "x/r tool_use 9 call:c", "< c", "x/r end_turn 9 a"}, "c a"},
	{"feedback of a hook", []string{"> q", "x end_turn 0 a", "~ go-on", "x end_turn 0 b"}, "a b"},
	{"an interrupted answer, and its id again", []string{"> q", "x - 9 a", "> again", "x - 9 b"}, "a b"},
}

// TestAnswers: lines belong to one answer if they name the same one and only its lines, its results and notes
// stand between; a prompt ends it. Every answer is one call, one request and one entry, and nothing is damaged.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, test := range answerTests {
		var all [][3]string
		for n, short := range test.lines {
			id, before := fmt.Sprintf("u%d", n), ""
			if n > 0 {
				before = fmt.Sprintf("u%d", n-1)
			}
			line := answerLine
			if mark, rest, _ := strings.Cut(short, " "); strings.Contains("> < ~ ! @", mark) {
				short, line = rest, map[string]func(string) string{">": said, "<": func(call string) string {
					return `"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + call + `","content":"out"}]}`
				}, "~": func(text string) string { return `"isMeta":true,` + said(text) }, "!": func(kind string) string {
					return `"type":"system","subtype":"` + kind + `"`
				}, "@": func(kind string) string { return attached(`"type":"`+kind+`"`, "") }}[mark]
			}
			all = append(all, [3]string{id, before, line(short)})
		}
		name := filepath.Join(t.TempDir(), "s1.jsonl")
		must.Do(os.WriteFile(name, []byte(newer(all...)), 0o600))
		s := must.Get(sessionfmt.Open(name, sessionfmt.Options{}))
		defer s.Close()
		var got []string
		lines := s.NewReader()
		for i := range s.Len() {
			if !s.Answers(i) {
				continue
			}
			var parts []string
			for b := range must.Get(lines.Line(i)).Get("message").Get("content").Elements {
				parts = append(parts, b.Get("text").Text()+b.Get("id").Text())
			}
			got = append(got, strings.Join(parts, "+"))
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		o := stats.Options{Lenses: stats.Lenses}
		r, answers := must.Get(o.Read(name)), len(strings.Fields(test.want))
		if calls, requests := int(r.Cost.Calls.Total), r.Session.Requests; calls != answers || requests != answers {
			t.Errorf("%s: %d calls and %d requests, want %d", test.name, calls, requests, answers)
		}
		for _, f := range check.File(name, check.Options{}).Findings {
			if f.Severity == check.Error {
				t.Errorf("%s: %s %s", test.name, f.Code, f.Text)
			}
		}
	}
}
