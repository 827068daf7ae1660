package redact

// A place says what stands at a member of pi's format, in entries, messages, blocks
// and patches (docs/session-format.md 3, 4, 6). What is inside of other
// members is anybody's.
type place uint16

const (
	isWord   place = 1 << iota // one of the format's own words; see words
	isID                       // what other entries name
	isKept                     // structure, and no text
	isNamed                    // structure where it is not at an entry itself
	isBox                      // what is inside is the format's too
	isSealed                   // opaque data, which cannot be redacted
	isSchema                   // the parameters of a tool
	isParts                    // texts by name
	isType                     // says what the object is
	isData                     // of an image
	isFree                     // sealed wherever it is
)

// places are the members that pi's format knows.
var places = map[string]place{
	"type": isWord | isKept | isType, "role": isWord | isKept, "op": isWord | isKept, "scope": isWord | isKept, "stopReason": isWord | isKept,
	"thinkingLevel": isWord | isKept, "reasoning": isWord | isKept, "kind": isWord | isKept, "mimeType": isWord | isKept, "status": isWord | isKept,

	"id": isID | isKept, "parentId": isID | isKept, "targetId": isID | isKept, "fromId": isID | isKept, "firstKeptEntryId": isID | isKept,
	"toolCallId": isID | isKept, "transformEntryId": isID | isKept, "responseId": isID | isKept,

	"timestamp": isKept, "model": isKept, "modelId": isKept, "responseModel": isKept, "provider": isKept, "api": isKept, "rawStopReason": isKept,
	"providerThinkingLevel": isKept, "toolName": isKept, "toolNames": isKept, "namespace": isKept, "customType": isKept, "transformerName": isKept,
	"rendererId": isKept, "partName": isKept, "expiresAt": isKept, "version": isKept, "name": isNamed,

	"message": isBox, "content": isBox, "patch": isBox, "messages": isBox, "replacement": isBox, "systemMessage": isBox, "display": isBox,
	"usage": isBox, "cost": isBox, "toolsAdded": isBox, "toolsRemoved": isBox, "tools": isBox, "nestedCalls": isBox, "calls": isBox,
	"deferred": isBox, "parts": isBox, "source": isBox,
	"sections": isParts, "parameters": isSchema,

	"thinkingSignature": isSealed | isFree, "textSignature": isSealed | isFree, "thoughtSignature": isSealed | isFree, "signature": isSealed,
	"encrypted_content": isSealed | isFree, "encryptedContent": isSealed | isFree, "data": isData,

	"text": 0, "thinking": 0, "arguments": 0, "details": 0, "summary": 0, "label": 0, "title": 0, "markdown": 0, "rendererProps": 0, "showInChat": 0,
	"cwd": 0, "parentSession": 0, "branchedFrom": 0, "tokensBefore": 0, "fromHook": 0, "firstKeptEntryIndex": 0, "firstKeptMessageIndex": 0,
	"schemaVersion": 0, "isError": 0, "command": 0, "output": 0, "exitCode": 0, "cancelled": 0, "truncated": 0, "fullOutputPath": 0,
	"excludeFromContext": 0, "errorMessage": 0, "diagnostics": 0, "durationMs": 0, "endTurn": 0, "redacted": 0, "partialJson": 0, "description": 0,
	"invalidateCacheReason": 0, "temperature": 0, "maxTokens": 0, "note": 0, "input": 0, "cacheRead": 0, "cacheWrite": 0, "cacheWrite1h": 0,
	"totalTokens": 0, "total": 0, "totalFromProvider": 0, "complete": 0, "argumentsBytes": 0, "argumentsError": 0, "error": 0,
	"constrainedSampling": 0, "systemPrompt": 0, "pollAfterMs": 0,

	// Of Codex (docs/session-format.md 15).
	"payload": isBox, "metadata": isBox, "history_base": isBox, "replacement_history": isBox, "item": isBox, "items": isBox, "info": isBox,
	"last_token_usage": isBox, "total_token_usage": isBox,
	"call_id": isID | isKept, "turn_id": isID | isKept, "root_turn_id": isID | isKept, "response_id": isID | isKept, "window_id": isID | isKept,
	"session_id": isID | isKept, "thread_id": isID | isKept, "forked_from_id": isID | isKept, "parent_thread_id": isID | isKept,
	"model_provider": isKept, "history_mode": isKept, "phase": isKept, "cli_version": isKept, "originator": isKept,
	"compaction_output": 0, "ordinal": 0, "num_turns": 0, "window_number": 0, "call": 0, "summary_text": 0, "image_url": 0, "base_instructions": isBox,
	"instructions": 0, "action": 0, "success": 0, "end_ordinal_exclusive": 0, "end_byte_offset": 0,

	// Of Claude Code (docs/session-format.md 16).
	"uuid": isID | isKept, "parentUuid": isID | isKept, "logicalParentUuid": isID | isKept, "leafUuid": isID | isKept, "messageId": isID | isKept,
	"messageUuid": isID | isKept, "sessionId": isID | isKept, "agentId": isID | isKept, "requestId": isID | isKept, "toolUseId": isID | isKept,
	"tool_use_id": isID | isKept, "sourceToolAssistantUUID": isID | isKept, "headUuid": isID | isKept, "tailUuid": isID | isKept, "anchorUuid": isID | isKept,
	"uuids": isID | isKept, "removedUuids": isID | isKept, "compactedToolIds": isID | isKept, "clearedAttachmentUUIDs": isID | isKept,
	"subtype": isKept, "stop_reason": isKept, "media_type": isKept, "isSidechain": 0, "isMeta": 0, "isCompactSummary": 0, "explicit": 0, "is_error": 0,
	"compactMetadata": isBox, "microcompactMetadata": isBox, "snipMetadata": isBox, "preservedMessages": isBox, "preservedSegment": isBox,
	"attachment": isBox, "replacements": isBox, "forkedFrom": isBox, "toolUseResult": 0, "gitBranch": 0, "customTitle": 0, "aiTitle": 0,
}

