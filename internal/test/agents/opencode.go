package agents

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"ctxtool/internal/test/must"
)

// OpenCode is opencode. Its providers are those of the catalogue that it brings along, at the server's address, and
// stub, which speaks Chat Completions. The package is that of one system: it lists versions that opencode-ai lacks.
var OpenCode = openCode(Agent{
	Name: "opencode", Package: "opencode-linux-x64", Binary: "node_modules/opencode-linux-x64/bin/opencode",
	Versions: strings.Fields("1.17.19 1.18.33 1.18.34"), Common: openCodeCommon,
})

// openCodeCommon are the scripts that older versions play too.
var openCodeCommon = strings.Fields("chat messages responses")

// openCode is opencode or a fork of it, which has its folders and variables under its own name.
func openCode(a Agent) *Agent {
	a.Store = []string{filepath.Join(".local", "share", a.Name, a.Name+".db")}
	a.Env = func(*Player) (env []string) {
		for _, off := range []string{"AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"} {
			env = append(env, strings.ToUpper(a.Name)+"_DISABLE_"+off+"=1")
		}
		return append(env, strings.ToUpper(a.Name)+"_TELEMETRY_LEVEL=off")
	}
	a.Begin = func(*Player) error { return os.MkdirAll(filepath.Join(home, ".config", a.Name), 0o755) }
	a.Args = func(p *Player, s *Step) []string {
		p.openCodeConfig(s)
		return openCodeArgs(p, s)
	}
	a.Clean = func(form string, body map[string]any) bool {
		last := ""
		for _, m := range forms[form].messages(body) {
			last = strings.Join(texts(m.(object)["content"]), "\n")
		}
		return asksSummary.MatchString(last)
	}
	a.Print, a.Serve = []string{"run", "--format", "json"}, openCodeServe
	return &a
}

// asksSummary matches what asks for a summary: a conversation in a question, or a question after it.
var asksSummary = regexp.MustCompile(`^(Here is the conversation so far:|Create a new anchored summary |` +
	`Update the anchored summary |Provide a detailed prompt for continuing )`)

// openCodeConfig writes the configuration of a step.
func (p *Player) openCodeConfig(s *Step) {
	model := func(window int, inputs ...string) object {
		return object{"name": "Stub", "tool_call": true, "reasoning": true, "attachment": len(inputs) > 1,
			"limit":      object{"context": window, "output": 2000},
			"modalities": object{"input": inputs, "output": []string{"text"}}}
	}
	options := object{"baseURL": address + "/v1", "apiKey": key}
	providers := object{"stub": object{"npm": "@ai-sdk/openai-compatible", "name": "Stub", "options": options,
		"models": object{"m1": model(40000, "text", "image"), "m2": model(40000, "text"),
			"m3": model(40000, "text", "image", "pdf"), "m4": model(120000, "text")}}}
	for _, known := range []string{"anthropic", "openai", "openrouter"} {
		providers[known] = object{"options": options}
	}
	config := object{"autoupdate": false, "share": "disabled", "model": or(p.Script.Model, "stub/m1"),
		"small_model": or(p.Script.Model, "stub/m1"), "provider": providers,
		"permission": object{"bash": "allow", "edit": "allow", "read": "allow"}}
	for of, set := range map[string][2]json.RawMessage{"": {p.Script.Settings, s.Settings},
		"mcp": {p.Script.MCP, s.MCP}, "agent": {p.Script.Agents, s.Agents}} {
		for _, raw := range set {
			switch {
			case raw == nil:
			case of == "":
				must.Do(json.Unmarshal(raw, &config))
			default:
				config[of] = raw
			}
		}
	}
	file := filepath.Join(home, ".config", p.Name, p.Name+".json")
	must.Do(os.WriteFile(file, must.Get(json.Marshal(config)), 0o600))
}

// openCodeArgs returns the arguments of a step: a prompt comes on the standard input.
func openCodeArgs(p *Player, s *Step) (args []string) {
	if s.Do != "print" {
		return []string{"--port", fmt.Sprint(openCodePort)}
	}
	if s.From != "" {
		args = append(args, "--session", p.sessions[s.From])
	}
	if s.Continue {
		args = append(args, "--continue")
	}
	if s.Fork {
		args = append(args, "--fork")
	}
	args = append(args, "--model", or(s.Model, or(p.Script.Model, "stub/m1")))
	return append(append(args, p.Script.Args...), s.Args...)
}
