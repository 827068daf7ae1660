package migrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/corpus"
	"ctxtool/internal/test/gen/tables"
	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	_ "ctxtool/sessionfmt/sqlite"
)

// foreign are the files of the sessions of other agents: those made by hand, and those of Codex,
// Claude Code and opencode that the tests share.
func foreign(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"0*.jsonl", "*.json", "y1*.jsonl", "gemini/chats/*"} {
		made, err := filepath.Glob(filepath.Join(corpus.Root(t), "testdata/dialects", pattern))
		if err != nil || len(made) == 0 {
			t.Fatalf("no sessions at %s: %v", pattern, err)
		}
		files = append(files, made...)
	}
	// What a print mode prints has no times, and a title none where a transcript has one.
	stream := filepath.Join(t.TempDir(), "stream.jsonl")
	must.Do(os.WriteFile(stream, []byte(`{"type":"system","subtype":"init","cwd":"/w","session_id":"s","uuid":"u1"}
{"type":"user","message":{"role":"user","content":"hello"},"parent_tool_use_id":null,"session_id":"s","uuid":"u2"}
{"type":"assistant","message":{"id":"m1","role":"assistant","model":"claude-opus-4-5","content":[{"type":"text","text":"Hello."}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":2}},"parent_tool_use_id":null,"session_id":"s","uuid":"u3"}
{"type":"result","subtype":"success","session_id":"s","total_cost_usd":0.01,"uuid":"u4"}
`), 0o600))
	titled := filepath.Join(t.TempDir(), "titled.jsonl")
	must.Do(os.WriteFile(titled, []byte(`{"type":"custom-title","customTitle":"Greeting","sessionId":"s"}
{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"hello"}}
`), 0o600))
	files = append(files, stream, titled)
	var rows bytes.Buffer
	rows.WriteString(`{"table":"session_windows","session_id":"s1","session_key":"agent:main:main","created_at":1767225600000,"updated_at":1767225611000}` + "\n")
	for k, line := range bytes.Split(bytes.TrimSpace(must.Get(os.ReadFile(filepath.Join(corpus.Root(t), "testdata/dialects/openclaw.jsonl")))), []byte("\n")) {
		fmt.Fprintf(&rows, `{"table":"transcript_events","session_id":"s1","seq":%d,"event_json":%s,"created_at":1767225600000}`+"\n", k, line)
	}
	openclaw := filepath.Join(t.TempDir(), "openclaw-agent.sqlite")
	if err := must.Get(tables.Database(openclaw, rows.Bytes(), false))(); err != nil {
		t.Fatal(err)
	}
	files = append(files, openclaw)
	for _, dir := range testenv.Shared(t, "vectors/codex", "corpus/codex", "corpus/claude-code") {
		filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			base := filepath.Base(name)
			if err == nil && strings.Contains(base, ".jsonl") && base != "requests.jsonl" && base != "events.jsonl" {
				files = append(files, name)
			}
			return nil
		})
	}
	for _, db := range testenv.Shared(t, "vectors/opencode/*/opencode.db") {
		if err := sessionfmt.InDatabase(sessionfmt.Disk{}, db, func(name string, _ jsonl.Value, _ *dialect.Dialect, _ bool) { files = append(files, name) }); err != nil {
			t.Error(err)
		}
	}
	return files
}

