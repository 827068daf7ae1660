package pi

//lint:file-ignore U1000 the fields are read by reflection.

import "ctxtool/internal/read/fields"

// A Line has the fields of the lines of pi, and of oh-my-pi.
type Line struct {
	every                  everyLine                `jsonl:"<*>"`
	agentStatus            agentStatusLine          `jsonl:"<agent_status>"`
	branchSummary          branchSummaryLine        `jsonl:"<branch_summary>"`
	childUsageAttributed   childUsageAttributedLine `jsonl:"<child_usage_attributed>"`
	compact                compactLine              `jsonl:"<compact>"`
	compaction             compactionLine           `jsonl:"<compaction>"`
	contextCompaction      contextCompactionLine    `jsonl:"<context_compaction>"`
	contextEdit            contextEditLine          `jsonl:"<context_edit>"`
	contextTransform       contextTransformLine     `jsonl:"<context_transform>"`
	custom                 customLine               `jsonl:"<custom>"`
	customMessage          customMessageLine        `jsonl:"<custom_message>"`
	ephemeral              ephemeralLine            `jsonl:"<ephemeral>"`
	futureThing            futureThingLine          `jsonl:"<future_thing>"`
	gitState               gitStateLine             `jsonl:"<git_state>"`
	label                  labelLine                `jsonl:"<label>"`
	message                messageLine              `jsonl:"<message>"`
	modelChange            modelChangeLine          `jsonl:"<model_change>"`
	reset                  resetLine                `jsonl:"<reset>"`
	serviceTierChange      serviceTierChangeLine    `jsonl:"<service_tier_change>"`
	session                sessionLine              `jsonl:"<session>"`
	sessionInfo            nameFields               `jsonl:"<session_info>"`
	sessionState           sessionStateLine         `jsonl:"<session_state>"`
	thinkingLevelChange    thinkingLevelChangeLine  `jsonl:"<thinking_level_change>"`
	title                  titleLine                `jsonl:"<title>"`
	titleChange            titleChangeLine          `jsonl:"<title_change>"`
	unknownFutureEntryType struct{}                 `jsonl:"<unknown_future_entry_type>"`
	usage                  usageLine                `jsonl:"<usage>"`
}

type everyLine struct {
	id, parentId, provider, targetId, timestamp fields.Read
	details                                     fields.Free

	usage usageFields
}

type usageFields struct {
	cacheRead, cacheWrite, cacheWrite1h, inferenceGeo, output, reasoning, serviceTier fields.Read
	speed, totalTokens                                                                fields.Read

	input fields.Free

	cost struct {
		cacheRead, cacheWrite, output, total, totalFromProvider fields.Read

		input fields.Free
	}
}

type agentStatusLine struct {
	status struct{ summary fields.Read }
}

type branchSummaryLine struct {
	fromId, summary fields.Read
	fromHook        fields.Unread
}

type childUsageAttributedLine struct {
	aggregateUsage aggregateUsageFields
	childUsage     aggregateUsageFields
}

type aggregateUsageFields struct {
	cacheRead, cacheWrite, output, totalTokens fields.Read
	input                                      fields.Free

	cost costFields
}

type costFields struct {
	cacheRead, cacheWrite, output, total fields.Read
	input                                fields.Free
}

type compactLine struct {
	agent fields.Read
	note  fields.Kept
}

type compactionLine struct {
	blocks, firstKeptEntryId, firstKeptEntryIndex, fromExtension, method, shortSummary fields.Read
	summary, tokensAfter, tokensBefore                                                 fields.Read

	fromHook fields.Unread

	preserveData  preserveDataFields
	systemMessage systemMessageFields
}

type preserveDataFields struct {
	snapcompact struct {
		frames, textHead, textTail, truncatedChars fields.Read
		text                                       fields.Kept
	}
}

type systemMessageFields struct {
	system systemSystemMessage `jsonl:"<system>"`
	user   userSystemMessage   `jsonl:"<user>"`
}

type systemSystemMessage struct {
	content, timestamp fields.Read
	sections           fields.Free

	toolsAdded toolsAddedFields
}

type toolsAddedFields struct {
	description, name               fields.Read
	constrainedSampling, parameters fields.Free
}

