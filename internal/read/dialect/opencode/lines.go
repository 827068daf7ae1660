package opencode

//lint:file-ignore U1000 the fields are read by reflection.

import "ctxtool/internal/read/fields"

// lineFields are the fields of the rows of opencode, and of Kilo.
type lineFields struct {
	every   everyLine   `jsonl:"<*>"`
	event   eventLine   `jsonl:"<event>"`
	message messageLine `jsonl:"<message>"`
	part    partLine    `jsonl:"<part>"`
	session sessionLine `jsonl:"<session>"`
}

type everyLine struct {
	id, time_created, time_updated, timestamp fields.Read

	data dataFields
}

type dataFields struct {
	assistant  assistantData `jsonl:"<assistant>"`
	stepFinish fields.Unread `jsonl:"<step-finish>"`
	stepStart  fields.Unread `jsonl:"<step-start>"`
	text       textData      `jsonl:"<text>"`
	user       userInfo      `jsonl:"<user>"`

	messageID, partID, time fields.Read
	sessionID               fields.Kept

	info infoFields
	part partFields
}

type assistantData struct {
	cost, modelID, providerID           fields.Read
	agent, finish, mode, parentID, path fields.Unread

	time   timeFields
	tokens tokensFields
}

type timeFields struct {
	completed, created, updated fields.Read
}

type tokensFields struct {
	output, reasoning fields.Read
	total             fields.Kept
	input             fields.Free

	cache cacheFields
}

type cacheFields struct {
	read, write fields.Read
}

type textData struct {
	text fields.Read
}

type infoFields struct {
	assistant assistantInfo `jsonl:"<assistant>"`
	user      userInfo      `jsonl:"<user>"`

	agent, cost, directory, id, model, parentID, path, permission, projectID, slug, summary fields.Unread
	time, title, tokens, version                                                            fields.Unread

	revert struct {
		messageID, partID         fields.Read
		diff, snapshot, workspace fields.Unread
	}
}

type assistantInfo struct {
	cost, finish, id, modelID, providerID, summary fields.Read
	agent, mode, parentID, path, sessionID         fields.Unread

	error struct {
		name fields.Read
		data fields.Unread
	}
	time   timeFields
	tokens tokensFields
}

type userInfo struct {
	id                                       fields.Read
	agent, sessionID, summary, system, tools fields.Unread

	model struct{ modelID, providerID fields.Read }
	time  timeFields

	editorContext struct { // of Kilo
		activeFile, directory, openTabs, visibleFiles, worktree fields.Read

		shell fields.Unread
	}
}

type partFields struct {
	agent      fields.Unread  `jsonl:"<agent>"`
	compaction compactionPart `jsonl:"<compaction>"`
	file       filePart       `jsonl:"<file>"`
	patch      fields.Unread  `jsonl:"<patch>"`
	reasoning  reasoningPart  `jsonl:"<reasoning>"`
	stepFinish fields.Unread  `jsonl:"<step-finish>"`
	stepStart  stepStartPart  `jsonl:"<step-start>"`
	text       textPart       `jsonl:"<text>"`
	tool       toolPart       `jsonl:"<tool>"`
}

type compactionPart struct {
	auto, messageID, overflow, tail_start_id fields.Read
	id, sessionID                            fields.Unread
}

type filePart struct {
	filename, messageID, mime, url fields.Read
	id, sessionID                  fields.Unread
}

type reasoningPart struct {
	messageID, text     fields.Read
	id, sessionID, time fields.Unread

	metadata metadataFields
}

type stepStartPart struct {
	messageID               fields.Read
	id, sessionID, snapshot fields.Unread
}

type textPart struct {
	id, ignored, messageID, synthetic, text fields.Read
	sessionID, time                         fields.Unread

	metadata metadataFields
}

type toolPart struct {
	callID, id, messageID, tool fields.Read
	sessionID                   fields.Kept

	metadata metadataFields
	state    stateFields
}

// What a provider adds to a part.
type metadataFields struct {
	fields.Free

	anthropic struct{ redactedData, signature fields.Read }
	openai    struct{ itemId, reasoningEncryptedContent fields.Read }
}

type stateFields struct {
	fields.Free

	error, input, output, status fields.Read

	attachments struct{ filename, mime, url fields.Read }
	metadata    struct{ exit, interrupted fields.Read }
	time        struct{ compacted fields.Read }
}

type eventLine struct {
	aggregate_id, seq fields.Read

	typ fields.Read `jsonl:"type"`
}

type messageLine struct {
	session_id, time_created, time_updated fields.Unread
}

type partLine struct {
	message_id fields.Read
	session_id fields.Unread
}

type sessionLine struct {
	agent, cost, directory, parent_id, path, time_created, time_updated, title, version fields.Read

	permission, project_id, slug, summary_additions, summary_deletions, summary_files fields.Kept
	time_archived, tokens_cache_read, tokens_cache_write, tokens_input, tokens_output fields.Kept
	tokens_reasoning                                                                  fields.Kept

	summary_diffs fields.Unread

	model modelFields
}

type modelFields struct {
	id, providerID fields.Read
	variant        fields.Kept
}

// line2Fields are those of opencode 2.
type line2Fields struct {
	session        sessionLine2       `jsonl:"<session>"`
	sessionMessage sessionMessageLine `jsonl:"<session_message>"`
}

type sessionLine2 struct {
	directory, id, parent_id, time_created, time_updated, timestamp, title, version fields.Read

	project_id, slug fields.Kept
}

type sessionMessageLine struct {
	id, seq, timestamp                     fields.Read
	session_id, time_created, time_updated fields.Unread

	typ fields.Read `jsonl:"type"`

	data sessionMessageDataFields
}

type sessionMessageDataFields struct {
	command, cost, reason, recent, summary, text fields.Read
	status                                       fields.Kept
	agent, finish                                fields.Unread

	content contentFields
	files   filesFields
	model   struct{ id, providerID fields.Read }
	output  struct{ output fields.Read }
	time    struct{ created fields.Read }
	tokens  dataTokensFields
}

type contentFields struct {
	reasoning textData    `jsonl:"<reasoning>"`
	text      textData    `jsonl:"<text>"`
	tool      toolContent `jsonl:"<tool>"`
}

type toolContent struct {
	id, name fields.Read

	state struct {
		fields.Free

		content, input, status fields.Read
		error                  struct{ message fields.Read }
	}
}

type filesFields struct {
	description, mime, name fields.Read
	data                    fields.Free

	source sourceFields
}

type sourceFields struct {
	uri uriSource `jsonl:"<uri>"`
}

type uriSource struct {
	uri fields.Read
}

type dataTokensFields struct {
	output, reasoning fields.Read
	input             fields.Free

	cache cacheFields
}
