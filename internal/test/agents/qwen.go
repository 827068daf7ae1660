package agents

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ctxtool/internal/test/must"
)

// Qwen is Qwen Code, with a provider that speaks Chat Completions.
var Qwen = &Agent{
	Name: "qwen", Package: "@qwen-code/qwen-code", Binary: "node_modules/.bin/qwen", Wrapped: true,
	Versions: strings.Fields("0.15.10 0.21.10 0.24.4"),
	Common:   strings.Fields("prompts compaction models images sub-agents"),
	Store:    []string{".qwen/projects"},
	Env: func(*Player) []string {
		return []string{"OPENAI_API_KEY=" + key, "OPENAI_BASE_URL=" + address + "/v1", "QWEN_CODE_NO_RELAUNCH=1",
			"QWEN_TELEMETRY_ENABLED=false", "QWEN_CODE_SUPPRESS_YOLO_WARNING=1"}
	},
	Begin:  func(*Player) error { return qwenSettings(nil) },
	Args:   qwenArgs,
	Print:  []string{"--output-format", "json"},
	Stream: []string{"--input-format", "stream-json", "--output-format", "stream-json"},
	Turn: func(content json.RawMessage) any {
		return object{"type": "user", "message": object{"role": "user", "content": content}}
	},
	Turned: `"type":"result"`,
	Ready:  "Type your message",
	Clean:  qwenClean,
}

// qwenSettings writes the settings of the home, with those of a script.
func qwenSettings(more json.RawMessage) error {
	settings := object{"general": object{"enableAutoUpdate": false}, "telemetry": object{"enabled": false},
		"privacy": object{"usageStatisticsEnabled": false}, "ui": object{"hideTips": true},
		"security": object{"auth": object{"selectedType": "openai"}, "folderTrust": object{"enabled": false}}}
	if more != nil {
		must.Do(json.Unmarshal(more, &settings))
	}
	name := filepath.Join(home, ".qwen/settings.json")
	must.Do(os.MkdirAll(filepath.Dir(name), 0o755))
	return os.WriteFile(name, must.Get(json.Marshal(settings)), 0o600)
}

// qwenArgs returns the arguments of a step. A session gets an id by its label: requests name none.
func qwenArgs(p *Player, s *Step) (args []string) {
	settings, servers := p.given(s)
	must.Do(qwenSettings(settings))
	from := p.sessions[s.From]
	switch {
	case s.Continue:
		args = append(args, "--continue")
	case from != "":
		args = append(args, "--resume", from)
	}
	if s.Fork {
		args = append(args, "--fork-session")
	}
	if p.sessions[s.Session] == "" && (from == "" || s.Fork) {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", len(p.sessions)+1)
		p.sessions[s.Session] = id
		args = append(args, "--session-id", id)
	}
	args = append(args, "--yolo", "--auth-type", "openai", "--model",
		or(s.Model, or(p.Script.Model, "qwen3-coder-plus")))
	if servers != nil {
		args = append(args, "--mcp-config", `{"mcpServers":`+string(servers)+`}`)
	}
	return append(append(args, p.Script.Args...), s.Args...)
}

// qwenReminders are those that begin a text, and qwenAsks what asks for a summary or for what is to be remembered.
var (
	qwenReminders = regexp.MustCompile(`^(?:\s*<system-reminder>(?s:.*?)</system-reminder>)+\s*`)
	qwenAsks      = regexp.MustCompile(`<state_snapshot>|^Managed memory has|^First, reason in your <analysis>`)
)

// qwenGot answers what a process of an older version says of its environment, in a message of its own.
const qwenGot = "Got it. Thanks for the context!"

// qwenClean takes out reminders and the environment, which each process makes for itself.
func qwenClean(_ string, body object) (summary bool) {
	var kept []any
	all := list(body, "messages")
	got := func(k int) bool { return k < len(all) && all[k].(object)["content"] == qwenGot }
	if k := slices.IndexFunc(all, func(m any) bool { return m.(object)["role"] != "system" }); k >= 0 && got(k+1) {
		all = slices.Delete(all, k, k+2)
	}
	for k, m := range all {
		m := m.(object)
		if m["role"] != "user" {
			kept = append(kept, m)
			continue
		}
		last := k == len(all)-1
		clean := func(text string) string {
			if last && qwenAsks.MatchString(text) {
				summary = true
				return ""
			}
			return qwenReminders.ReplaceAllString(text, "")
		}
		switch c := m["content"].(type) {
		case string:
			m["content"] = clean(c)
		case []any:
			m["content"] = slices.DeleteFunc(c, func(p any) bool {
				text, ok := p.(object)["text"].(string)
				return ok && clean(text) == ""
			})
		}
		if len(fmt.Sprint(m["content"])) > len("[]") {
			kept = append(kept, m)
		}
	}
	body["messages"] = kept
	return summary
}
