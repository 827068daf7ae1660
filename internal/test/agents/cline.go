package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ctxtool/internal/test/must"
)

// Cline is Cline CLI. Models of Anthropic are asked by the Messages API, others by Chat Completions.
var Cline = &Agent{
	Name: "cline", Package: "cline", Binary: "node_modules/.bin/cline",
	Versions: strings.Fields("3.0.57 3.0.62 3.0.65"),
	Common:   strings.Fields("prompts compaction images agents errors mcp"),
	Store:    []string{clineStore}, Beside: []string{"*.json"}, Rewrites: true,
	Begin: clineBegin, Args: clineArgs, Ready: "Auto-approve",
	Env: func(*Player) []string {
		return []string{"CLINE_TELEMETRY_DISABLED=1", "CLINE_NO_AUTO_UPDATE=1", "CLINE_DISABLE_CLINE_PASS_NOTICE=1"}
	},
	Clean: func(_ string, body map[string]any) (summary bool) { return body["tools"] == nil },
}

const clineStore = ".cline/data/sessions"

// clineBegin writes the providers that it knows, and the servers of tools.
func clineBegin(p *Player) error {
	providers := object{}
	for _, name := range []string{"anthropic", "openai-compatible"} {
		providers[name] = object{"updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual",
			"settings": object{"provider": name, "apiKey": key, "baseUrl": address + "/v1"}}
	}
	dir := filepath.Join(home, ".cline", "data", "settings")
	must.Do(os.MkdirAll(dir, 0o755))
	if p.Script.MCP != nil {
		servers := must.Get(json.Marshal(object{"mcpServers": p.Script.MCP}))
		must.Do(os.WriteFile(filepath.Join(dir, "cline_mcp_settings.json"), servers, 0o600))
	}
	settings := object{"version": 1, "lastUsedProvider": "anthropic", "modes": object{}, "providers": providers}
	return os.WriteFile(filepath.Join(dir, "providers.json"), must.Get(json.Marshal(settings)), 0o600)
}

// clineArgs returns the arguments of a step. The program names sessions by the time at which they began, and
// resumes one on a terminal alone.
func clineArgs(p *Player, s *Step) (args []string) {
	model := or(s.Model, or(p.Script.Model, "claude-sonnet-4-5-20250929"))
	provider := "openai-compatible"
	if strings.HasPrefix(model, "claude") {
		provider = "anthropic"
	}
	args = []string{"-P", provider, "-m", model}
	if s.From != "" {
		var labels []string
		for k := range p.Script.Steps {
			if label := p.Script.Steps[k].Session; label != "" && !slices.Contains(labels, label) {
				labels = append(labels, label)
			}
		}
		begun := must.Get(os.ReadDir(filepath.Join(home, clineStore)))
		args = append(args, "--id", begun[slices.Index(labels, s.From)].Name())
	}
	args = append(append(args, p.Script.Args...), s.Args...)
	if s.Do == "interactive" {
		args = append(args, "-i")
	}
	return args
}