// TestConvert converts sessions of other agents: the result is without findings,
// and pi's own code builds from it the messages of the session.
func TestConvert(t *testing.T) {
	converted, want := map[string][]byte{}, map[string][]sum{}
	for _, file := range foreign(t) {
		was := must.Get(sessionfmt.Open(file, sessionfmt.Options{}))
		defer was.Close()
		is, err := Convert(was)
		if err != nil {
			t.Error(err)
			continue
		}
		defer is.Close()
		for _, f := range is.Findings {
			t.Errorf("%s: %v", file, f)
		}
		if want[file], err = saidAt(was); err != nil {
			t.Error(err)
		}
		if converted[file], err = io.ReadAll(is.Plain()); err != nil {
			t.Error(err)
		}
		for line := range bytes.Lines(converted[file]) {
			if wrong := corpus.NotPi(line); len(wrong) > 0 {
				t.Errorf("%s: %q in %.300s", file, wrong, line)
			}
			if _, ok := jsonl.Value(line).Get("timestamp").Millis(); !ok {
				t.Errorf("%s: no time in %.300s", file, line)
			}
		}
	}
	t.Run("sends", func(t *testing.T) {
		for file, r := range corpus.PiSends(t, converted) {
			if len(r.Wrong) > 0 {
				t.Errorf("%s: %.2000q", file, r.Wrong)
			}
		}
	})
	t.Run("pi", func(t *testing.T) {
		n := 0
		for file, pi := range corpus.Pi(t, converted, "read") {
			var llm []json.RawMessage
			if err := json.Unmarshal(pi.Read.LLM, &llm); err != nil {
				t.Errorf("%s: pi %s: %v", file, pi.Read.Throws, err)
				continue
			}
			var sent said
			for _, raw := range llm {
				if m := jsonl.Value(raw); !m.Get("role").Is("system") { // the prompt
					sent.add(m)
				}
			}
			is, was := sent.done(), want[file]
			if len(is) != len(was) {
				t.Errorf("%s: pi has %d messages, want %d", file, len(is), len(was))
				continue
			}
			for k := range is {
				if is[k] != was[k] {
					t.Errorf("%s: pi says something else from message %d on", file, k)
					break
				}
				n++
			}
		}
		t.Logf("%d messages of %d sessions", n, len(converted))
	})
}

