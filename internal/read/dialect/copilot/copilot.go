// Package copilot shows the sessions of GitHub Copilot CLI, logs of events, as entries
// (docs/session-format.md 24).
package copilot

import (
	"bytes"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// Dialect is the format of Copilot CLI.
var Dialect = dialect.Dialect{
	Name: "copilot", Fields: reflect.TypeFor[lineFields](), Interface: "openai-chat",
	Sniff: sniff, Session: sessionID, Record: isEvent, File: fileID,
	Store:  dialect.Store{Variable: "COPILOT_HOME", Home: ".copilot", Folders: []string{"session-state"}},
	Policy: "pi",
	Pick: jsonl.Pick{
		Record:  []string{"agentId"},
		Message: []string{"toolCallId", "success", "assetId", "attachments", "result", "reasoningOpaque"},
		As:      jsonl.Names{ID: "id", Parent: "parentId", Message: "data"},
	},
	Read: read, New: newArranger, Make: makeEntry,
	Bulk: []dialect.Bulk{
		{About: "requests for summaries", Path: []string{"data", "requestMessages"}, Line: true, Spare: true},
		{About: "copies of the history", Path: []string{"data", "messages"}, Line: true, Spare: true},
	},
	Version:   func(line jsonl.Value) jsonl.Value { return line.Get("data").Get("copilotVersion") },
	Newest:    "1.0.102",
	Rules:     Rules,
	Certainty: dialect.Certainty{Messages: "rule", System: "rule", Tools: "absent"},
}

// isEvent reports whether an object is a line.
func isEvent(v jsonl.Value) bool {
	f := v.All("type", "data", "id", "timestamp", "parentId")
	return f[0].IsString() && f[1].IsObject() && f[2].IsString() && f[3].IsString() && f[4].Exists()
}

// sniff reports whether a file begins with an event: its start, or another one of a known type if that is broken.
func sniff(first jsonl.Value) bool {
	typ := first.Get("type").Text()
	_, known := types[typ]
	return (known || slices.Contains(skipped, typ)) && isEvent(first)
}

// sessionID returns the session that an event starts.
func sessionID(line jsonl.Value) jsonl.Value {
	if !line.Get("type").Is("session.start") {
		return nil
	}
	return line.Get("data").Get("sessionId")
}

// log is the name of the file with the events of a session, in a folder of its own. What else is in the folder
// belongs to the session.
const log = "events.jsonl"

// fileID returns the id by the name of a file.
func fileID(name string) (id string, part bool) {
	base, dir := filepath.Base(name), filepath.Dir(name)
	if base == log {
		return filepath.Base(dir), false
	}
	id, _, _ = strings.Cut(base, ".")
	return id, filepath.Base(filepath.Dir(dir)) == "session-state"
}

// Codes of lines.
const (
	start       = dialect.First + iota // the session starts
	resume                             // another process continues it
	model                              // another model is chosen
	system                             // the system prompt
	prompt                             // a message of the user
	usage                              // usage of an answer that follows
	answer                             // a message of the model
	result                             // the result of a call
	asset                              // a picture
	compacting                         // a summary is requested
	compacted                          // the summary takes effect
	cancelled                          // the summary failed
	aborted                            // the user interrupts
	notice                             // the program reports something that has ended
	shell                              // the user runs a command
	skill                              // a skill is loaded
	delivered                          // and given to the model
	hookStart                          // a hook runs
	hookEnd                            // and has ended
	interrupted                        // a call has no result; set for the line after it
	unread                             // it may change the context, but no reader uses it
)

// types are the events that are read, by their type.
var types = map[string]dialect.Code{
	"session.start": start, "session.resume": resume, "session.model_change": model, "system.message": system,
	"user.message": prompt, "session.usage_record": usage, "assistant.message": answer,
	"tool.execution_complete": result, "session.binary_asset": asset, "session.compaction_complete": compacted,
	"session.compaction_start": compacting, "abort": aborted,
	"system.notification": notice, "tool.user_requested": shell, "skill.invoked": skill,
	"skill.context_delivered_ref": delivered, "hook.start": hookStart, "hook.end": hookEnd,

	"session.truncation": unread, "session.snapshot_rewind": unread, "session.handoff": unread,
	"external_tool.requested": unread,
}

// skipped are the events that change no context, and those of requests for summaries, which begin with model.
var skipped = strings.Fields("assistant.reasoning assistant.turn_end assistant.turn_start " +
	"permission.completed permission.requested session.auto_mode_resolved session.autopilot_objective_changed " +
	"session.context_changed session.error session.info session.mode_changed session.mode_notice_delivered " +
	"session.permissions_changed " +
	"session.plan_changed session.remote_steerable_changed session.session_limits_changed session.shutdown " +
	"session.task_complete session.title_changed session.tools_updated session.usage_checkpoint session.warning " +
	"session.workspace_file_changed subagent.completed subagent.configured subagent.deselected subagent.failed " +
	"subagent.selected subagent.started tool.execution_start")

func read(p *jsonl.Picked) dialect.Head {
	data := p.Message // toolCallId, success, assetId, attachments, result, reasoningOpaque
	code, known := types[string(p.Type.Inside())]
	if typ := p.Type.Text(); !known && (strings.HasPrefix(typ, "model.") || slices.Contains(skipped, typ)) {
		return dialect.Head{}
	} else if !known {
		return dialect.Head{Code: dialect.Unknown, ID: p.ID}
	}
	h := dialect.Head{Code: code, ID: p.ID, Group: p.Record[0], NoUsage: code != answer && code != usage}
	failed := string(data[1]) == "false"
	switch code {
	case result:
		h.Ref = data[0]
		f := data[4].All("binaryResultsForLlm", "content", "detailedContent")
		h.Rules = rule.If(failed, failure) | rule.If(f[0].Truthy(), resultFile) |
			rule.If(len(f[1]) > len(empty) && bytes.Equal(f[1], f[2]), detailed)
	case asset:
		h.Ref = data[2]
	case prompt:
		h.Rules = rule.Of(form)
		for a := range data[3].Elements {
			tagged := a.Get("taggedFilesEntry").IsString()
			h.Rules |= rule.If(isPicture(a), attachedFile) | rule.If(tagged, taggedFile) |
				rule.If(!isPicture(a) && !tagged, otherFile)
		}
	case answer:
		h.Rules = rule.If(data[5].IsString(), rule.Thinking)
	case compacted:
		if failed {
			h.Code = cancelled
		}
	}
	return h
}

// isPicture reports whether an attachment is a picture that the file holds.
func isPicture(attachment jsonl.Value) bool {
	f := attachment.All("mimeType", "assetId")
	return strings.HasPrefix(f[0].Text(), "image/") && f[1].IsString()
}
