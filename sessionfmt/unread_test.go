package sessionfmt

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxtool/internal/test/must"
	"ctxtool/internal/test/testenv"
)

// unreadFiles are files that people take for sessions, each the least that tells it, and what the error says of it.
var unreadFiles = []struct{ name, text, says string }{
	{".copilot/session-state/s/checkpoints/1.json", `{"x":1}`, "Copilot CLI"},
	{"chat.json", `{"requesterUsername":"a","responderUsername":"GitHub Copilot","requests":[]}`, "Copilot Chat"},
	{"1_a.messages.json", "{\n \"version\": 1,\n \"sessionId\": \"1_a\",\n \"origin\": {\n  \"source\": \"cli\"\n },\n \"messages\": []\n}\n", "Cline"},
	{"1_a.compaction.json", `{"version":1,"conversation_id":"1_a","source_message_count":2,"messages":[]}`, "Cline"},
	{"1_a.json", `{"version":1,"session_id":"1_a","source":"cli","enable_tools":true}`, "Cline"},
	{"saoudrizwan.claude-dev/tasks/1/ui_messages.json", `[{"ts":1,"type":"say","say":"text","text":"hi"}]`, "Cline"},
	{"c.json", "{\n \"sessionId\": \"s\",\n \"title\": \"t\",\n \"workspaceDirectory\": \"/w\",\n \"history\": []\n}\n", "Continue"},
	{"sessions.json", "[\n {\n  \"sessionId\": \"s\",\n  \"dateCreated\": \"1\",\n  \"workspaceDirectory\": \"/w\"\n }\n]\n", "Continue"},
	{"k.jsonl", `{"version":"v1","kind":"Prompt","data":{"message_id":"m","content":[]}}`, "Kiro"},
	{".kiro/sessions/cli/k.json", `{"x":1}`, "Kiro"},
	{"h.jsonl", `{"role":"session_meta","tools":[],"model":"m","platform":"cli","timestamp":"2026-05-11T20:31:08.015498"}`, "Hermes"},
	{"h2.jsonl", `{"role":"user","content":"hi","timestamp":"2026-05-11T20:31:08.015498"}`, "Hermes"},
	{"h3.json", "{\n  \"session_id\": \"s\",\n  \"platform\": \"cli\",\n  \"session_start\": \"t\",\n  \"messages\": [{\"role\":\"user\",\"content\":\"hi\"}]\n}\n", "Hermes"},
	{"messages.jsonl", `{"role":"user","content":"hi","injected":false,"message_id":"m"}`, "Vibe"},
	{"session_1.json", `{"metadata":{"session_id":"s","agent_config":{}},"messages":[{"role":"user","content":"hi"}]}`, "Vibe"},
	{"transcript.jsonl", `{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT","content":"hi"}`, "Antigravity"},
	{"antigravity/conversations/a.pb", "\x0a\x24", "Antigravity"},
	{"T-1.json", `{"v":3,"id":"T-1","created":1,"messages":[]}`, "written by Amp"},
	{".crush/x.json", `{"x":1}`, "Crush"},
	{"20260101_1.jsonl", `{"working_dir":"/w","description":"d","message_count":2}`, "Goose"},
	{"goose.json", `{"id":"20260101_1","working_dir":"/w","conversation":[]}`, "Goose"},
	{"wire.jsonl", `{"type":"metadata","protocol_version":"1.5","created_at":1}`, "Kimi"},
	{".kimi-code/sessions/wd_w/session_1/state.json", `{"x":1}`, "Kimi"},
	{"d.jsonl", `{"type":"session_start","id":"s","title":"t","owner":"o","version":2,"cwd":"/w"}`, "Droid"},
	{".factory/sessions/-w/s.settings.json", `{"x":1}`, "Droid"},
	{"hermes.jsonl", `{"id":"s","source":"cli","started_at":1.5,"messages":[]}`, "Hermes"},
	{"c.jsonl", `{"role":"user","message":{"content":[{"type":"text","text":"hi"}]}}`, "Cursor"},
	{"c.txt", "user:\n<user_query>\nhi\n</user_query>\n", "Cursor"},
	{"q.jsonl", `{"schemaVersion":1,"id":"u","sessionId":"s","localMonth":"2026-11","totalTokens":5}`, "Qwen Code"},
	{"exec.jsonl", `{"type":"thread.started","thread_id":"t"}`, "codex exec --json"},
	{"result.json", `{"type":"result","subtype":"success","session_id":"s","total_cost_usd":0.1,"uuid":"u"}`, "claude -p --output-format json"},
	{"g.jsonl", `{"type":"init","session_id":"s","model":"m"}`, "gemini --output-format stream-json"},
	{"cursor.jsonl", `{"type":"system","subtype":"init","session_id":"s","cwd":"/w"}`, "Cursor"},
	{"indented.jsonl", "{\n  \"type\": \"session_meta\",\n  \"payload\": {\n    \"id\": \"s\"\n  }\n}\n{\n  \"type\": \"response_item\",\n  \"payload\": {}\n}\n", "a session of codex whose records take several lines each"},
	{"list.json", `[{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}]`, "a session of pi whose records are elements of a list"},
}

