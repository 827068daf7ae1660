package agents

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ctxtool/internal/test/must"
	"ctxtool/sessionfmt/jsonl"
)

// Codex is OpenAI's Codex CLI: codex exec prints, codex app-server serves, codex alone is on a terminal.
var Codex = &Agent{
	Name: "codex", Package: "@openai/codex", Binary: "node_modules/.bin/codex",
	Versions: strings.Fields("0.80.0 0.107.0 0.123.0 0.128.0 0.140.0 0.146.0 0.150.0 0.160.0 0.169.0 0.171.0"),
	Common: strings.Fields("prompts outputs compaction resume fork models images aborts errors endings mcp rewind " +
		"attachments plain-tools auto-compaction aborted forks legacy revert tools-in-file mixed-compactions"),
	Store:    []string{".codex/sessions", ".codex/archived_sessions"},
	Env:      func(*Player) []string { return []string{"CODEX_HOME=" + codexHome, "STUB_KEY=" + key} },
	Begin:    codexBegin,
	Args:     codexArgs,
	Print:    []string{"exec", "--json", "--skip-git-repo-check"},
	Serve:    codexServe,
	AnswerID: func(line jsonl.Value) string { return line.Get("payload").Get("response_id").Text() },
	Clean:    codexClean,
}

const codexHome = home + "/.codex"

// codexConfig is the configuration. Settings of scripts are arguments.
const codexConfig = `model = "gpt-5.5"
model_provider = "stub"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[analytics]
enabled = false
[features]
enable_request_compression = false
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
[projects."` + project + `"]
trust_level = "trusted"
[model_providers.stub]
name = "stub"
base_url = "` + address + `/v1"
wire_api = "responses"
env_key = "STUB_KEY"
request_max_retries = 0
stream_max_retries = 0
`

func codexBegin(*Player) error {
	must.Do(os.MkdirAll(codexHome, 0o755))
	return os.WriteFile(filepath.Join(codexHome, "config.toml"), []byte(codexConfig), 0o600)
}

// codexArgs returns the arguments of a step.
func codexArgs(p *Player, s *Step) (args []string) {
	if s.Fork {
		args = append(args, "fork")
	} else if s.From != "" || s.Continue {
		args = append(args, "resume")
	}
	if model := or(s.Model, p.Script.Model); model != "" && s.Do != "serve" {
		args = append(args, "-m", model)
	}
	for _, set := range []json.RawMessage{p.Script.Settings, s.Settings} {
		args = append(args, overrides("", set)...)
	}
	_, servers := p.given(s)
	args = append(append(append(args, overrides("mcp_servers.", servers)...), p.Script.Args...), s.Args...)
	switch {
	case s.Continue:
		args = append(args, "--last")
	case s.From != "":
		args = append(args, "--", or(s.At, p.sessions[s.From]))
	}
	if s.Do == "print" {
		args = append(args, "-")
	}
	return args
}

// overrides returns the arguments that set members of an object in the configuration.
func overrides(under string, set json.RawMessage) (args []string) {
	var all map[string]json.RawMessage
	if set != nil {
		must.Do(json.Unmarshal(set, &all))
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		args = append(args, "-c", under+name+"="+toml(all[name]))
	}
	return args
}

// toml returns a value in TOML.
func toml(v json.RawMessage) string {
	var table map[string]json.RawMessage
	if json.Unmarshal(v, &table) != nil || table == nil {
		return string(v)
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(table)) {
		all = append(all, strconv.Quote(name)+"="+toml(table[name]))
	}
	return "{" + strings.Join(all, ",") + "}"
}

// codexID is an id that the program makes when it sends an item.
var codexID = regexp.MustCompile(`^[a-z]+_[0-9a-f]{8}-[0-9a-f]{4}-5`)

// codexClean takes out ids that are made for a request, outputs of calls that have none, and what only a provider
// called OpenAI gets. Instructions that come first become the system prompt.
func codexClean(_ string, body object) (summary bool) {
	var kept []any
	all := list(body, "input")
	for k, v := range all {
		it := v.(object)
		delete(it, "internal_chat_message_metadata_passthrough")
		id := word(it, "id")
		if codexID.MatchString(id) {
			delete(it, "id")
		}
		said := text(it)
		asks := it["type"] == "compaction_trigger" || strings.HasPrefix(said, "You are performing a CONTEXT CHECKPOINT")
		switch {
		case k == len(all)-1 && asks:
			summary = true
			continue
		case it["output"] == "aborted":
			continue
		case k == 0 && it["role"] == "developer" && it["id"] == nil && id != "":
			delete(it, "type")
		}
		kept = append(kept, it)
	}
	if all != nil {
		body["input"] = kept
	}
	return summary
}
