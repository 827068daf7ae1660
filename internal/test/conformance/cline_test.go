package conformance

import (
	"fmt"
	"strings"
	"testing"
)

func TestCline(t *testing.T) {
	t.Parallel()
	const head = `{"version":1,"updated_at":"2026-01-01T00:00:00.000Z","agent":"lead","sessionId":"1767225600000_abcde",` +
		`"origin":{"source":"cli","mode":"user","sessionId":"1767225600000_abcde","version":"3.0.65"},"system_prompt":"You are Cline."%s}`
	n := 1767225600000
	line := func(role, id, content, rest string) string {
		n += 1000
		return fmt.Sprintf(`{"id":%q,"role":%q,"content":[%s],"ts":%d%s}`, id, role, content, n, rest)
	}
	prompt := func(id, text string) string {
		return line("user", id, fmt.Sprintf(`{"type":"text","text":"<user_input mode=\"act\">%s</user_input>"}`, text), "")
	}
	answer := func(id, content string) string {
		return line("assistant", id, content, `,"modelInfo":{"id":"m","provider":"p"},"metrics":{"inputTokens":20,"outputTokens":3,`+
			`"cacheReadTokens":10,"cacheWriteTokens":0,"cost":0.01}`)
	}
	text := func(s string) string { return fmt.Sprintf(`{"type":"text","text":%q}`, s) }
	lines := []string{
		fmt.Sprintf(head, ""),
		prompt("u1", "List the files."),
		answer("a1", `{"type":"tool_use","id":"c1","name":"run_commands","input":{"commands":["ls"]}}`),
		line("user", "r1", `{"type":"tool_result","tool_use_id":"c1","name":"run_commands","content":[{"query":"ls","result":"a.go and b.go","success":true}]}`, ""),
		answer("a2", text("There are two.")),
		prompt("u2", "And now?"),
		answer("a3", text("Nothing is left.")),
	}
	odd := []string{
		prompt("u1", ""), answer("a1", `{"type":"thinking","thinking":"Hm."},`+text("Yes.")+`,{"type":"tool_use","id":"c1","name":"x","input":7},{"type":"tool_use","id":"c2","name":"y"}`),
		line("user", "r1", `{"type":"tool_result","tool_use_id":"c1","name":"read_files","content":[{"query":"a.go:1-2","result":[{"type":"text","text":"ok"},{"type":"image","data":"AA","mediaType":"image/png"}],"success":false},5]}`, ""),
		line("user", "u2", `{"type":"image","data":"AA","mediaType":"image/png"},{"type":"file","path":"a.go","content":"x"},3,{"type":"odd"}`, ""),
		line("assistant", "e1", text("failed"), `,"metadata":{"displayOnly":true,"displayRole":"error"}`),
		line("user", "u3", text("<mode_notice>x</mode_notice> <user_command slash=\"team\">go"), ""),
		`{"id":"a2","role":"assistant","content":"As a text.","ts":"2026-01-01T00:00:00Z"}`, answer("a3", ""),
	}
	compaction := fmt.Sprintf(`{"version":1,"updated_at":"2026-01-01T01:00:00.000Z","conversation_id":"1767225600000_abcde","source_message_count":2,`+
		`"source_last_message_key":"id:a1","messages":[{"role":"user","content":[%s],"metadata":{"kind":"compaction_summary","summary":"s"}},%s]}`, text("Context summary:\n\ns"), odd[1])
	manifest := `{"version":1,"session_id":"1767225600000_abcde","source":"cli","started_at":"2026-01-01T00:00:00.000Z","enable_tools":true,"cwd":"/work","metadata":{"title":"Two"}}`
	Run(t, Agent{
		Name: "cline", Lines: lines,
		Resume: []string{prompt("u3", "Instead?")},
		Found:  map[string]string{"two files": "9 time-backward; +6"},
		Usage:  []string{"metrics.inputTokens", "metrics.outputTokens"},
		More: []string{
			fmt.Sprintf(head, `,"messages":[`+strings.Join(odd, ",")+"]") + "\n",
			strings.Join(append([]string{fmt.Sprintf(head, ""), manifest, compaction}, odd...), "\n") + "\n",
		},
	})
}
