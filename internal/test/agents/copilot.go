package agents

import (
	"fmt"
	"os"
	"path/filepath"
)

// CopilotCache names, in the environment, the folder in which Copilot CLI unpacks itself. It takes 250 MB, too much for
// the home of each script.
const CopilotCache = "CTXTOOL_COPILOT_CACHE"

// Copilot is GitHub Copilot CLI, with a provider of one's own that speaks the Messages API.
var Copilot = &Agent{
	Env: func(server string) []string {
		return []string{"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_ALLOW_ALL=true",
			"COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_BASE_URL=" + server, "COPILOT_PROVIDER_API_KEY=" + key,
			"XDG_CACHE_HOME=" + os.Getenv(CopilotCache)}
	},
	Begin:    func() error { return nil },
	Args:     copilotArgs,
	Sessions: filepath.Join(".copilot", "session-state"),
}

// copilotArgs are the arguments of a step. A session gets an id by its label: requests name none.
func copilotArgs(p *Player, s *Step) (args []string) {
	if id := p.sessions[s.From]; id != "" {
		args = append(args, "--resume="+id)
	} else {
		id = fmt.Sprintf("00000000-0000-4000-8000-%012d", len(p.sessions)+1)
		p.sessions[s.Session] = id
		args = append(args, "--session-id="+id)
	}
	args = append(args, "--allow-all-tools", "--model", or(s.Model, or(p.Script.Model, "claude-sonnet-4.5")))
	servers := s.MCP
	if servers == nil {
		servers = p.Script.MCP
	}
	if servers != nil {
		args = append(args, "--additional-mcp-config", `{"mcpServers":`+string(servers)+`}`)
	}
	return append(append(args, p.Script.Args...), s.Args...)
}
