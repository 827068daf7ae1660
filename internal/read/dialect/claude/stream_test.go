package claude_test

import (
	"fmt"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// streamed opens lines of a stream, with what each has.
func streamed(t *testing.T, lines ...string) *sessionfmt.Session {
	t.Helper()
	text := ""
	for k, line := range lines {
		text += strings.Replace(line, "{", fmt.Sprintf(`{"session_id":"s","uuid":"u%d",`, k), 1) + "\n"
	}
	s, err := sessionfmt.OpenReader("stream.jsonl", strings.NewReader(text), sessionfmt.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

const (
	begins = `{"type":"system","subtype":"init","cwd":"/w","model":"claude-x","claude_code_version":"2.1.5","tools":["Bash"]}`
	asks   = `{"type":"user","message":{"role":"user","content":"go"},"parent_tool_use_id":null}`
)

func streamSays(id, in string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"role":"assistant","model":"claude-x","content":[{"type":"text","text":%[1]q}],"usage":{"input_tokens":1,"output_tokens":2},"stop_reason":"end_turn"},"parent_tool_use_id":%s}`, id, in)
}

func result(dollars string) string {
	return fmt.Sprintf(`{"type":"result","subtype":"success","total_cost_usd":%s}`, dollars)
}

// TestStream: each record of a stream follows the one before it, of the session or of the same sub-agent.
func TestStream(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  string // each message with its parent
		found int    // of an answer without a prompt
	}{
		{"a turn", []string{begins, asks, streamSays("m1", "null"), result("0.5")}, "go<- m1<go", 0},
		{"without a prompt", []string{begins, streamSays("m1", "null"), streamSays("m2", "null")}, "m1<- m2<m1", 1},
		{"lines between", []string{begins, asks, `{"type":"stream_event","event":{}}`, streamSays("m1", "null"), `{"type":"rate_limit_event"}`, streamSays("m2", "null")}, "go<- m1<go m2<m1", 0},
		{"a sub-agent", []string{begins, asks, streamSays("m1", "null"), streamSays("a1", `"call"`), streamSays("a2", `"call"`), streamSays("b1", `"other"`), streamSays("m2", "null")}, "go<- m1<go m2<m1", 0},
		{"a sub-agent first", []string{begins, streamSays("a1", `"call"`), asks, streamSays("m1", "null")}, "go<- m1<go", 0},
	} {
		s := streamed(t, c.lines...)
		r := s.NewReader()
		name := map[int]string{-1: "-"}
		var got []string
		for i := range s.Len() {
			m := must.Get(r.Line(i)).Get("message").Message()
			if !s.Kind(i).IsTurn() || s.Delegated(i) {
				name[i] = name[s.Parent(i)]
				continue
			}
			name[i] = m.Text("")
			got = append(got, name[i]+"<"+name[s.Parent(i)])
		}
		found := 0
		for _, f := range s.Findings {
			if f.Code == "incomplete" && f.Line == 2 {
				found++
			}
		}
		if strings.Join(got, " ") != c.want || found != c.found || s.WrittenBy() != "2.1.5" {
			t.Errorf("%s: %s, %d findings, by %q; want %s, %d", c.name, strings.Join(got, " "), found, s.WrittenBy(), c.want, c.found)
		}
		delegated := 0
		for range s.AsideCalls(jsonl.Pick{}) {
			delegated++
		}
		for i := range s.Len() {
			if s.Delegated(i) {
				delegated++
			}
		}
		if want := strings.Count(strings.Join(c.lines, ""), `"parent_tool_use_id":"`); delegated != want {
			t.Errorf("%s: %d records of sub-agents, want %d", c.name, delegated, want)
		}
	}
}

// TestStreamCosts: a run of the program counts what it cost from 0, and says so at the end of each turn.
func TestStreamCosts(t *testing.T) {
	for _, c := range []struct {
		results []string
		want    float64
		ok      bool
	}{
		{nil, 0, false}, {[]string{"0.5"}, 0.5, true}, {[]string{"0.5", "0.75"}, 0.75, true}, {[]string{"0.5", "0.25"}, 0.75, true}, {[]string{"0.5", "0.5"}, 0.5, true},
		{[]string{"0.5", "0.25", "1", "0.5"}, 2, true}, {[]string{`"x"`}, 0, false},
	} {
		lines := []string{begins, asks, streamSays("m1", "null")}
		for _, dollars := range c.results {
			lines = append(lines, result(dollars))
		}
		if dollars, _, ok := streamed(t, lines...).Counted(); dollars != c.want || ok != c.ok {
			t.Errorf("%v: %g, %v; want %g", c.results, dollars, ok, c.want)
		}
	}
	for name, first := range map[string]string{
		"a transcript": `{"type":"user","uuid":"u","sessionId":"s","parentUuid":null,"message":{"role":"user","content":"x"}}`,
		"a result":     `{"type":"result","uuid":"u","session_id":"s","total_cost_usd":1}`, "no session": `{"type":"user","uuid":"u","message":{}}`, "another type": `{"type":"new","uuid":"u","session_id":"s"}`,
	} {
		s, err := sessionfmt.OpenReader("s", strings.NewReader(first+"\n"), sessionfmt.Options{})
		if err == nil && s.Dialect() != nil && s.WrittenBy() == "2.1.5" {
			t.Errorf("%s is taken for a stream", name)
		}
	}
}
