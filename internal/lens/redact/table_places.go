package redact

import "strings"

// placeTable are the places of the fields of pi, of Codex and of Claude Code (docs/session-format.md 15 and 16).
var placeTable = []struct {
	is    place
	names string // of fields
}{
	{isWord | isKept | isType, "type"},
	{isWord | isKept, "role op scope stopReason thinkingLevel reasoning kind mimeType status"},
	{isID | isKept, "id parentId targetId fromId firstKeptEntryId toolCallId transformEntryId responseId call_id turn_id " +
		"root_turn_id response_id window_id session_id thread_id forked_from_id parent_thread_id uuid parentUuid " +
		"logicalParentUuid leafUuid messageId messageUuid sessionId agentId requestId toolUseId tool_use_id " +
		"sourceToolAssistantUUID headUuid tailUuid anchorUuid uuids removedUuids compactedToolIds " +
		"clearedAttachmentUUIDs"},
	{isKept, "timestamp model modelId responseModel provider api rawStopReason providerThinkingLevel toolName toolNames " +
		"namespace customType transformerName rendererId partName expiresAt version model_provider history_mode phase " +
		"cli_version originator subtype stop_reason media_type"},
	{isNamed, "name"},
	{isBox, "message content patch messages replacement systemMessage display usage cost toolsAdded toolsRemoved tools " +
		"nestedCalls calls deferred parts source payload metadata history_base replacement_history item items info " +
		"last_token_usage total_token_usage base_instructions compactMetadata microcompactMetadata snipMetadata " +
		"preservedMessages preservedSegment attachment replacements forkedFrom"},
	{isParts, "sections"},
	{isSchema, "parameters"},
	{isSealed | isFree, "thinkingSignature textSignature thoughtSignature encrypted_content encryptedContent"},
	{isSealed, "signature"},
	{isData, "data"},
	{isAny, "text thinking arguments details summary label title markdown rendererProps showInChat cwd parentSession " +
		"branchedFrom tokensBefore fromHook firstKeptEntryIndex firstKeptMessageIndex schemaVersion isError command " +
		"output exitCode cancelled truncated fullOutputPath excludeFromContext errorMessage diagnostics durationMs " +
		"endTurn redacted partialJson description invalidateCacheReason temperature maxTokens note input cacheRead " +
		"cacheWrite cacheWrite1h totalTokens total totalFromProvider complete argumentsBytes argumentsError error " +
		"constrainedSampling systemPrompt pollAfterMs compaction_output ordinal num_turns window_number call " +
		"summary_text image_url instructions action success end_ordinal_exclusive end_byte_offset isSidechain isMeta " +
		"isCompactSummary explicit is_error toolUseResult gitBranch customTitle aiTitle"},
}

// places are those of the table by the names of fields.
var places = newVocabulary(func() map[string]place {
	all := map[string]place{}
	for _, row := range placeTable {
		for name := range strings.FieldsSeq(row.names) {
			all[name] = row.is
		}
	}
	return all
}())

// ownWords are the formats' own words: values that are no text.
const ownWords = "session message thinking_level_change model_change compaction branch_summary custom custom_message label " +
	"session_info context_transform ephemeral context_edit usage cache_warm system user assistant toolResult " +
	"bashExecution hookMessage contextTransform branchSummary compactionSummary text thinking image toolCall object " +
	"base64 redacted_thinking system_part_set system_part_remove system_parts_replace tools_replace tools_remove " +
	"messages_cached_replace messages_uncached_append options_set compaction_apply cached uncached stop length " +
	"toolUse error aborted deferred pending ok unfinished off minimal low medium high xhigh max session_meta " +
	"response_item event_msg turn_context token_usage_record compacted world_state inter_agent_communication " +
	"developer reasoning function_call function_call_output custom_tool_call custom_tool_call_output " +
	"local_shell_call tool_search_call tool_search_output web_search_call image_generation_call additional_tools " +
	"agent_message context_compaction input_text output_text input_image summary_text token_count " +
	"thread_rolled_back paginated legacy attachment progress summary ai-title custom-title last-prompt " +
	"content-replacement file-history-snapshot queue-operation tool_use tool_result image/png image/jpeg image/gif " +
	"image/webp"

var words = newVocabulary(func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(ownWords) {
		all[word] = true
	}
	return all
}())
