package copilot

//lint:file-ignore U1000 the fields are read by reflection.

import "ctxtool/internal/read/fields"

// lineFields are the fields of the lines of Copilot CLI.
type lineFields struct {
	every                      everyLine     `jsonl:"<*>"`
	abort                      struct{}      `jsonl:"<abort>"`
	assistantMessage           struct{}      `jsonl:"<assistant.message>"`
	assistantTurnEnd           fields.Unread `jsonl:"<assistant.turn_end>"`
	assistantTurnStart         fields.Unread `jsonl:"<assistant.turn_start>"`
	hookEnd                    struct{}      `jsonl:"<hook.end>"`
	hookStart                  struct{}      `jsonl:"<hook.start>"`
	modelMessage               fields.Unread `jsonl:"<model.message>"`
	modelMessagesSnapshot      fields.Unread `jsonl:"<model.messages_snapshot>"`
	modelModelCallFailure      fields.Unread `jsonl:"<model.model_call_failure>"`
	modelModelCallStarted      fields.Unread `jsonl:"<model.model_call_started>"`
	modelModelCallSuccess      fields.Unread `jsonl:"<model.model_call_success>"`
	modelResponse              fields.Unread `jsonl:"<model.response>"`
	modelTurnEnded             fields.Unread `jsonl:"<model.turn_ended>"`
	modelTurnFailed            fields.Unread `jsonl:"<model.turn_failed>"`
	modelTurnStarted           fields.Unread `jsonl:"<model.turn_started>"`
	permissionCompleted        fields.Unread `jsonl:"<permission.completed>"`
	permissionRequested        fields.Unread `jsonl:"<permission.requested>"`
	sessionBinaryAsset         struct{}      `jsonl:"<session.binary_asset>"`
	sessionCompactionComplete  struct{}      `jsonl:"<session.compaction_complete>"`
	sessionCompactionStart     struct{}      `jsonl:"<session.compaction_start>"`
	sessionError               fields.Unread `jsonl:"<session.error>"`
	sessionInfo                fields.Unread `jsonl:"<session.info>"`
	sessionModeChanged         fields.Unread `jsonl:"<session.mode_changed>"`
	sessionModeNoticeDelivered fields.Unread `jsonl:"<session.mode_notice_delivered>"`
	sessionModelChange         fields.Unread `jsonl:"<session.model_change>"`
	sessionResume              fields.Unread `jsonl:"<session.resume>"`
	sessionShutdown            fields.Unread `jsonl:"<session.shutdown>"`
	sessionStart               struct{}      `jsonl:"<session.start>"`
	sessionTaskComplete        fields.Unread `jsonl:"<session.task_complete>"`
	sessionUsageCheckpoint     fields.Unread `jsonl:"<session.usage_checkpoint>"`
	sessionUsageRecord         struct{}      `jsonl:"<session.usage_record>"`
	sessionWarning             fields.Unread `jsonl:"<session.warning>"`
	skillContextDeliveredRef   struct{}      `jsonl:"<skill.context_delivered_ref>"`
	skillInvoked               struct{}      `jsonl:"<skill.invoked>"`
	skillInvokedRef            struct{}      `jsonl:"<skill.invoked_ref>"`
	subagentCompleted          fields.Unread `jsonl:"<subagent.completed>"`
	subagentConfigured         fields.Unread `jsonl:"<subagent.configured>"`
	subagentFailed             fields.Unread `jsonl:"<subagent.failed>"`
	subagentSelected           fields.Unread `jsonl:"<subagent.selected>"`
	subagentStarted            fields.Unread `jsonl:"<subagent.started>"`
	systemMessage              struct{}      `jsonl:"<system.message>"`
	systemNotification         struct{}      `jsonl:"<system.notification>"`
	toolExecutionComplete      struct{}      `jsonl:"<tool.execution_complete>"`
	toolExecutionStart         fields.Unread `jsonl:"<tool.execution_start>"`
	toolUserRequested          struct{}      `jsonl:"<tool.user_requested>"`
	userMessage                struct{}      `jsonl:"<user.message>"`
}

type everyLine struct {
	agentId, id, parentId, timestamp fields.Read

	data dataFields
}