type userSystemMessage struct {
	content, timestamp fields.Read
}

type contextCompactionLine struct {
	deletedTargets struct {
		entryId, kind fields.Read
		blockIndex    fields.Kept
	}
}

type contextEditLine struct {
	replacement replacementFields
}

type replacementFields struct {
	content contentFields
}

type contentFields struct {
	image    imageContent    `jsonl:"<image>"`
	text     textContent     `jsonl:"<text>"`
	thinking thinkingContent `jsonl:"<thinking>"`
	toolCall toolCallContent `jsonl:"<toolCall>"`
}

type imageContent struct {
	mimeType fields.Read
	data     fields.Free
}

type textContent struct {
	text, textSignature fields.Read
}

type thinkingContent struct {
	redacted, thinking, thinkingSignature fields.Read
}

type toolCallContent struct {
	id, name, thoughtSignature fields.Read
	partialJson                fields.Kept
	arguments                  fields.Free
}

type contextTransformLine struct {
	schemaVersion, transformerName fields.Read

	display struct {
		markdown, rendererId, summary, title fields.Read
		showInChat                           fields.Kept
	}
	patch patchFields
}

type patchFields struct {
	firstKeptMessageIndex, invalidateCacheReason, maxTokens, op, partName, reasoning, scope fields.Read
	summary, temperature, text, timestamp, tokensBefore, toolNames                          fields.Read

	messages messagesFields
	parts    struct{ name, text fields.Read }
	tools    systemToolsAddedFields
}

type messagesFields struct {
	assistant         assistantMessages         `jsonl:"<assistant>"`
	bashExecution     bashExecutionMessages     `jsonl:"<bashExecution>"`
	branchSummary     branchSummaryMessages     `jsonl:"<branchSummary>"`
	compactionSummary compactionSummaryMessages `jsonl:"<compactionSummary>"`
	contextTransform  contextTransformMessages  `jsonl:"<contextTransform>"`
	custom            customMessages            `jsonl:"<custom>"`
	hookMessage       hookMessageMessages       `jsonl:"<hookMessage>"`
	system            systemMessages            `jsonl:"<system>"`
	toolResult        toolResultMessages        `jsonl:"<toolResult>"`
	user              userMessages              `jsonl:"<user>"`
}

type assistantMessages struct {
	api, errorMessage, model, provider, responseId, responseModel, stopReason, thinkingLevel fields.Read
	timestamp                                                                                fields.Read

	xyz      fields.Kept
	metadata fields.Free

	content     assistantContentFields
	diagnostics diagnosticsFields
	usage       assistantUsageFields
}

type assistantContentFields struct {
	text     textContent     `jsonl:"<text>"`
	thinking thinkingContent `jsonl:"<thinking>"`
	toolCall toolCallContent `jsonl:"<toolCall>"`
}

type diagnosticsFields struct {
	providerTransportFailure providerTransportFailureDiagnostics `jsonl:"<provider_transport_failure>"`
}

type providerTransportFailureDiagnostics struct {
	timestamp fields.Read
	details   fields.Free

	error struct {
		message, name fields.Read
		stack         fields.Kept
	}
}

type assistantUsageFields struct {
	cacheRead, cacheWrite, cacheWrite1h, output, reasoning, totalTokens fields.Read

	input fields.Free

	cost costFields
}

type bashExecutionMessages struct {
	cancelled, command, excludeFromContext, exitCode, fullOutputPath, output, timestamp fields.Read
	truncated                                                                           fields.Read
}

type branchSummaryMessages struct {
	fromId, summary, timestamp fields.Read
}

type compactionSummaryMessages struct {
	summary, timestamp, tokensBefore fields.Read
}

type contextTransformMessages struct {
	transformerName fields.Read
	timestamp       fields.Unread
}

type customMessages struct {
	content, customType, display, timestamp fields.Read
	metadata                                fields.Free
}

type hookMessageMessages struct {
	content, customType, display, timestamp fields.Read
}

type systemMessages struct {
	sections, timestamp fields.Read
	metadata            fields.Free

	content      systemContentFields
	toolsAdded   systemToolsAddedFields
	toolsRemoved nameFields
}

