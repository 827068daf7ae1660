package claude

import (
	"slices"

	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// Rules of Claude Code besides the shared ones.
const (
	attachedSystem  rule.Rule = rule.Own + iota // an attachment with the role system
	attachedUser                                // an attachment with the role user
	attachedContext                             // an attachment with the role user that announces context
	attachedPicture                             // an image that the user named
	unworded                                    // an attachment whose text is not in the file
	typedAhead                                  // what the user typed during a turn
	turnEffort                                  // an answer whose effort is stated among the messages
	hookFrame                                   // the text of a hook, in a reminder
	ownFrame                                    // a note of the program, in a reminder
	notified                                    // a notification of a task
	localOutput                                 // the output of a command that the program ran itself
	toolLoaded                                  // a result that loads tools
	besideResult                                // other content of a record with a result
	noAnswer                                    // an answer that the program wrote
	lostParent                                  // a record whose parent is not in the file
	keptList                                    // a compaction keeps the messages that it lists
	keptSegment                                 // a compaction keeps a range of messages, given by its first and last
	clearedResult                               // a result is sent as a placeholder
	forkContext                                 // a sub-agent begins with the context of its parent
)

// Rules are the agent's rules, with the results of comparing them.
var Rules = rule.NewTable(map[rule.Rule]rule.Info{
	attachedSystem:  {Name: "attachment of the system", Scope: rule.PerModel},
	attachedUser:    {Name: "attachment of the user", Scope: rule.PerModel},
	attachedContext: {Name: "announced context", Scope: rule.PerModel},
	attachedPicture: {Name: "attached picture", Scope: rule.PerModel},
	unworded:        {Name: "attachment without text", Missing: true},
	typedAhead:      {Name: "prompt typed ahead", Scope: rule.PerModel},
	turnEffort:      {Name: "effort of a turn", Scope: rule.PerModel},
	hookFrame:       {Name: "text of a hook"}, ownFrame: {Name: "note of the program"},
	notified: {Name: "notification", Missing: true}, localOutput: {Name: "output of a local command"},
	toolLoaded: {Name: "loaded tool"}, besideResult: {Name: "text beside a result"},
	noAnswer: {Name: "answer of the program"}, lostParent: {Name: "lost parent"},
	keptList: {Name: "kept messages"}, keptSegment: {Name: "kept segment"},
	clearedResult: {Name: "cleared result", Missing: true}, forkContext: {Name: "context of a fork"},
}, compared)

// Kinds of attachments in recordings, by their treatment in requests.
var (
	kindsOfSystem = []string{
		"agent_listing_delta", "auto_mode", "critical_system_reminder", "date", "deferred_tools_delta",
		"edited_text_file", "environment", "hook_additional_context", "hook_blocking_error", "hook_success",
		"mcp_instructions_delta", "model", "plan_mode", "plan_mode_exit", "queued_command", "silent_turn_reminder",
		"skill_listing", "task_reminder", "total_tokens_reminder",
	}
	kindsOfUser    = []string{"directory", "file", "nested_memory"}
	kindsOfContext = []string{"instructions", "remote_session_change"}
)

// attachmentRule returns the rule by which an attachment is sent: [rule.Unread] if no recording has its kind or
// parts.
func attachmentRule(p *jsonl.Picked, of *attached) rule.Rule {
	rendered := p.Record[atRendered]
	switch {
	case of.isPicture():
		return attachedPicture
	case !rendered.IsArray():
		return unworded
	}
	for one := range rendered.Elements {
		if !one.Get("content").IsString() {
			return rule.Unread
		}
	}
	switch kind := of.typ.Text(); {
	case kind == "queued_command" && of.commandMode.Is("prompt"):
		return typedAhead
	case slices.Contains(kindsOfContext, kind):
		return attachedContext
	case slices.Contains(kindsOfUser, kind):
		return attachedUser
	case slices.Contains(kindsOfSystem, kind):
		return attachedSystem
	}
	return rule.Unread
}

// userRules returns the rules of a record of the user.
func userRules(p *jsonl.Picked, isResults bool) (s rule.Set) {
	rest := false
	for f := range slices.Chunk(p.Parts, partFields) {
		switch typ := f[0]; {
		case typ.Is("tool_result"):
			s |= resultRules(f[2])
			continue
		case typ.Is("image"):
			s |= rule.Of(rule.Image)
		case !typ.Is("text"):
			s |= rule.Of(rule.Unread)
		}
		rest = true
	}
	return s | rule.If(isResults && rest, besideResult) | rule.If(p.Record[atHookLead].IsString(), hookFrame) |
		rule.If(p.Record[atOwnNote].Truthy(), ownFrame) |
		rule.If(p.Record[atOrigin].Get("kind").Is("task-notification"), notified)
}

// resultRules returns the rules of what a tool returned, parts or a text.
func resultRules(content jsonl.Value) (s rule.Set) {
	if content.IsString() {
		return 0
	}
	for part := range content.Elements {
		switch typ := part.Get("type"); {
		case typ.Is("tool_reference"):
			s |= rule.Of(toolLoaded)
		case typ.Is("image"):
			s |= rule.Of(rule.Image)
		case !typ.Is("text"):
			s |= rule.Of(rule.Unread)
		}
	}
	return s
}

// answerRules returns the rules of a line of an answer.
func answerRules(p *jsonl.Picked) (s rule.Set) {
	for f := range slices.Chunk(p.Parts, partFields) {
		switch typ := f[0]; {
		case typ.Is("text"):
		case typ.Is("thinking"):
			s |= rule.Of(rule.Thinking)
		case typ.Is("tool_use"):
			s |= rule.Of(rule.Call)
		default:
			s |= rule.Of(rule.Unread)
		}
	}
	return s | rule.If(p.Record[atTurnEffort].IsString(), turnEffort)
}
