package qwen

//lint:file-ignore U1000 the fields are read by reflection.

import (
	"ctxtool/internal/read/fields"
	"ctxtool/sessionfmt/jsonl"
)

// lineFields are the fields of the lines of Qwen Code.
type lineFields struct {
	every      everyLine `jsonl:"<*>"`
	assistant  struct{}  `jsonl:"<assistant>"`
	system     struct{}  `jsonl:"<system>"`
	toolResult struct{}  `jsonl:"<tool_result>"`
	user       struct{}  `jsonl:"<user>"`
}

type everyLine struct {
	uuid, timestamp, model, subtype jsonl.Value

	agent  jsonl.Value `jsonl:"agentId"` // of a sub-agent, whose calls count in its session too
	parent jsonl.Value `jsonl:"parentUuid"`

	message messageFields
	outcome outcomeFields `jsonl:"toolCallResult"`
	usage   usageFields   `jsonl:"usageMetadata"`

	cwd, sessionId, version fields.Read

	agentColor, agentRound, agentRunId, backgroundTurn, contextWindowSize fields.Unread
	agentName                                                             fields.Kept
	daemonPromptId, goalContext, provenance                               fields.Unread
	isSidechain                                                           fields.Kept

	systemPayload []systemPayloadFields
}

// A message is what is read of a line with a message.
type message struct {
	everyLine

	role, parts jsonl.Value // of a message without a line, in a compression
}

type messageFields struct {
	raw   jsonl.Value
	every struct {
		role  jsonl.Value
		parts fields.Value[partsFields]
	} `jsonl:"<*>"`
	model struct{} `jsonl:"<model>"`
	user  struct{} `jsonl:"<user>"`
}

type outcomeFields struct {
	raw, status jsonl.Value
	fields.Free
}

type usageFields struct {
	raw jsonl.Value

	input  jsonl.Value `jsonl:"promptTokenCount"`
	output jsonl.Value `jsonl:"candidatesTokenCount"`
	cached jsonl.Value `jsonl:"cachedContentTokenCount"`
	total  jsonl.Value `jsonl:"totalTokenCount"`

	thoughtsTokenCount fields.Unread
}

type partsFields struct {
	text, thought fields.Read

	functionCall struct {
		id, name fields.Read
		args     fields.Free
	}
	functionResponse struct {
		id, name        fields.Read
		parts, response fields.Free
	}
	inlineData struct {
		data, displayName, mimeType fields.Read
	}
}

type systemPayloadFields struct {
	customTitle fields.Read

	completedToolCallIds, filesRead                            fields.Unread
	displayText, hiddenInvocation, kind                        fields.Kept
	outputHistoryItems                                         fields.Value[fields.Free]
	history                                                    fields.Value[fields.Free]
	snapshot, snapshots, source, status, titleSource, userText fields.Unread
	phase, rawCommand, sentToModel                             fields.Kept

	compressedHistory compressedHistoryFields
	uiEvent           eventFields
	info              struct {
		triggerReason fields.Read

		compressionStatus, newTokenCount, newTokenCountIsEstimated, originalTokenCount fields.Unread
		originalTokenCountIsEstimated                                                  fields.Unread
	}
}

type compressedHistoryFields struct {
	model modelCompressedHistory `jsonl:"<model>"`
	user  modelCompressedHistory `jsonl:"<user>"`
}

type modelCompressedHistory struct {
	parts fields.Free
}

// An event is one that the program counts.
type eventFields struct {
	fields.Free

	name fields.Read `jsonl:"event.name"`

	auth_type, error_message, model, prompt_id, response_id, subagent_name               fields.Read
	cached_content_token_count, input_token_count, output_token_count, total_token_count fields.Read
}

// What is read besides lines: messages as they are sent.
var _ = fields.Of[sentFields]

type sentFields struct {
	content, reasoning_content, role, tool_call_id, tool_calls fields.Read
}
