package claude

//lint:file-ignore U1000 the fields are read by reflection.

import "ctxtool/internal/read/fields"

// lineFields are the fields of the lines of Claude Code.
type lineFields struct {
	every               everyLine               `jsonl:"<*>"`
	aiTitle             aiTitleLine             `jsonl:"<ai-title>"`
	apiRequest          apiRequestLine          `jsonl:"<api-request>"`
	apiRequestBlob      apiRequestBlobLine      `jsonl:"<api-request-blob>"`
	apiRequestShape     apiRequestShapeLine     `jsonl:"<api-request-shape>"`
	assistant           assistantLine           `jsonl:"<assistant>"`
	atisLatch           fields.Unread           `jsonl:"<atis-latch>"`
	attachment          attachmentLine          `jsonl:"<attachment>"`
	bridgeSession       bridgeSessionLine       `jsonl:"<bridge-session>"`
	contentReplacement  contentReplacementLine  `jsonl:"<content-replacement>"`
	continuedIn         continuedInLine         `jsonl:"<continued-in>"`
	costState           costStateLine           `jsonl:"<cost-state>"`
	customTitle         customTitleLine         `jsonl:"<custom-title>"`
	derivedFrom         derivedFromLine         `jsonl:"<derived-from>"`
	fileHistoryDelta    fields.Unread           `jsonl:"<file-history-delta>"`
	fileHistorySnapshot fileHistorySnapshotLine `jsonl:"<file-history-snapshot>"`
	forkContextRef      forkContextRefLine      `jsonl:"<fork-context-ref>"`
	lastPrompt          lastPromptLine          `jsonl:"<last-prompt>"`
	mode                modeLine                `jsonl:"<mode>"`
	permissionMode      permissionModeLine      `jsonl:"<permission-mode>"`
	prLink              fields.Unread           `jsonl:"<pr-link>"`
	progress            progressLine            `jsonl:"<progress>"`
	queueOperation      queueOperationLine      `jsonl:"<queue-operation>"`
	relocated           relocatedLine           `jsonl:"<relocated>"`
	result              resultLine              `jsonl:"<result>"`
	summary             summaryLine             `jsonl:"<summary>"`
	system              systemLine              `jsonl:"<system>"`
	toolsUsed           fields.Unread           `jsonl:"<tools-used>"`
	user                userLine                `jsonl:"<user>"`
}

type everyLine struct {
	agentId, cwd, isSidechain, parentUuid, sessionId, session_id, timestamp, uuid, version fields.Read

	entrypoint, gitBranch, permissionMode, slug, userType fields.Kept

	message messageFields
}

type messageFields struct {
	assistant fields.Unread     `jsonl:"<assistant>"`
	message   apiMessage        `jsonl:"<message>"`
	system    systemTurnMessage `jsonl:"<system>"`
	user      userMessage       `jsonl:"<user>"`

	content, model, usage fields.Unread
}

type apiMessage struct {
	id, model, stop_reason fields.Read
	stop_details           fields.Kept

	container, context_management, role, stop_sequence fields.Unread

	content     contentFields
	diagnostics diagnosticsFields
	usage       usageFields
}

type contentFields struct {
	text     textContent     `jsonl:"<text>"`
	thinking thinkingContent `jsonl:"<thinking>"`
	toolUse  toolUseContent  `jsonl:"<tool_use>"`
}

type textContent struct {
	text fields.Read
}

type thinkingContent struct {
	signature, thinking fields.Read
}

type toolUseContent struct {
	id, name fields.Read
	input    fields.Free

	caller callerFields
}

type callerFields struct {
	direct fields.Unread `jsonl:"<direct>"`
}

type diagnosticsFields struct {
	cache_miss_reason cacheMissReasonFields
}

type cacheMissReasonFields struct {
	systemChanged systemChangedCacheMissReason `jsonl:"<system_changed>"`
	toolsChanged  systemChangedCacheMissReason `jsonl:"<tools_changed>"`
}

type systemChangedCacheMissReason struct {
	cache_missed_input_tokens fields.Kept
}

