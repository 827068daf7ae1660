package codex

//lint:file-ignore U1000 the fields are read by reflection.

import "ctxtool/internal/read/fields"

// lineFields are the fields of the lines of Codex.
type lineFields struct {
	every                           everyLine        `jsonl:"<*>"`
	compacted                       struct{}         `jsonl:"<compacted>"`
	eventMsg                        struct{}         `jsonl:"<event_msg>"`
	interAgentCommunicationMetadata fields.Unread    `jsonl:"<inter_agent_communication_metadata>"`
	message                         messageLine      `jsonl:"<message>"`
	responseItem                    responseItemLine `jsonl:"<response_item>"`
	sessionMeta                     struct{}         `jsonl:"<session_meta>"`
	tokenUsageRecord                struct{}         `jsonl:"<token_usage_record>"`
	turnContext                     struct{}         `jsonl:"<turn_context>"`
	worldState                      fields.Unread    `jsonl:"<world_state>"`

	cwd, id, instructions, record_type, timestamp fields.Read
}

// A messageLine is one of the first months.
type messageLine struct {
	role fields.Read

	content userContentFields
}

type everyLine struct {
	ordinal, timestamp fields.Read

	payload payloadFields
}

type payloadFields struct {
	additionalTools       additionalToolsPayload       `jsonl:"<additional_tools>"`
	agentMessage          agentMessagePayload          `jsonl:"<agent_message>"`
	agentReasoning        fields.Unread                `jsonl:"<agent_reasoning>"`
	contextCompacted      fields.Unread                `jsonl:"<context_compacted>"`
	customToolCall        customToolCallPayload        `jsonl:"<custom_tool_call>"`
	customToolCallOutput  customToolCallOutputPayload  `jsonl:"<custom_tool_call_output>"`
	execCommandEnd        fields.Unread                `jsonl:"<exec_command_end>"`
	functionCall          functionCallPayload          `jsonl:"<function_call>"`
	functionCallOutput    functionCallOutputPayload    `jsonl:"<function_call_output>"`
	itemCompleted         itemCompletedPayload         `jsonl:"<item_completed>"`
	localShellCall        builtInCallPayload           `jsonl:"<local_shell_call>"`
	mcpToolCallEnd        fields.Unread                `jsonl:"<mcp_tool_call_end>"`
	message_              messagePayload               `jsonl:"<message>"`
	patchApplyEnd         fields.Unread                `jsonl:"<patch_apply_end>"`
	reasoning             reasoningPayload             `jsonl:"<reasoning>"`
	taskComplete          taskCompletePayload          `jsonl:"<task_complete>"`
	taskStarted           taskStartedPayload           `jsonl:"<task_started>"`
	threadGoalUpdated     fields.Unread                `jsonl:"<thread_goal_updated>"`
	threadNameUpdated     threadNameUpdatedPayload     `jsonl:"<thread_name_updated>"`
	threadRolledBack      threadRolledBackPayload      `jsonl:"<thread_rolled_back>"`
	threadSettingsApplied threadSettingsAppliedPayload `jsonl:"<thread_settings_applied>"`
	tokenCount            tokenCountPayload            `jsonl:"<token_count>"`
	turnAborted           fields.Unread                `jsonl:"<turn_aborted>"`
	user                  userPayload                  `jsonl:"<user>"`
	userMessage           fields.Unread                `jsonl:"<user_message>"`
	webSearchCall         builtInCallPayload           `jsonl:"<web_search_call>"`

	cli_version, cwd, forked_from_id, id, instructions, message, model, parent_thread_id      fields.Read
	response_id, service_tier, session_id, subagent_history_start_ordinal, summary, thread_id fields.Read
	thread_source, timestamp                                                                  fields.Read

	account_scoped, current_date, personality, timezone, user_instructions, workspace_roots   fields.Kept
	approval_policy, approvals_reviewer, comp_hash, compaction_response_id                    fields.Kept
	disabled_plugin_ids, effort, first_window_id, forked_from_ordinal_exclusive, history_mode fields.Kept
	model_provider, multi_agent_version, previous_window_id, realtime_active, root_turn_id    fields.Kept
	runtime_workspace_roots, turn_id, window_id, window_number                                fields.Kept

	agent_nickname, agent_path, full, originator, state fields.Unread

	base_instructions            baseInstructionsFields
	collaboration_mode           collaborationModeFields
	context_window               struct{ window_id fields.Kept }
	git                          struct{ branch, commit_hash fields.Kept }
	history_base                 struct{ end_byte_offset, end_ordinal_exclusive, thread_id fields.Read }
	latest_token_usage_record    latestTokenUsageRecordFields
	permission_profile           permissionProfileFields
	replacement_history          replacementHistoryFields
	replacement_history_metadata replacementHistoryMetadataFields
	resume_metadata              resumeMetadataFields
	retained_context             retainedContextFields
	sandbox_policy               sandboxPolicyFields
	source                       sourceFields
	thread_token_usage           lastTokenUsageFields
	truncation_policy            truncationPolicyFields
	turn_token_usage             lastTokenUsageFields
	usage                        lastTokenUsageFields
}

