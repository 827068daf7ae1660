package unread

// ask is what can be done where an agent exports nothing that can be read.
const ask = "an issue can ask for its format to be read"

// agents are all whose files are told. The first whose signature fits counts. A row whose source is no run is from
// documentation: the agent's own, or that of programs that read its sessions.
var agents = []Agent{
	{Name: "Copilot CLI", Folders: []string{".copilot"}, Hint: "a session is session-state/ID/events.jsonl there",
		Source: "run: 1.0.102"},
	{Name: "Copilot Chat", Folders: []string{"github.copilot-chat"},
		Files:  []Signature{{Fields: []string{"requesterUsername", "responderUsername", "requests"}}},
		Source: "documentation of Copilot Chat"},
	{Name: "Cline", Folders: []string{".cline"}, Files: []Signature{
		{Fields: []string{"sessionId", "origin.source", "messages"}},
		{Fields: []string{"conversation_id", "source_message_count", "messages"}},
		{Fields: []string{"session_id", "source", "enable_tools"}},
	}, Hint: "a session is data/sessions/ID/ID.messages.json there", Source: "run: 3.0.65"},
	{Name: "Cline for VS Code", Folders: []string{"saoudrizwan.claude-dev"}, Hint: ask, Source: "agentsview 2026-09"},
	{Name: "Roo Code", Folders: []string{"rooveterinaryinc.roo-cline"}, Source: "agentsview 2026-09"},
	{Name: "Kilo Code", Folders: []string{"kilocode.kilo-code"}, Source: "agentsview 2026-09"},

	{Name: "Continue", Folders: []string{".continue"}, Files: []Signature{
		{Fields: []string{"sessionId", "history", "workspaceDirectory"}},
		{Fields: []string{"sessionId", "dateCreated", "workspaceDirectory"}},
	}, Stores: []Store{
		{Variable: "CONTINUE_GLOBAL_DIR", Home: ".continue", Folder: "sessions", Each: "*-*.json"},
	}, Hint: ask, Source: "run: 1.5.47"},
	{Name: "Crush", Folders: []string{".crush"}, Names: []string{"crush.db"},
		Tables: []string{"sessions messages files"},
		Stores: []Store{
			{Variable: "CRUSH_GLOBAL_DATA", Home: ".local/share/crush", Folder: "projects.json"},
			{Home: "AppData/Local/crush", Folder: "projects.json"},
		}, Hint: "each project has its own in .crush/crush.db; crush session list --json lists them",
		Source: "charmbracelet/crush: internal/config, internal/db/migrations, internal/cmd/session.go"},
	{Name: "Amp", Folders: []string{"amp/threads"},
		Files:  []Signature{{Fields: []string{"id^T-", "created", "messages"}}},
		Stores: []Store{{Home: ".local/share/amp", Folder: "threads", Each: "T-*.json"}},
		Hint:   "amp threads export ID prints one as JSON; newer versions keep them on Amp's server alone",
		Source: "txcript 0.4 (harness amp), agentsview 2026-09"},
	{Name: "Hermes", Folders: []string{".hermes"}, Tables: []string{"sessions messages state_meta"},
		Files: []Signature{
			{Fields: []string{"role=session_meta"}},
			{Fields: []string{"session_id", "session_start", "platform", "messages"}},
			{Fields: []string{"id", "source", "started_at", "messages"}},
			{Fields: []string{"role", "content", "timestamp"}},
		}, Stores: []Store{{Variable: "HERMES_HOME", Home: ".hermes", Folder: "state.db"}},
		Hint:   "hermes sessions export FILE writes them as JSON lines",
		Source: "hermes-agent documentation (sessions), txcript 0.13 (hermes)"},
	{Name: "Goose", Folders: []string{"goose/sessions", "goose/data/sessions"},
		Tables: []string{"sessions messages schema_version"},
		Files: []Signature{
			{Fields: []string{"working_dir", "description", "message_count"}},
			{Fields: []string{"id", "working_dir", "conversation"}},
		}, Stores: []Store{
			{Variable: "GOOSE_PATH_ROOT", Folder: "data/sessions/sessions.db"},
			{Home: ".local/share/goose", Folder: "sessions/sessions.db"},
			{Home: "AppData/Roaming/Block/goose/data", Folder: "sessions/sessions.db"},
		}, Hint: "goose session export --session-id ID --format json prints one",
		Source: "goose 1.50 documentation (goose-cli-commands)"},
	{Name: "Kimi", Folders: []string{".kimi-code", ".kimi"}, Files: []Signature{
		{Fields: []string{"type=metadata", "protocol_version"}},
		{Fields: []string{"agents.main.homedir"}},
	}, Stores: []Store{
		{Variable: "KIMI_CODE_HOME", Home: ".kimi-code", Folder: "sessions", Each: "*/session_*"},
		{Variable: "KIMI_SHARE_DIR", Home: ".kimi", Folder: "sessions", Each: "*/*"},
	}, Hint: "kimi export ID writes one as a ZIP file; kimi vis ID shows it", Source: "run: 2.1.0"},
	{Name: "Droid", Folders: []string{".factory"},
		Files:  []Signature{{Fields: []string{"type=session_start", "owner"}}},
		Stores: []Store{{Home: ".factory", Folder: "sessions", Each: "*/*.jsonl"}},
		Hint:   "droid search TEXT searches them; droid --resume ID continues one", Source: "run: 0.215.0"},
	{Name: "Kiro", Folders: []string{".kiro", "kiro.kiroagent", "kiro-cli"},
		Tables: []string{"conversations", "conversations_v2"}, Files: []Signature{
			{Fields: []string{"version", "kind=Prompt", "data"}},
			{Fields: []string{"version", "kind=AssistantMessage", "data"}},
			{Fields: []string{"session_id", "session_state.rts_model_state"}},
			{Fields: []string{"executionId", "actionId", "chat"}},
		}, Stores: []Store{
			{Home: ".kiro", Folder: "sessions/cli", Each: "*.jsonl"},
			{Home: ".kiro", Folder: "sessions", Each: "*/sess_*"},
			{Home: ".local/share/kiro-cli", Folder: "data.sqlite3"},
		}, Hint: "/save FILE in kiro-cli writes one as JSON",
		Source: "kiro.dev documentation (session management), SkyWalking AI Sessionizer (kiro-cli 2.28.0)"},
	{Name: "Vibe", Folders: []string{".vibe"}, Files: []Signature{
		{Fields: []string{"metadata.session_id", "metadata.agent_config", "messages"}},
		{Fields: []string{"session_id", "start_time", "git_commit", "environment"}},
		{Fields: []string{"role", "content", "message_id"}},
	}, Stores: []Store{{Variable: "VIBE_HOME", Home: ".vibe", Folder: "logs/session", Each: "session_*"}},
		Hint: ask, Source: "agentsview 2026-09"},
	{Name: "Antigravity", Folders: []string{".gemini/antigravity", ".gemini/antigravity-cli", ".gemini/antigravity-ide",
		"antigravity/conversations"},
		Tables: []string{"trajectory_meta steps"},
		Files:  []Signature{{Fields: []string{"step_index", "source", "type"}}},
		Stores: []Store{
			{Home: ".gemini/antigravity", Folder: "conversations", Each: "*"},
			{Variable: "ANTIGRAVITY_HOME", Home: ".gemini/antigravity-cli", Folder: "conversations", Each: "*"},
			{Home: ".gemini/antigravity-ide", Folder: "conversations", Each: "*"},
		}, Hint: ask, Source: "txcript 0.13 (agy 1.0.16), agentsview 2026-09"},
	{Name: "Qwen Code", Folders: []string{".qwen"}, Files: []Signature{
		{Fields: []string{"sessionId", "localMonth", "totalTokens"}},
		{Fields: []string{"sessionId", "totalLatencyMs", "models"}},
	}, Source: "run: 0.24.4"},
	{Name: "codex exec --json", Files: []Signature{{Fields: []string{"type=thread.started", "thread_id"}}},
		Hint: "the session is a rollout in ~/.codex/sessions", Source: "documentation of Codex"},
	{Name: "claude -p --output-format json",
		Files:  []Signature{{Fields: []string{"type=result", "session_id", "total_cost_usd"}}},
		Hint:   "--output-format stream-json --verbose prints all messages",
		Source: "documentation of Claude Code"},
	{Name: "gemini --output-format stream-json",
		Files: []Signature{{Fields: []string{"type=init", "session_id", "model"}}},
		Hint:  "the session is in ~/.gemini/tmp", Source: "documentation of Gemini CLI"},
	{Name: "Cursor, or by an old Claude Code",
		Files:  []Signature{{Fields: []string{"type=system", "subtype=init", "session_id"}}},
		Source: "documentation of Cursor CLI"},
	{Name: "Cursor", Folders: []string{".cursor", "Cursor/User"},
		Tables: []string{"blobs meta", "cursorDiskKV ItemTable"},
		Files: []Signature{
			{Begins: "user:\n<user_query>"},
			{Fields: []string{"role", "message.content"}},
		}, Stores: []Store{
			{Variable: "CURSOR_CONFIG_DIR", Home: ".cursor", Folder: "chats", Each: "*/*"},
			{Home: ".cursor", Folder: "projects", Each: "*/agent-transcripts/*"},
			{Home: ".config/Cursor", Folder: "User/globalStorage/state.vscdb"},
			{Home: "Library/Application Support/Cursor", Folder: "User/globalStorage/state.vscdb"},
			{Home: "AppData/Roaming/Cursor", Folder: "User/globalStorage/state.vscdb"},
		}, Hint: "a chat's menu in Cursor exports it as Markdown",
		Source: "txcript 0.13 (cursor, cursor-desktop 3.17), codeburn (cursor-agent)"},
}
