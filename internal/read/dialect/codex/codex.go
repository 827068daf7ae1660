// Package codex shows the sessions of OpenAI's Codex CLI, its rollouts, as entries
// (docs/session-format.md 15).
package codex

import (
	"bytes"
	"path/filepath"
	"reflect"
	"strings"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// folders are those of rollouts.
var folders = []string{"sessions", "archived_sessions"}

// Dialect is the format of Codex.
var Dialect = dialect.Dialect{
	Name: "codex", Fields: reflect.TypeFor[lineFields](), Interface: "openai-responses",
	Sniff: sniff,
	Store: dialect.Store{Variable: "CODEX_HOME", Home: ".codex", Folders: folders},
	File:  fileID, Owner: owner, Nests: nests, Session: sessionID, Policy: "codex",
	Pick: jsonl.Pick{
		Record:  []string{"metadata"},
		Message: []string{"type", "id", "call_id", "content", "model", "service_tier", "output"},
		Known: []string{"action", "arguments", "author", "encrypted_content", "execution", "input", "name", "namespace",
			"phase", "recipient", "status", "summary", "tools", "internal_chat_message_metadata_passthrough"},
		As: jsonl.Names{ID: "ordinal", Parent: "call_id", Message: "payload"},
	},
	Read:   read,
	Skim:   skim,
	Call:   callOf,
	New:    newArranger,
	Make:   makeEntry,
	Base:   base,
	CopyOf: copyOf,
	Same:   same,
	// Responses and items of a gateway have the same ids in all threads.
	LocalIDs: true,
	Record:   isRecord,
	Bulk:     []dialect.Bulk{{About: "histories in compactions", Path: []string{"payload", "replacement_history"}}},
	Version:  func(line jsonl.Value) jsonl.Value { return payloadOf(line).Get("cli_version") },
	Newest:   "0.169.0",
	// What a compaction keeps comes before its summary.
	SummaryLast: true,
	Rules:       Rules,
	Certainty:   dialect.Certainty{Messages: "rule", System: "rule", Tools: "absent"},
}

// sniff reports whether a file begins as a rollout does: with session_meta, or with another
// line if that one is broken, or, as in the first months, with its payload alone.
func sniff(first jsonl.Value) bool {
	f := first.All("type", "payload", "id", "timestamp", "instructions")
	if f[1].IsObject() {
		_, known := types[f[0].Text()]
		return known || f[0].Is("response_item")
	}
	return !f[0].Exists() && f[2].IsString() && f[3].IsString() && f[4].Exists()
}

// isRecord reports whether an object is a line.
func isRecord(v jsonl.Value) bool {
	f := v.All("timestamp", "type", "payload")
	return f[0].IsString() && f[1].IsString() && f[2].IsObject()
}

// rollout begins the name of a rollout, and stamp stands before the id in it.
const (
	rollout = "rollout-"
	stamp   = "2006-01-02T15-04-05-"
)

// fileID returns the id by the name of a rollout. What follows it tells a thread's files apart.
func fileID(name string) (id string, part bool) {
	id, _, _ = strings.Cut(filepath.Base(name), ".")
	if rest, ok := strings.CutPrefix(id, rollout); ok && len(rest) > len(stamp) {
		id, _, _ = strings.Cut(rest[len(stamp):], "_")
	}
	return id, false
}

// sessionID returns the session of a session_meta.
func sessionID(line jsonl.Value) jsonl.Value {
	if typ := line.Get("type"); typ.Exists() && !typ.Is("session_meta") || !sniff(line) {
		return nil
	}
	return payloadOf(line).Get("id")
}

// base returns the rollout that a fork continues.
func base(first jsonl.Value) (b dialect.Base, ok bool) {
	f := first.Get("payload").Get("history_base").All("thread_id", "end_ordinal_exclusive", "end_byte_offset")
	return dialect.Base{ID: f[0].Text(), Upto: f[1].Int(), Keep: f[2].Int()}, f[0].IsString()
}

// copyOf returns the rollout whose lines a fork begins with, or a sub-agent that got the history of the thread
// that started it. Older forks name it only by its session_meta, which comes second.
func copyOf(first, second jsonl.Value) (b dialect.Base, ok bool) {
	f := payloadOf(first).All("id", "forked_from_id", "parent_thread_id", "subagent_history_start_ordinal")
	id := jsonl.FirstText(f[1], sessionID(second), f[2])
	if f[3].IsNumber() {
		b.Upto = f[3].Int()
	} else if f[2].IsString() && !f[1].IsString() {
		id = sessionID(second) // a sub-agent without a history has a parent too
	}
	b.ID = id.Text()
	return b, b.ID != "" && b.ID != f[0].Text()
}

// same returns what a fork copies of a line: an item, a usage, or a compaction.
func same(line jsonl.Value) (what jsonl.Value, asks bool) {
	f := line.All("type", "payload")
	item := f[1].All("type", "role", "info")
	switch typ := f[0]; {
	case typ.Is("response_item"):
		return f[1], item[0].Is("message") && item[1].Is("user")
	case typ.Is("compacted"), typ.Is("token_usage_record"), typ.Is("event_msg") && item[2].IsObject():
		return f[1], false
	}
	return nil, false
}

// Codes of lines.
const (
	meta       = dialect.First + iota // session_meta
	prompt                            // a message of the user
	note                              // a message of the developer, or one that Codex wrote for the user
	answer                            // a part of an answer: text or reasoning
	call                              // a part of an answer: a call
	output                            // the output of a call
	custom                            // the output of a call whose input is a text
	summary                           // the answer to the request for a summary
	compacted                         // a summary takes effect
	rolledBack                        // turns are taken back
	settings                          // turn_context
	tiered                            // a turn_context that names a service tier
	thread                            // thread_settings_applied with a service tier
	usage                             // token_usage_record
	counted                           // token_count, the only usage in older files
	agents                            // a message between agents
	began                             // a task, whose prompt may follow
	named                             // the thread gets a name
)

// types are the lines other than response items, by type.
var types = map[string]dialect.Code{
	"session_meta": meta, "compacted": compacted, "turn_context": settings, "token_usage_record": usage,
	"inter_agent_communication": agents,
	"event_msg":                 dialect.Skip, "world_state": dialect.Skip, "retained_context": dialect.Skip,
	"security_risk_score": dialect.Skip, "realtime_item": dialect.Skip,
	"inter_agent_communication_metadata": dialect.Skip,
	"rollout_reference":                  dialect.Skip, "session_state": dialect.Skip,
}

// events are the events that have an effect.
var events = map[string]dialect.Code{"thread_rolled_back": rolledBack, "task_started": began, "token_count": counted,
	"thread_settings_applied": thread, "thread_name_updated": named}

// An itemSort gives the code of response items of a type, and the rule by which they are sent.
type itemSort struct {
	code dialect.Code
	by   rule.Rule
}

// items are the types of response items.
var items = map[string]itemSort{
	"reasoning": {answer, rule.Thinking}, "web_search_call": {answer, webSearch},
	"image_generation_call": {answer, madeImage}, "tool_search_call": {call, toolSearch},
	"function_call": {call, rule.Call}, "custom_tool_call": {call, customCall}, "local_shell_call": {call, shellCall},
	"function_call_output": {output, rule.Result}, "custom_tool_call_output": {custom, customResult},
	"tool_search_output": {output, foundTools}, "additional_tools": {note, addedTools},
	"agent_message": {note, fromAgent}, "compaction": {note, sealed}, "context_compaction": {note, sealed},
}

func read(p *jsonl.Picked) dialect.Head {
	item := p.Message // type, id, call_id, content, model, service_tier, output
	head := dialect.Head{ID: item[1], Ref: item[2]}
	switch {
	case p.Type.Is("response_item"):
		head.Code = itemCode(item[0], p.Role, item[3], p.Record[0])
		head.Rules = itemRules(item[0], item[2], item[3], item[6]) | rule.If(p.Strange, rule.Unread)
		if head.Code == answer || head.Code == call {
			head.Group = p.Record[0].Get("sampled_through_sequence")
		}
	case p.Type.Is("event_msg"):
		head.Code = events[string(item[0].Inside())] // the zero value is to skip
	default:
		head = otherHead(p, head)
	}
	if head.Code != call && head.Code != output && head.Code != custom {
		head.Ref = nil
	}
	head.NoUsage = head.Code == output || head.Code == custom
	return head
}

// otherHead is read for lines of other types, and for those of the first months, which have
// none.
func otherHead(p *jsonl.Picked, head dialect.Head) dialect.Head {
	code, known := types[string(p.Type.Inside())]
	switch {
	case known:
		head.Code = code
		if code == settings {
			head.Group = p.Message[4]
			if p.Message[5].IsString() {
				head.Code = tiered
			}
		}
	case !p.Type.Exists() && p.Line.Get("instructions").Exists():
		head = dialect.Head{Code: meta, ID: p.Line.Get("id"), Rules: rule.Of(bareLine)}
	case p.Line.Get("record_type").Exists():
		head.Code = dialect.Skip
	default: // bare items
		f := p.Line.All("type", "id", "call_id", "role", "content")
		if _, is := items[f[0].Text()]; is || f[0].Is("message") {
			head = dialect.Head{Code: itemCode(f[0], f[3], f[4], nil), ID: f[1], Ref: f[2], Rules: rule.Of(bareLine)}
		} else {
			head.Code = dialect.Unknown
		}
	}
	return head
}

func itemCode(typ, role, content, metadata jsonl.Value) dialect.Code {
	if of, ok := items[string(typ.Inside())]; ok {
		return of.code
	}
	switch {
	case typ.Exists() && !typ.Is("message"):
		return dialect.Unknown
	case role.Is("assistant"):
		if metadata.Get("compaction_output").Truthy() {
			return summary
		}
		return answer
	case role.Is("user") && asked(content, metadata):
		return prompt
	}
	return note
}

// itemRules returns the rules that an item needs by itself. Pictures stand in lists alone.
func itemRules(typ, call, content, output jsonl.Value) (used rule.Set) {
	if of, ok := items[string(typ.Inside())]; ok {
		used = rule.Of(of.by)
		if of.by == rule.Result && !call.Exists() {
			used = rule.Of(goal)
		}
	}
	for _, list := range []jsonl.Value{content, output} {
		if list.IsArray() && bytes.Contains(list, []byte(`"input_image"`)) {
			used |= rule.Of(rule.Image, imageDetail)
		}
	}
	return used
}

// asked reports whether a message of the user is a prompt. Newer versions number those.
func asked(content, metadata jsonl.Value) bool {
	if metadata.Get("history_sequence").Exists() {
		return metadata.Get("user_input_order").Exists()
	}
	return !written(content)
}

// written reports whether Codex itself wrote a message of the user: to describe the
// environment, project or tools, or that a turn was interrupted.
func written(content jsonl.Value) bool {
	for block := range content.Elements {
		return dialect.Begins(block.Get("text").Beginning(40), "<environment_context>", "<user_instructions>",
			"<turn_aborted>",
			"<subagent_notification>", "<skill>", "# AGENTS.md instructions")
	}
	return false
}