type dataFields struct {
	image    imageData     `jsonl:"<image>"`
	resource fields.Unread `jsonl:"<resource>"`
	system   systemData    `jsonl:"<system>"`

	apiCallId, content, copilotVersion, encryptedContent, hookInvocationId, hookType, model fields.Read
	name, prefix, reasoningOpaque, reasoningText, sessionId, statusCode, success, suffix    fields.Read
	summaryContent, toolCallId, transformedContent, newModel, selectedModel, source         fields.Read

	accountingSnapshot, agentDescription, agentDisplayName, agentMetrics, agentMode, agentName        fields.Unread
	agentType, alreadyInUse, behaviorModelId, checkpointNumber                                        fields.Unread
	allowedTools                                                                                      fields.Kept
	checkpointPath, codeChanges, compactionAttemptId, contextTier                                     fields.Unread
	contentId, contentLength                                                                          fields.Kept
	conversationTokens, currentModel, currentTokens, customToolCallCount, delivery                    fields.Unread
	disableModelInvocation, durationMs, eventCount, eventsFileSizeBytes                               fields.Unread
	description                                                                                       fields.Kept
	executionMode, failureReason, fileEdits, firstDispatchedModel, interTokenLatencyMs                fields.Unread
	interactionId, isAutopilotContinuation, isUserRequested, kind                                     fields.Unread
	invokedAtTurn                                                                                     fields.Kept
	maxOutputTokens, message, messageId, messages, messagesRemoved, modelCall                         fields.Unread
	modelCallDurationMs, modelDisplayName, modelInfo, modelMetrics, modelSelectionSource              fields.Unread
	multiTurn, originatingMessageId, orphanToolCallCount, outcome, outcomeReason                      fields.Unread
	outputTokens, outputTtftMs, parentAgentTaskId, parentToolCallId                                   fields.Unread
	path, pluginName                                                                                  fields.Kept
	postCompactionTokens, preCompactionMessagesLength, preCompactionTokens                            fields.Unread
	pluginVersion                                                                                     fields.Kept
	previousModel, previousReasoningEffort, producer, providerModelMetrics, quotaSnapshots            fields.Unread
	reason, reasoningEffort, reasoningSummary, remoteSteerable, requestId                             fields.Unread
	requestMessages, requestSettings, response, responseChunk, responseOwnUndefinedProperties         fields.Unread
	responseUsage, resumable, resumeTime, rte, serverTools, sessionLimits                             fields.Unread
	serviceRequestId, sessionStartTime, sessionWasActive, shellExecution, shellToolInfo, shutdownType fields.Unread
	startTime, supportedNativeDocumentMimeTypes, systemTokens, taskModelSource, timestampMs           fields.Unread
	tokenAccountingBasis, tokenLimit, tokensRemoved, toolCount, toolDefinitionsTokens                 fields.Unread
	toolName, toolTelemetry, toolTitle, tools, totalApiDurationMs, totalNanoAiu                       fields.Unread
	totalPremiumRequests, totalTokens, totalToolCalls, ttftMs, turn, turnId                           fields.Unread
	trigger                                                                                           fields.Kept
	unmatchedToolResultCount, usageAccountingWatermarks, version                                      fields.Unread

	attachments          attachmentsFields
	compactionTokensUsed struct {
		cacheReadTokens, cacheWriteTokens, inputTokens, model, outputTokens fields.Read

		aiCreditsStatus, duration, modelDisplayName, requestCount fields.Unread
	}
	context struct{ cwd fields.Read }
	error   struct {
		code, message fields.Read
	}
	input struct {
		fields.Free

		source fields.Read
	}
	arguments struct {
		fields.Free

		command fields.Read
	}
	output struct {
		fields.Free

		additionalContext fields.Read
	}
	result struct {
		fields.Free

		binaryResultsForLlm, content, detailedContent fields.Read
	}
	reasoningBlocks struct {
		fields.Free

		blocks fields.Read
	}
	toolRequests toolRequestsFields
	usage        usageFields
}

type imageData struct {
	assetId, description, mimeType fields.Read
	data                           fields.Free
	byteLength                     fields.Unread
}

type systemData struct {
	content                                fields.Read
	contentBlocks, interactionId, metadata fields.Unread
}

type attachmentsFields struct {
	directory fields.Free     `jsonl:"<directory>"`
	file      fileAttachments `jsonl:"<file>"`
}

type fileAttachments struct {
	assetId, mimeType, path, taggedFilesEntry fields.Read
	byteLength, displayName, mentionIndex     fields.Unread
}

type toolRequestsFields struct {
	function functionToolRequests `jsonl:"<function>"`

	name, toolCallId            fields.Read
	arguments                   fields.Free
	intentionSummary, toolTitle fields.Unread
}

type functionToolRequests struct {
	name, toolCallId fields.Read
	arguments        fields.Free

	intentionSummary, mcpServerName, mcpToolName, toolTitle fields.Unread
}

type usageFields struct {
	apiCallId, apiEndpoint, cacheReadTokens, cacheWriteTokens, inputTokens, isByok, outputTokens, providerType fields.Read

	accounting, aiCreditsStatus, availableToolCount, byokKind                                 fields.Unread
	cacheDetailsReported, contentFilterTriggered, cost, customToolCallCount                   fields.Unread
	duration, finishReason, frontierSource, initiator, interTokenLatencyMs, interactionType   fields.Unread
	isAuto, maxOutputTokens, maxPromptTokens, model, modelDisplayName, modelProvider          fields.Unread
	numToolCalls, orphanToolCallCount, outputTtftMs, parentToolCallId, providerCallId         fields.Unread
	reasoningEffort, reasoningSummary, reasoningTokens, requestBodyBytes, requestBodyEncoding fields.Unread
	requestBodyWireBytes, rte, timeToFirstTokenMs, toolCounts, toolTokenCount, transport      fields.Unread
	unmatchedToolResultCount                                                                  fields.Unread
}