type truncationPolicyFields struct {
	fields.Free

	limit, mode fields.Read
}

type additionalToolsPayload struct {
	id, role fields.Read

	tools toolsFields
}

// An agentMessagePayload is what an agent told another one, or in an event what was shown of an answer.
type agentMessagePayload struct {
	message, memory_citation, phase            fields.Unread
	internal_chat_message_metadata_passthrough fields.Unread

	id                fields.Read
	author, recipient fields.Kept

	content struct {
		encrypted encryptedContent `jsonl:"<encrypted_content>"`
		inputText textContent      `jsonl:"<input_text>"`
	}
}

type encryptedContent struct{ encrypted_content fields.Read }

type builtInCallPayload struct {
	call_id, id, status fields.Read
	action              fields.Free
}

type toolsFields struct {
	namespace namespaceTools `jsonl:"<namespace>"`
}

type namespaceTools struct {
	name        fields.Read
	description fields.Kept

	tools namespaceToolsFields
}

type namespaceToolsFields struct {
	custom   customTools   `jsonl:"<custom>"`
	function functionTools `jsonl:"<function>"`
}

type customTools struct {
	name        fields.Read
	description fields.Kept

	format formatFields
}

type formatFields struct {
	grammar grammarFormat `jsonl:"<grammar>"`
}

type grammarFormat struct {
	definition, syntax fields.Kept
}

type functionTools struct {
	name                fields.Read
	description, strict fields.Kept
	parameters          fields.Free
}

type customToolCallPayload struct {
	call_id, id, name, status                  fields.Read
	input                                      fields.Free
	internal_chat_message_metadata_passthrough fields.Unread
}

type customToolCallOutputPayload struct {
	call_id, id                                fields.Read
	internal_chat_message_metadata_passthrough fields.Unread

	output outputFields
}

type outputFields struct {
	inputText inputTextOutput `jsonl:"<input_text>"`
}

type inputTextOutput struct {
	text fields.Read
}

type functionCallPayload struct {
	call_id, id, name, namespace, status       fields.Read
	arguments                                  fields.Free
	internal_chat_message_metadata_passthrough fields.Unread
}

type functionCallOutputPayload struct {
	call_id, id, name, namespace               fields.Read
	internal_chat_message_metadata_passthrough fields.Unread

	output struct {
		detail, image_url, text fields.Read

		typ fields.Read `jsonl:"type"`

		content, success fields.Read // of the first months
	}
}

type itemCompletedPayload struct {
	thread_id                               fields.Read
	completed_at_ms, started_at_ms, turn_id fields.Kept

	item itemFields
}

type itemFields struct {
	agentMessage        agentMessageItem `jsonl:"<AgentMessage>"`
	collabAgentToolCall fields.Unread    `jsonl:"<CollabAgentToolCall>"`
	commandExecution    fields.Unread    `jsonl:"<CommandExecution>"`
	contextCompaction   fields.Unread    `jsonl:"<ContextCompaction>"`
	enteredReviewMode   fields.Unread    `jsonl:"<EnteredReviewMode>"`
	exitedReviewMode    fields.Unread    `jsonl:"<ExitedReviewMode>"`
	fileChange          fields.Unread    `jsonl:"<FileChange>"`
	imageView           fields.Unread    `jsonl:"<ImageView>"`
	mcpToolCall         fields.Unread    `jsonl:"<McpToolCall>"`
	plan                fields.Unread    `jsonl:"<Plan>"`
	reasoning           fields.Unread    `jsonl:"<Reasoning>"`
	subAgentActivity    fields.Unread    `jsonl:"<SubAgentActivity>"`
	userMessage         userMessageItem  `jsonl:"<UserMessage>"`
}

type agentMessageItem struct {
	id    fields.Read
	phase fields.Unread

	content contentFields
}

type contentFields struct {
	text textContent `jsonl:"<Text>"`
}

type textContent struct {
	text fields.Read
}

type userMessageItem struct {
	id fields.Read

	content userMessageContentFields
}

type userMessageContentFields struct {
	localImage fields.Unread      `jsonl:"<local_image>"`
	skill      fields.Unread      `jsonl:"<skill>"`
	text       contentTextContent `jsonl:"<text>"`
}

type contentTextContent struct {
	text          fields.Read
	text_elements fields.Kept
}

type messagePayload struct {
	id, phase, role, status fields.Read

	content                                    messageContentFields
	internal_chat_message_metadata_passthrough internalChatMessageMetadataPassthroughFields
}