// TestUnreadFiles: the files of agents whose format is not read are named by their agent, in a folder too, and what is
// no such file is not.
func TestUnreadFiles(t *testing.T) {
	dir := t.TempDir()
	for _, f := range unreadFiles {
		name := filepath.Join(dir, filepath.FromSlash(f.name))
		must.Do(os.MkdirAll(filepath.Dir(name), 0o700))
		must.Do(os.WriteFile(name, []byte(f.text), 0o600))
		s, err := Open(name, Options{})
		if err == nil {
			s.Close()
			t.Errorf("%s is read as a session of %s", f.name, s.Dialect().Agent())
		} else if !errors.Is(err, ErrNotSession) || !NamesAgent(err) || !strings.Contains(err.Error(), f.says) {
			t.Errorf("%s: %v", f.name, err)
		}
	}
	for _, text := range []string{`{"a":1}`, `[1]`, "text", `{"role":"user"}`, `{"type":"custom","data":{},"id":"a","parentId":null}`} {
		name := filepath.Join(dir, "other.jsonl")
		must.Do(os.WriteFile(name, []byte(text), 0o600))
		s, err := Open(name, Options{})
		if err == nil {
			s.Close()
		}
		if NamesAgent(err) || IsUnread(Disk{}, name) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestUnreadDatabases: so are databases, by their tables.
func TestUnreadDatabases(t *testing.T) {
	for agent, tables := range map[string]string{"Crush": "sessions messages files", "Hermes": "sessions messages state_meta",
		"Goose": "sessions messages schema_version", "Antigravity": "trajectory_meta steps", "Cursor": "blobs meta", "Kiro": "conversations"} {
		name := filepath.Join(t.TempDir(), "any.db")
		db := must.Get(sql.Open("sqlite", name))
		for _, table := range strings.Fields(tables) {
			must.Get(db.Exec("CREATE TABLE " + table + " (id TEXT)"))
		}
		must.Do(db.Close())
		if _, err := Open(name, Options{}); !NamesAgent(err) || !strings.Contains(err.Error(), "a database by "+agent) {
			t.Errorf("%s: %v", agent, err)
		}
	}
}

// TestUnreadShared: so are the recorded files of other agents.
func TestUnreadShared(t *testing.T) {
	agents := map[string]string{"cline": "Cline", "continue": "Continue", "qwen": "Qwen Code"}
	for _, name := range testenv.Shared(t, "vectors/agents/cline/after*/*.json", "vectors/agents/continue/*.json", "vectors/agents/qwen/*.jsonl") {
		s, err := Open(name, Options{})
		if err == nil { // once it is read
			s.Close()
			continue
		}
		_, below, _ := strings.Cut(filepath.ToSlash(name), "vectors/agents/")
		folder, _, _ := strings.Cut(below, "/")
		if !strings.Contains(err.Error(), "written by "+agents[folder]) {
			t.Error(err)
		}
	}
}
