package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"ctxtool/internal/test/must"
)

// ClaudeCode is Claude Code.
var ClaudeCode = &Agent{
	Name: "claude", Package: "@anthropic-ai/claude-code", Binary: "node_modules/.bin/claude", Scripts: true,
	Versions: strings.Fields("2.0.77 2.1.42 2.1.119 2.1.218 2.1.257 2.1.270 2.1.288 2.1.310 2.1.332"),
	Common:   strings.Fields("agents compactions forks hooks inputs mcp prompts"),
	Store:    []string{".claude/projects"},
	Env: func(*Player) []string {
		return []string{"ANTHROPIC_BASE_URL=" + address, "ANTHROPIC_API_KEY=" + key,
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1"}
	},
	Begin:  claudeBegin,
	Args:   claudeArgs,
	Print:  []string{"-p", "--output-format", "json"},
	Stream: []string{"-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose"},
	Turned: `"type":"result"`,
	Turn: func(content json.RawMessage) any {
		return object{"type": "user", "message": object{"role": "user", "content": content}}
	},
}

// key is that of the stub, which asks for none.
const key = "sk-ant-dummy-key-for-the-stub"

// claudeBegin answers what the program asks at its first start on a terminal.
func claudeBegin(*Player) error {
	config := object{
		"hasCompletedOnboarding": true, "theme": "dark", "numStartups": 5, "hasSeenTasksHint": true,
		"customApiKeyResponses": object{"approved": []string{key[len(key)-20:]}, "rejected": []string{}},
		"projects": object{project: object{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true,
			"projectOnboardingSeenCount": 4}},
	}
	must.Do(os.MkdirAll(filepath.Join(home, ".claude"), 0o755))
	return os.WriteFile(filepath.Join(home, ".claude.json"), must.Get(json.Marshal(config)), 0o600)
}

func claudeArgs(p *Player, s *Step) (args []string) {
	own, of := s, p.Script
	first := func(a, b json.RawMessage) string {
		if a == nil {
			a = b
		}
		return string(a)
	}
	add := func(name, v string) {
		if v != "" {
			args = append(args, name, v)
		}
	}
	if s.From != "" {
		add("--resume", or(s.At, p.sessions[s.From]))
	}
	if s.Continue {
		args = append(args, "--continue")
	}
	if s.Fork {
		args = append(args, "--fork-session")
	}
	add("--model", or(own.Model, of.Model))
	add("--settings", first(own.Settings, of.Settings))
	if servers := first(own.MCP, of.MCP); servers != "" {
		add("--mcp-config", `{"mcpServers":`+servers+`}`)
	}
	add("--agents", first(own.Agents, of.Agents))
	allow, more := own.Allow, own.Args
	if allow == nil {
		allow = of.Allow
	}
	if more == nil {
		more = of.Args
	}
	if allow != nil {
		args = append(append(args, "--allowedTools"), allow...)
	}
	return append(args, more...)
}