// words are what the format's own words are.
var words = map[string]bool{
	"session": true, "message": true, "thinking_level_change": true, "model_change": true, "compaction": true, "branch_summary": true,
	"custom": true, "custom_message": true, "label": true, "session_info": true, "context_transform": true, "ephemeral": true, "context_edit": true,
	"usage": true, "cache_warm": true,
	"system": true, "user": true, "assistant": true, "toolResult": true, "bashExecution": true, "hookMessage": true, "contextTransform": true,
	"branchSummary": true, "compactionSummary": true,
	"text": true, "thinking": true, "image": true, "toolCall": true, "object": true, "base64": true, "redacted_thinking": true,
	"system_part_set": true, "system_part_remove": true, "system_parts_replace": true, "tools_replace": true, "tools_remove": true,
	"messages_cached_replace": true, "messages_uncached_append": true, "options_set": true, "compaction_apply": true, "cached": true, "uncached": true,
	"stop": true, "length": true, "toolUse": true, "error": true, "aborted": true, "deferred": true, "pending": true, "ok": true, "unfinished": true,
	"off": true, "minimal": true, "low": true, "medium": true, "high": true, "xhigh": true, "max": true,
	"session_meta": true, "response_item": true, "event_msg": true, "turn_context": true, "token_usage_record": true, "compacted": true,
	"world_state": true, "inter_agent_communication": true, "developer": true, "reasoning": true, "function_call": true,
	"function_call_output": true, "custom_tool_call": true, "custom_tool_call_output": true, "local_shell_call": true, "tool_search_call": true,
	"tool_search_output": true, "web_search_call": true, "image_generation_call": true, "additional_tools": true, "agent_message": true,
	"context_compaction": true, "input_text": true, "output_text": true, "input_image": true, "summary_text": true, "token_count": true,
	"thread_rolled_back": true, "paginated": true, "legacy": true,
	"attachment": true, "progress": true, "summary": true, "ai-title": true, "custom-title": true, "last-prompt": true, "content-replacement": true,
	"file-history-snapshot": true, "queue-operation": true, "tool_use": true, "tool_result": true,
	"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true,
}