type usageFields struct {
	cache_creation_input_tokens, cache_read_input_tokens, inference_geo, input_tokens fields.Read
	output_tokens, service_tier, speed                                                fields.Read

	iterations                             fields.Free
	fallback_credit, output_tokens_details fields.Unread

	cache_creation struct {
		ephemeral_1h_input_tokens fields.Read
		ephemeral_5m_input_tokens fields.Unread
	}
	server_tool_use struct {
		web_search_requests fields.Read
		web_fetch_requests  fields.Kept
	}
}

type systemTurnMessage struct {
	output_config fields.Unread

	content systemContentFields
}

type systemContentFields struct {
	text textContent `jsonl:"<text>"`
}

type userMessage struct {
	content userContentFields
}

type userContentFields struct {
	image      imageContent      `jsonl:"<image>"`
	text       textContent       `jsonl:"<text>"`
	toolResult toolResultContent `jsonl:"<tool_result>"`
}

type imageContent struct {
	source sourceFields
}

type sourceFields struct {
	base64 base64Source `jsonl:"<base64>"`
}

type base64Source struct {
	media_type fields.Read
	data       fields.Free
}

type toolResultContent struct {
	is_error, tool_use_id fields.Read

	content toolResultContentFields
}

type toolResultContentFields struct {
	image         imageContent         `jsonl:"<image>"`
	text          textContent          `jsonl:"<text>"`
	toolReference toolReferenceContent `jsonl:"<tool_reference>"`
}

type toolReferenceContent struct {
	tool_name fields.Kept
}

type aiTitleLine struct {
	aiTitle fields.Read
}

type apiRequestBlobLine struct {
	message fields.Free
	hash    fields.Unread
}

type apiRequestShapeLine struct {
	shapeHash fields.Read

	shape struct {
		fields.Free

		system fields.Read
	}
}

type apiRequestLine struct {
	base, cutRequestDigest, echoWireToolInputs, id, keep, querySource, requestDigest fields.Read
	shapeHash, tail, withheld                                                        fields.Read

	params, thread fields.Free

	cacheControl struct {
		fields.Free

		path, value fields.Read
	}
}

type assistantLine struct {
	perTurnEffort, requestId, requestRef fields.Read
	effort                               fields.Unread
	wireToolInputs                       fields.Free

	apiBlockIndex, attributionAgent, attributionMcpServer, attributionMcpTool         fields.Unread
	attributionPlugin, attributionSkill, error, isAbortedMidStream, isApiErrorMessage fields.Unread
	madeBy, parent_tool_use_id, promptCacheRequested, requestSessionId                fields.Unread
	requestedModel, serverClassifierRequest, thinkingDisplay, thinkingDurationMs      fields.Unread
	toolInputStreamMs, wireIngestContext                                              fields.Unread

	forkedFrom struct {
		sessionId   fields.Read
		messageUuid fields.Kept
	}
}

type attachmentLine struct {
	renderedBesideToolResult, renderedRole fields.Read

	attachment attachmentFields
	rendered   struct{ content fields.Read }
}

type bridgeSessionLine struct {
	bridgeSessionId, sessionId fields.Read

	lastSequenceNum, ownerAccountUuid, ownerOrganizationUuid fields.Unread
}

type contentReplacementLine struct {
	replacements struct{ replacement, toolUseId fields.Read }
}

type continuedInLine struct {
	continuedInSessionId, sessionId fields.Read
	timestamp                       fields.Unread
}

type costStateLine struct {
	startTime, totalCostUSD fields.Read

	hasUnknownModelCost, modelUsage, sessionId, totalAPIDuration                      fields.Unread
	totalAPIDurationWithoutRetries, totalDuration, totalLinesAdded, totalLinesRemoved fields.Unread
	totalToolDuration                                                                 fields.Unread
}

type customTitleLine struct {
	customTitle fields.Read
}

type derivedFromLine struct {
	sessionId fields.Read
	sessions  fields.Free
	v         fields.Unread
}

type fileHistorySnapshotLine struct {
	messageId                  fields.Read
	isSnapshotUpdate, snapshot fields.Unread
}

type forkContextRefLine struct {
	parentLastUuid, parentSessionId fields.Read
	contextLength                   fields.Kept
}

type lastPromptLine struct {
	leafUuid             fields.Read
	explicit, lastPrompt fields.Unread
}

type modeLine struct {
	mode fields.Unread
}

type permissionModeLine struct {
	permissionMode fields.Unread
}