type systemContentFields struct {
	text contentTextContent `jsonl:"<text>"`
}

type contentTextContent struct {
	text fields.Read
}

type systemToolsAddedFields struct {
	description, name fields.Read
	parameters        fields.Free
}

type nameFields struct {
	name fields.Read
}

type toolResultMessages struct {
	isError, timestamp, toolCallId, toolName fields.Read
	details, metadata                        fields.Free

	content toolResultContentFields
	usage   aggregateUsageFields
}

type toolResultContentFields struct {
	image imageContent       `jsonl:"<image>"`
	text  contentTextContent `jsonl:"<text>"`
}

type userMessages struct {
	timestamp fields.Read
	metadata  fields.Free

	content toolResultContentFields
}

type customLine struct {
	customType fields.Read
	data       fields.Free
}

type customMessageLine struct {
	customType, display fields.Read

	content systemContentFields
}

type ephemeralLine struct {
	messages ephemeralMessagesFields
}

type ephemeralMessagesFields struct {
	user messagesUserMessages `jsonl:"<user>"`
}

type messagesUserMessages struct {
	timestamp fields.Read

	content systemContentFields
}

type futureThingLine struct {
	foo fields.Kept
}

type gitStateLine struct {
	branch fields.Read
}

type labelLine struct {
	label fields.Read
}

type messageLine struct {
	message messageFields
}

type messageFields struct {
	assistant         assistantMessage          `jsonl:"<assistant>"`
	bashExecution     bashExecutionMessages     `jsonl:"<bashExecution>"`
	branchSummary     branchSummaryMessages     `jsonl:"<branchSummary>"`
	compactionSummary compactionSummaryMessages `jsonl:"<compactionSummary>"`
	contextTransform  contextTransformMessages  `jsonl:"<contextTransform>"`
	custom            hookMessageMessages       `jsonl:"<custom>"`
	hookMessage       hookMessageMessages       `jsonl:"<hookMessage>"`
	system            systemMessage             `jsonl:"<system>"`
	toolResult        toolResultMessage         `jsonl:"<toolResult>"`
	user              userMessage               `jsonl:"<user>"`
}

type assistantMessage struct {
	api, errorMessage, model, provider, responseId, responseModel, stopReason, thinkingLevel fields.Read
	timestamp                                                                                fields.Read

	xyz                                              fields.Kept
	durationMs, providerThinkingLevel, rawStopReason fields.Kept

	content     assistantContentFields
	diagnostics diagnosticsFields
	usage       usageFields
}

type systemMessage struct {
	timestamp fields.Read
	sections  fields.Free

	content      systemContentFields
	toolsAdded   toolsAddedFields
	toolsRemoved nameFields
}

type toolResultMessage struct {
	isError, prunedAt, timestamp, toolCallId, toolName fields.Read
	details                                            fields.Free
	durationMs                                         fields.Kept

	nestedCalls struct {
		fields.Free

		calls fields.Read
	}

	content toolResultContentFields
	usage   aggregateUsageFields
}

type userMessage struct {
	timestamp fields.Read

	content toolResultContentFields
}

type modelChangeLine struct {
	contextWindow, model, modelId fields.Read
	role                          fields.Unread
}

type resetLine struct {
	firstKeptEntryId fields.Read
}

type serviceTierChangeLine struct {
	serviceTier fields.Read
}

type sessionLine struct {
	branchedFrom, cwd, modelId, parentSession, thinkingLevel, title, version fields.Read

	rlmDepth fields.Kept
}

type sessionStateLine struct {
	state fields.Free
}

type thinkingLevelChangeLine struct {
	thinkingLevel fields.Read
}

type titleLine struct {
	title                     fields.Read
	pad, source, updatedAt, v fields.Unread
}

type titleChangeLine struct {
	title                          fields.Read
	previousTitle, source, trigger fields.Unread
}

type usageLine struct {
	kind, model fields.Read
}

// What is read besides lines of pi: what dialects add to the entries that they make, and recorded requests.
var _ = fields.Of[otherFields]

type otherFields struct {
	characters, max_tokens, native, ordinal, temperature fields.Read

	output_config struct{ effort fields.Read }
}