type messageContentFields struct {
	inputImage inputImageContent `jsonl:"<input_image>"`
	inputText  textContent       `jsonl:"<input_text>"`
	outputText outputTextContent `jsonl:"<output_text>"`
	reasoning  textContent       `jsonl:"<reasoning>"`
	text       textContent       `jsonl:"<text>"`
}

type inputImageContent struct {
	detail, image_url fields.Read
}

type outputTextContent struct {
	text        fields.Read
	annotations fields.Kept
}

type internalChatMessageMetadataPassthroughFields struct {
	content_item_kinds, create_time, turn_id fields.Kept
	content_item_metadata                    fields.Free
}

type reasoningPayload struct {
	content, encrypted_content, id             fields.Read
	internal_chat_message_metadata_passthrough fields.Unread

	summary summaryFields
}

type summaryFields struct {
	summaryText textContent `jsonl:"<summary_text>"`
}

type taskCompletePayload struct {
	completed_at, duration_ms, last_agent_message, root_turn_id, started_at fields.Kept
	time_to_first_token_ms, turn_id                                         fields.Kept

	error fields.Unread
}

type taskStartedPayload struct {
	model_context_window fields.Read

	collaboration_mode_kind, root_turn_id, started_at, turn_id fields.Kept

	turn_attribution turnAttributionFields
}

type turnAttributionFields struct {
	initiating_agent_path, parent_turn_id, root_turn_id, turn_id, turn_trigger fields.Kept
}

type threadNameUpdatedPayload struct {
	thread_name fields.Read
	thread_id   fields.Unread
}

type threadRolledBackPayload struct {
	num_turns fields.Read
}

type threadSettingsAppliedPayload struct {
	thread_id fields.Read

	thread_settings threadSettingsFields
}

type threadSettingsFields struct {
	cwd, model, service_tier fields.Read

	approval_policy, approvals_reviewer, disabled_plugin_ids, model_provider_id fields.Kept
	requested_approvals_reviewer, runtime_workspace_roots                       fields.Kept

	personality, reasoning_effort, reasoning_summary, sandbox_policy fields.Unread

	collaboration_mode collaborationModeFields
	permission_profile permissionProfileFields
}

type collaborationModeFields struct {
	mode fields.Read

	settings struct {
		model                                    fields.Read
		developer_instructions, reasoning_effort fields.Kept
	}
}

type permissionProfileFields struct {
	disabled struct{} `jsonl:"<disabled>"`
}

type tokenCountPayload struct {
	service_tier fields.Read

	info        infoFields
	rate_limits struct {
		credits, individual_limit, limit_id, limit_name, plan_type, primary fields.Kept
		rate_limit_reached_type, secondary, spend_control_reached           fields.Kept
	}
}

type infoFields struct {
	model_context_window          fields.Read
	last_usage_includes_reasoning fields.Kept

	last_token_usage  lastTokenUsageFields
	total_token_usage lastTokenUsageFields
}

type lastTokenUsageFields struct {
	cache_write_input_tokens, cached_input_tokens, input_tokens, output_tokens, total_tokens fields.Read

	reasoning_output_tokens fields.Kept
}

type userPayload struct {
	content userContentFields
}

type userContentFields struct {
	inputText textContent `jsonl:"<input_text>"`
}

type baseInstructionsFields struct {
	text fields.Read

	provenance provenanceFields
}

type provenanceFields struct {
	custom fields.Unread   `jsonl:"<custom>"`
	model  modelProvenance `jsonl:"<model>"`
}

type modelProvenance struct {
	model fields.Read
}

type latestTokenUsageRecordFields struct {
	response_id, session_id, thread_id fields.Read
	root_turn_id, turn_id              fields.Kept

	thread_token_usage lastTokenUsageFields
	turn_token_usage   lastTokenUsageFields
	usage              lastTokenUsageFields
}

type sandboxPolicyFields struct {
	dangerFullAccess struct{}      `jsonl:"<danger-full-access>"`
	readOnly         fields.Unread `jsonl:"<read-only>"`
	workspaceWrite   fields.Unread `jsonl:"<workspace-write>"`

	mode fields.Read
}

type sourceFields struct {
	subagent subagentFields
}

type subagentFields struct {
	thread_spawn struct {
		parent_thread_id                              fields.Read
		agent_nickname, agent_path, agent_role, depth fields.Unread
	}
}

type responseItemLine struct {
	metadata struct {
		fields.Free

		compaction_output fields.Read
	}
}

// What is read besides lines: what a command of the first months returned, in a text.
var _ = fields.Of[resultFields]

type resultFields struct {
	output   fields.Read
	metadata struct{ duration_seconds, exit_code fields.Read }
}
