package agents

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Copilot is GitHub Copilot CLI, with a provider of one's own that speaks the Messages API.
var Copilot = &Agent{
	Name: "copilot", Package: "@github/copilot", Binary: "node_modules/.bin/copilot", Scripts: true,
	Versions: strings.Fields("1.0.71 1.0.92 1.0.102"),
	Common:   strings.Fields("prompts failures compactions models images agents"),
	Store:    []string{".copilot/session-state"},
	Env: func(p *Player) []string {
		return []string{"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_ALLOW_ALL=true",
			"COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_BASE_URL=" + address,
			"COPILOT_PROVIDER_API_KEY=" + key,
			// where it unpacks itself: 250 MB, too much for the home of each script
			"XDG_CACHE_HOME=" + filepath.Join(Dir(), p.Name, "cache")}
	},
	Args: copilotArgs,
	Clean: func(form string, body object) bool {
		if form == chatForm {
			for _, m := range list(body, "messages") { // what no provider shows a model
				delete(m.(object), "refusal")
				delete(m.(object), "__copilotMessageSource")
			}
		}
		return false
	},
}

// copilotArgs returns the arguments of a step. A session gets an id by its label: requests name none.
func copilotArgs(p *Player, s *Step) (args []string) {
	if id := p.sessions[s.From]; id != "" {
		args = append(args, "--resume="+id)
	} else {
		id = fmt.Sprintf("00000000-0000-4000-8000-%012d", len(p.sessions)+1)
		p.sessions[s.Session] = id
		args = append(args, "--session-id="+id)
	}
	args = append(args, "--allow-all-tools", "--model", or(s.Model, or(p.Script.Model, "claude-sonnet-4.5")))
	_, servers := p.given(s)
	if servers != nil {
		args = append(args, "--additional-mcp-config", `{"mcpServers":`+string(servers)+`}`)
	}
	return append(append(args, p.Script.Args...), s.Args...)
}
