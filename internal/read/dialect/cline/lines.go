package cline

//lint:file-ignore U1000 the fields are read by reflection.

import "ctxtool/internal/read/fields"

// lineFields are the fields of the lines of Cline.
type lineFields struct {
	agent, cwd, enable_tools, id, role, sessionId, session_id, source_last_message_key  fields.Read
	source_message_count, source_prefix_hash, started_at, system_prompt, ts, updated_at fields.Read
	version                                                                             fields.Read

	messages fields.Free

	compaction_path, conversation_id, enable_spawn, enable_teams, ended_at, exit_code  fields.Unread
	interactive, messages_path, model, pid, prompt, provider, source, status, taskType fields.Unread
	team_name, workspace_root                                                          fields.Unread

	content   contentFields
	metadata  metadataFields
	metrics   struct{ cacheReadTokens, cacheWriteTokens, cost, inputTokens, outputTokens fields.Read }
	modelInfo struct {
		id, provider fields.Read
		family       fields.Unread
	}
	origin struct {
		parentThreadId, version                    fields.Read
		mode, sessionId, source, subagent, trigger fields.Unread
	}
}

type contentFields struct {
	file       fileContent       `jsonl:"<file>"`
	image      imageContent      `jsonl:"<image>"`
	text       textContent       `jsonl:"<text>"`
	thinking   thinkingContent   `jsonl:"<thinking>"`
	toolResult toolResultContent `jsonl:"<tool_result>"`
	toolUse    toolUseContent    `jsonl:"<tool_use>"`
}

type fileContent struct {
	content, path fields.Read
}

type imageContent struct {
	data, mediaType fields.Read
}

type textContent struct {
	text fields.Read
}

type thinkingContent struct {
	thinking fields.Read
}

type toolResultContent struct {
	is_error, name, tool_use_id fields.Read

	content struct {
		fields.Free

		data, mediaType, query, success, text fields.Read
	}
}

// What is read besides lines: messages as they are sent.
var _ = fields.Of[sentFields]

type sentFields struct {
	role, tool_call_id fields.Read
	tool_calls         struct {
		function struct{ name fields.Read }
	}
}

type toolUseContent struct {
	id, name fields.Read
	input    fields.Free
}

type metadataFields struct {
	displayOnly, displayRole, title fields.Read

	aggregateUsage, aggregatedAgentsCost, autoApproveTools, checkpoint, checkpointEnabled fields.Unread
	enableSpawn, enableTeams, enableTools, interactive, invalidToolCalls, mode, model     fields.Unread
	modelToolActivities, prompt, provider, sessionHistoryOrigin, source, systemPrompt     fields.Unread
	terminal_marker, terminal_marker_at, terminal_marker_pid, terminal_marker_source      fields.Unread
	totalCost, usage                                                                      fields.Unread
}