type progressLine struct {
	parentToolUseID, toolUseID fields.Unread

	data dataFields
}

type dataFields struct {
	agentProgress  agentProgressData `jsonl:"<agent_progress>"`
	bashProgress   fields.Unread     `jsonl:"<bash_progress>"`
	hookProgress   fields.Unread     `jsonl:"<hook_progress>"`
	mcpProgress    fields.Unread     `jsonl:"<mcp_progress>"`
	waitingForTask fields.Unread     `jsonl:"<waiting_for_task>"`
}

type agentProgressData struct {
	agentId, normalizedMessages, prompt, resume fields.Unread

	message progressRecordFields
}

type progressRecordFields struct {
	assistant assistantMessage `jsonl:"<assistant>"`
	user      fields.Unread    `jsonl:"<user>"`
}

type assistantMessage struct {
	requestId, timestamp, uuid fields.Read
	isApiErrorMessage          fields.Unread

	message progressMessageFields
}

type progressMessageFields struct {
	message progressMessage `jsonl:"<message>"`
}

type progressMessage struct {
	id, model fields.Read

	container, content, context_management, diagnostics, role, stop_reason, stop_sequence fields.Unread

	usage usageFields
}

type queueOperationLine struct {
	commandUuid, content, deliveryId, operation, reason fields.Unread
}

type relocatedLine struct {
	relocatedCwd, sessionId fields.Read
}

type resultLine struct {
	total_cost_usd fields.Read

	duration_ms, is_error, num_turns, result, subtype, usage fields.Unread
}

type summaryLine struct {
	leafUuid fields.Read
	summary  fields.Unread
}

type systemLine struct {
	claude_code_version, content, isMeta, logicalParentUuid, model, subtype, tools fields.Read

	durationMs, failedHookErrorIndexes, hasOutput, hookAdditionalContext, hookCount                 fields.Kept
	hookErrors, level, mcp_servers, messageCount, preventedContinuation, toolUseID, stopReason, url fields.Kept

	commandRun                                  fields.Unread
	maxRetries, retryAttempt, retryInMs, source fields.Kept
	error                                       fields.Value[fields.Free]

	compactMetadata      compactMetadataFields
	snipMetadata         struct{ removedUuids fields.Read }
	hookInfos            struct{ command, durationMs fields.Kept }
	microcompactMetadata struct {
		clearedAttachmentUUIDs, compactedToolIds fields.Read
		preTokens, tokensSaved, trigger          fields.Kept
	}
}

type compactMetadataFields struct {
	cumulativeDroppedTokens, postTokens, preTokens, trigger fields.Read

	durationMs, messagesSummarized, preCompactDiscoveredTools fields.Unread
	preCompactOrganizationsCoverStart, runningTurnPrompt      fields.Unread

	preservedMessages struct {
		anchorUuid, uuids fields.Read
		allUuids          fields.Unread
	}
	preservedSegment struct {
		anchorUuid, headUuid, tailUuid fields.Read
	}
}

type userLine struct {
	hookTextLead, isCompactSummary, isMeta, ownNote fields.Read

	classifierBoundary, hookText, imagePasteIds, interruptedMessageId                     fields.Unread
	isVisibleInTranscriptOnly, mcpCallNotReadOnly, parent_tool_use_id                     fields.Unread
	permissionDecision, permissionMode, promptId, promptSource, queueSkipAttachments      fields.Unread
	rowSource, sandboxed, sentAtMs, sourceToolAssistantUUID, sourceToolUseID              fields.Unread
	summarizeMetadata, summarizedTurnPromptUuids, thinkingMetadata, todos, toolDenialKind fields.Unread
	toolUseResult, turnCompanion, turnOrigin, turnPosition                                fields.Unread

	forkedFrom struct {
		sessionId   fields.Read
		messageUuid fields.Unread
	}
	origin struct {
		fields.Free

		kind fields.Read
	}
}

// What is read besides lines: the agent's settings, a line of Qwen Code, and what a message that is sent was made from.
var _ = fields.Of[otherFields]

type otherFields struct {
	cleanupPeriodDays, parts fields.Read

	madeFrom madeFields
}

type madeFields struct {
	attachment, beside, effort, frame, marked, model, older, part, roleless, snapshot, turns, words fields.Read
}
