package sessionfmt

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"ctxtool/sessionfmt/jsonl"
)

// A signature tells the files of an agent whose format is not read: they are below a folder, or their first object has
// these members.
type signature struct {
	agent  string
	folder string
	// of the object and, after a dot, of an object in it; after = the text of a member
	members []string
	hint    string // where the session is, if the file is none
}

// signatures are those of all agents whose files are told. The first that fits counts.
var signatures = []signature{
	{agent: "Copilot CLI", folder: ".copilot", hint: "a session is session-state/ID/events.jsonl there"},
	{agent: "Copilot Chat", members: []string{"requesterUsername", "responderUsername", "requests"}},
	{agent: "Copilot Chat", folder: "github.copilot-chat"},
	{agent: "Cline", members: []string{"sessionId", "origin.source", "messages"}},
	{agent: "Cline", members: []string{"conversation_id", "source_message_count", "messages"}},
	{agent: "Cline", members: []string{"session_id", "source", "enable_tools"}},
	{agent: "Cline", folder: ".cline"},
	{agent: "Cline", folder: "saoudrizwan.claude-dev"},
	{agent: "Roo Code", folder: "rooveterinaryinc.roo-cline"},
	{agent: "Kilo Code", folder: "kilocode.kilo-code"},
	{agent: "Continue", members: []string{"sessionId", "history", "workspaceDirectory"}},
	{agent: "Continue", members: []string{"sessionId", "dateCreated", "workspaceDirectory"}},
	{agent: "Continue", folder: ".continue"},
	{agent: "Kiro", members: []string{"version", "kind=Prompt", "data"}},
	{agent: "Kiro", members: []string{"version", "kind=AssistantMessage", "data"}},
	{agent: "Kiro", members: []string{"session_id", "session_state.rts_model_state"}},
	{agent: "Kiro", members: []string{"executionId", "actionId", "chat"}},
	{agent: "Kiro", folder: ".kiro"},
	{agent: "Kiro", folder: "kiro.kiroagent"},
	{agent: "Hermes", members: []string{"role=session_meta"}},
	{agent: "Hermes", members: []string{"session_id", "session_start", "platform", "messages"}},
	{agent: "Hermes", members: []string{"role", "content", "timestamp"}},
	{agent: "Hermes", folder: ".hermes"},
	{agent: "Vibe", members: []string{"metadata.session_id", "metadata.agent_config", "messages"}},
	{agent: "Vibe", members: []string{"session_id", "start_time", "git_commit", "environment"}},
	{agent: "Vibe", members: []string{"role", "content", "message_id"}},
	{agent: "Vibe", folder: ".vibe"},
	{agent: "Antigravity", members: []string{"step_index", "source", "type"}},
	{agent: "Antigravity", folder: "antigravity"},
	{agent: "Antigravity", folder: "antigravity-cli"},
	{agent: "Antigravity", folder: "antigravity-ide"},
	{agent: "Qwen Code", members: []string{"sessionId", "localMonth", "totalTokens"}},
	{agent: "Qwen Code", members: []string{"sessionId", "totalLatencyMs", "models"}},
	{agent: "Qwen Code", folder: ".qwen"},
	{agent: "codex exec --json", members: []string{"type=thread.started", "thread_id"},
		hint: "the session is a rollout in ~/.codex/sessions"},
	{agent: "claude -p --output-format json", members: []string{"type=result", "session_id", "total_cost_usd"},
		hint: "--output-format stream-json --verbose prints all messages"},
	{agent: "gemini --output-format stream-json", members: []string{"type=init", "session_id", "model"},
		hint: "the session is in ~/.gemini/tmp"},
	{agent: "Cursor, or by an old Claude Code", members: []string{"type=system", "subtype=init", "session_id"}},
}

// An unread is the error of a file whose format is known and not read.
type unread struct{ text string }

func (u unread) Error() string { return u.text }

// Is reports whether the target is ErrNotSession.
func (u unread) Is(target error) bool { return target == ErrNotSession }

// notSession is ErrNotSession, or says what the file is where that is known.
func (s *Session) notSession() error {
	first, list := firstValue(s.src.plain())
	line, _ := firstLine(s.src)
	if agent := agentOf(first); agent != "" && (list || line == nil) {
		what, filter := "whose records take several lines each", "."
		if list {
			what, filter = "whose records are elements of a list", "'.[]'"
		}
		return &Error{Err: unread{fmt.Sprintf("a session of %s %s", agent, what)},
			Hint: fmt.Sprintf("jq -c %s %s > NEW.jsonl writes each on a line", filter, Clean(s.Name))}
	}
	is := signatureOf(s.Name, first)
	if is == nil {
		return ErrNotSession
	}
	return &Error{Err: unread{fmt.Sprintf("written by %s, in a format that is not read", is.agent)}, Hint: is.hint}
}

// agentOf returns the agent whose sessions begin with such a record, empty if there is none.
func agentOf(first jsonl.Value) string {
	if d := Sniff(first); d != nil {
		return d.Name
	}
	if first.Get("type").Is("session") && first.Get("version").Exists() {
		return "pi"
	}
	return ""
}

// signatureOf returns the signature that a file fits, nil for none.
func signatureOf(name string, first jsonl.Value) *signature {
	dirs := strings.Split(filepath.ToSlash(filepath.Dir(name)), "/")
	for i := range signatures {
		is := &signatures[i]
		if is.folder != "" && slices.Contains(dirs, is.folder) || is.members != nil && hasMembers(first, is.members) {
			return is
		}
	}
	return nil
}

// hasMembers reports whether an object has all the members.
func hasMembers(v jsonl.Value, members []string) bool {
	for _, member := range members {
		path, text, valued := strings.Cut(member, "=")
		is := v.First(strings.Split(path, ".")...)
		if !is.Exists() || valued && !is.Is(text) {
			return false
		}
	}
	return true
}

// mostFirst is how large a first value may be, bytes.
const mostFirst = 4 << 20

// firstValue returns the first JSON object, which may take several lines: of a list, its first element. What is larger
// than mostFirst, or breaks off, ends before the member that does not fit.
func firstValue(r io.Reader) (first jsonl.Value, list bool) {
	d := json.NewDecoder(io.LimitReader(r, mostFirst))
	t, err := d.Token()
	if list = t == json.Delim('['); list {
		t, err = d.Token()
	}
	if err != nil || t != json.Delim('{') {
		return nil, list
	}
	object := []byte{'{'}
	for d.More() {
		var value json.RawMessage
		key, err := d.Token()
		if err != nil || d.Decode(&value) != nil {
			break
		}
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = append(jsonl.AppendQuoted(object, key.(string)), ':')
		object = jsonl.Value(value).AppendOneLine(object)
	}
	return append(object, '}'), list
}

// NamesAgent reports whether an error says which agent wrote a file that is no session.
func NamesAgent(err error) bool { return errors.As(err, new(unread)) }

// IsUnread reports whether a file is one of an agent whose format is known and not read.
func IsUnread(disk Disk, name string) bool {
	c, err := disk.OpenContent(name)
	if err != nil {
		return false
	}
	defer c.Close()
	first, _ := firstValue(c)
	return signatureOf(name, first) != nil
}
