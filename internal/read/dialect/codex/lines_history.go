package codex

//lint:file-ignore U1000 the fields are read by reflection.

import "ctxtool/internal/read/fields"

type replacementHistoryFields struct {
	additionalTools additionalToolsPayload       `jsonl:"<additional_tools>"`
	compaction      compactionReplacementHistory `jsonl:"<compaction>"`
	message         messageReplacementHistory    `jsonl:"<message>"`
}

type compactionReplacementHistory struct {
	encrypted_content, id fields.Read
}

type messageReplacementHistory struct {
	id, role fields.Read

	content                                    userContentFields
	internal_chat_message_metadata_passthrough internalChatMessageMetadataPassthroughFields
}

type replacementHistoryMetadataFields struct {
	history_sequence, sampled_through_sequence, user_input_order fields.Read

	client_authored    fields.Kept
	model_search_state fields.Unread

	compaction_model_hash, compaction_without_file_error_sources, inherited_user_message fields.Kept

	mcp_attribution struct{ status fields.Read }
	retained_source retainedSourceFields
}

type retainedSourceFields struct {
	complete, revision fields.Kept

	id idFields
}

type idFields struct {
	user userId `jsonl:"<user>"`
}

type userId struct {
	message_id, turn_id fields.Kept
}

type resumeMetadataFields struct {
	last_started_turn_id, multi_agent_version fields.Kept

	dynamic_tools          struct{ thread_id, tools fields.Read }
	previous_turn_settings struct {
		model                      fields.Read
		comp_hash, realtime_active fields.Kept
	}
	turn_attribution turnAttributionFields
}

type retainedContextFields struct {
	assistant_messages_incomplete, incomplete, next_order, user_messages_incomplete fields.Kept
	verified_answers                                                                fields.Kept

	assistant_messages struct {
		text                                           fields.Read
		complete, message_id, order, revision, turn_id fields.Kept
		phase                                          fields.Kept
	}
	user_messages struct {
		text                                           fields.Read
		complete, message_id, order, revision, turn_id fields.Kept
	}
}
