package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ctxtool/internal/test/must"
)

// Gemini is Gemini CLI.
var Gemini = &Agent{
	Name: "gemini", Package: "@google/gemini-cli", Binary: "node_modules/.bin/gemini",
	Versions: strings.Fields("0.47.0 0.54.4 0.61.0"),
	Common:   strings.Fields("prompts compaction models images sub-agents"),
	Store:    []string{".gemini/tmp"},
	Env: func(*Player) []string {
		return []string{"GEMINI_API_KEY=" + key, "GOOGLE_GEMINI_BASE_URL=" + address, "GEMINI_CLI_NO_RELAUNCH=true",
			"GEMINI_TELEMETRY_ENABLED=false"}
	},
	Begin: func(*Player) error { return geminiSettings(nil, nil) },
	Args:  geminiArgs,
	Serve: func(ctx context.Context, p *Player, n int, s *Step) error { return p.acp(ctx, n, s) },
	Ready: "Type your message",
	Clean: geminiClean,
}

// geminiSettings writes the settings of the home, with those of a script and its servers.
func geminiSettings(more, servers json.RawMessage) error {
	settings := object{"general": object{"enableAutoUpdate": false}, "telemetry": object{"enabled": false},
		"privacy":  object{"usageStatisticsEnabled": false},
		"security": object{"auth": object{"selectedType": "gemini-api-key"}, "folderTrust": object{"enabled": false}}}
	if more != nil {
		must.Do(json.Unmarshal(more, &settings))
	}
	if servers != nil {
		settings["mcpServers"] = servers
	}
	name := filepath.Join(home, ".gemini/settings.json")
	must.Do(os.MkdirAll(filepath.Dir(name), 0o755))
	return os.WriteFile(name, must.Get(json.Marshal(settings)), 0o600)
}

// geminiArgs returns the arguments of a step. A session gets an id by its label: requests name none.
func geminiArgs(p *Player, s *Step) (args []string) {
	settings, servers := p.given(s)
	must.Do(geminiSettings(settings, servers))
	from := p.sessions[s.From]
	switch {
	case s.Continue:
		args = append(args, "--resume", "latest")
	case from != "":
		args = append(args, "--resume", from)
	case s.Do != "serve":
		from = fmt.Sprintf("00000000-0000-4000-8000-%012d", len(p.sessions)+1)
		p.sessions[s.Session] = from
		args = append(args, "--session-id", from)
	}
	args = append(args, "--skip-trust", "--approval-mode", "yolo", "--model",
		or(s.Model, or(p.Script.Model, "gemini-2.5-pro")))
	return append(append(args, p.Script.Args...), s.Args...)
}

// geminiClean takes out signatures, which no file holds.
func geminiClean(_ string, body object) (summary bool) {
	for _, c := range list(body, "contents") {
		for _, p := range list(c.(object), "parts") {
			delete(p.(object), "thoughtSignature")
		}
	}
	return false
}