// TestConvertOdd: of what other agents accept and providers refuse pi makes requests, and an agent's
// notes stay where they do not part a call from its result.
func TestConvertOdd(t *testing.T) {
	claude := func(id, parent, typ, rest string) string {
		return fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","version":"2.1.100",%s}`+"\n", typ, id, parent, rest)
	}
	called := func(ids ...string) string {
		var blocks []string
		for _, id := range ids {
			blocks = append(blocks, `{"type":"tool_use","id":"`+id+`","name":"Bash","input":{}}`)
		}
		return `"message":{"id":"m1","role":"assistant","model":"m","content":[` + strings.Join(blocks, ",") + `],"stop_reason":"tool_use"}`
	}
	result := func(id string) string {
		return `"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"done"}]}`
	}
	const prompt, hook = `"message":{"role":"user","content":"go"}`, `"attachment":{"type":"hook_additional_context","content":["Be careful."]}`
	codex := func(items ...string) string {
		log := `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s1","cwd":"/work","cli_version":"0.100.0"}}` + "\n"
		for _, item := range items {
			log += `{"timestamp":"2026-01-01T00:00:01Z","type":"response_item","payload":` + item + "}\n"
		}
		return log
	}
	const ask = `{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}`
	call := func(id string) string {
		return `{"type":"function_call","name":"sh","arguments":"{}","call_id":"` + id + `"}`
	}
	output := func(id string) string {
		return `{"type":"function_call_output","call_id":"` + id + `","output":"done"}`
	}
	sessions := map[string][]byte{}
	for _, c := range []struct{ about, log, want string }{
		{
			"a checkpoint without a time",
			`{"sessionId":"s1","projectHash":"h","startTime":"2026-01-01T00:00:00.000Z"}
{"id":"a","type":"user","content":"hello"}
{"$set":{"messages":[{"id":"b","type":"user","content":"again"},{"id":"c","type":"gemini","content":"Hi"}]}}
`, "user user assistant",
		},
		{
			"a hook between the results of two calls",
			claude("u1", "null", "user", prompt) + claude("a1", `"u1"`, "assistant", called("c1", "c2")) + claude("r1", `"a1"`, "user", result("c1")) +
				claude("h1", `"r1"`, "attachment", hook) + claude("r2", `"h1"`, "user", result("c2")),
			"user assistant toolResult toolResult hook_additional_context",
		},
		{
			"a hook before the result, and a call that has none",
			claude("u1", "null", "user", prompt) + claude("a1", `"u1"`, "assistant", called("c1", "c2")) + claude("h1", `"a1"`, "attachment", hook) +
				claude("r2", `"h1"`, "user", result("c2")) + claude("u2", `"r2"`, "user", prompt),
			"user assistant toolResult hook_additional_context user",
		},
		{
			"a file that ends between the results of an answer", claude("u1", "null", "user", prompt) + claude("a1", `"u1"`, "assistant", called("c1")) +
				claude("r1", `"a1"`, "user", result("c1")) + claude("a2", `"a1"`, "assistant", called("c2")),
			"user assistant toolResult leaf",
		},
		{
			"a compaction without a summary",
			claude("u1", "null", "user", prompt) + claude("k1", "null", "system", `"subtype":"compact_boundary","logicalParentUuid":"u1"`),
			"user leaf",
		},
		{
			"an API error", claude("u1", "null", "user", prompt) +
				claude("a1", `"u1"`, "assistant", `"isApiErrorMessage":true,"message":{"id":"m1","role":"assistant","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}`),
			"user assistant",
		},
		{
			"a search on the server", claude("u1", "null", "user", prompt) +
				claude("a1", `"u1"`, "assistant", `"message":{"id":"m1","role":"assistant","model":"m","content":[{"type":"redacted_thinking","data":"x"},`+
					`{"type":"server_tool_use","id":"w","name":"web_search","input":{"query":"q"}},{"type":"web_search_tool_result","tool_use_id":"w","content":[]},{"type":"text","text":"a"}]}`),
			"user assistant",
		},
		{
			"outputs that come twice, late, and of no call",
			codex(ask, call("c1"), call("c2"), output("c1"), output("c1"), ask, output("c2"), output("c3")),
			"user assistant toolResult toolResult toolResult user toolResult",
		},
		{
			"a search, sealed reasoning, a picture, and an answer that is cut off",
			codex(ask, `{"type":"web_search_call","status":"completed","action":{"type":"search","query":"q"}}`, `{"type":"reasoning","summary":[],"encrypted_content":"gAAA"}`,
				`{"type":"image_generation_call","status":"completed","result":"`+strings.Repeat("A", 600)+`"}`, call("c1")),
			"user assistant",
		},
	} {
		was := must.Get(sessionfmt.OpenReader("log.jsonl", strings.NewReader(c.log), sessionfmt.Options{}))
		is, err := Convert(was)
		if err != nil {
			t.Errorf("%s: %v", c.about, err)
			continue
		}
		defer is.Close()
		sessions[c.about] = must.Get(io.ReadAll(is.Plain()))
		var roles []string
		for line := range bytes.Lines(sessions[c.about]) {
			if wrong := corpus.NotPi(line); len(wrong) > 0 {
				t.Errorf("%s: %q in %s", c.about, wrong, line)
			}
			if m := jsonl.Value(line).Get("message"); m.Get("customType").Exists() {
				roles = append(roles, m.Get("customType").Text())
			} else if typ := jsonl.Value(line).Get("customType"); typ.Exists() {
				roles = append(roles, typ.Text())
			} else if m.Exists() {
				roles = append(roles, m.Get("role").Text())
			}
		}
		if got := strings.Join(roles, " "); got != c.want {
			t.Errorf("%s: %s, want %s\n%s", c.about, got, c.want, sessions[c.about])
		}
	}
	t.Run("pi", func(t *testing.T) {
		for about, r := range corpus.PiSends(t, sessions) {
			if len(r.Wrong) > 0 {
				t.Errorf("%s: %.2000q", about, r.Wrong)
			}
		}
	})
}
