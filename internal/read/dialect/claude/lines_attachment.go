package claude

//lint:file-ignore U1000 the fields are read by reflection.

import "ctxtool/internal/read/fields"

type attachmentFields struct {
	agentListingDelta     agentListingDeltaAttachment     `jsonl:"<agent_listing_delta>"`
	autoMode              fields.Unread                   `jsonl:"<auto_mode>"`
	commandPermissions    commandPermissionsAttachment    `jsonl:"<command_permissions>"`
	credentialOrg         credentialOrgAttachment         `jsonl:"<credential_org>"`
	date                  fields.Unread                   `jsonl:"<date>"`
	deferredToolsDelta    deferredToolsDeltaAttachment    `jsonl:"<deferred_tools_delta>"`
	deferredToolsRecord   deferredToolsRecordAttachment   `jsonl:"<deferred_tools_record>"`
	diagnostics           diagnosticsAttachment           `jsonl:"<diagnostics>"`
	editedTextFile        editedTextFileAttachment        `jsonl:"<edited_text_file>"`
	environment           fields.Unread                   `jsonl:"<environment>"`
	file                  fileAttachment                  `jsonl:"<file>"`
	goalStatus            goalStatusAttachment            `jsonl:"<goal_status>"`
	hookAdditionalContext hookAdditionalContextAttachment `jsonl:"<hook_additional_context>"`
	hookSuccess           hookSuccessAttachment           `jsonl:"<hook_success>"`
	hookSystemMessage     hookAdditionalContextAttachment `jsonl:"<hook_system_message>"`
	instructions          fields.Unread                   `jsonl:"<instructions>"`
	maxTurnsReached       fields.Free                     `jsonl:"<max_turns_reached>"`
	mcpInstructionsDelta  mcpInstructionsDeltaAttachment  `jsonl:"<mcp_instructions_delta>"`
	nestedMemory          nestedMemoryAttachment          `jsonl:"<nested_memory>"`
	todoReminder          todoReminderAttachment          `jsonl:"<todo_reminder>"`
	model                 fields.Unread                   `jsonl:"<model>"`
	planMode              fields.Free                     `jsonl:"<plan_mode>"`
	planModeExit          fields.Free                     `jsonl:"<plan_mode_exit>"`
	promptSnapshot        promptSnapshotAttachment        `jsonl:"<prompt_snapshot>"`
	queuedCommand         queuedCommandAttachment         `jsonl:"<queued_command>"`
	remoteSessionChange   fields.Unread                   `jsonl:"<remote_session_change>"`
	sessionContext        sessionContextAttachment        `jsonl:"<session_context>"`
	skillListing          skillListingAttachment          `jsonl:"<skill_listing>"`
	taskReminder          taskReminderAttachment          `jsonl:"<task_reminder>"`
	totalTokensReminder   fields.Free                     `jsonl:"<total_tokens_reminder>"`
}

type agentListingDeltaAttachment struct {
	addedLines, addedTypes fields.Kept

	builtInPluginTypes, builtInTypes, isInitial, removedTypes, showConcurrencyNote fields.Unread
}

type commandPermissionsAttachment struct {
	allowedTools fields.Kept
}

type credentialOrgAttachment struct {
	organizationUuid fields.Kept
}

type deferredToolsDeltaAttachment struct {
	addedLines, addedNames, pendingMcpServers fields.Kept

	failedMcpServers, needsAuthMcpServers, readdedNames, removedNames, surfacedNames fields.Unread
	wireHiddenNames                                                                  fields.Unread
}

type deferredToolsRecordAttachment struct {
	nameOnlyAnnouncements fields.Kept

	entries struct {
		description, name fields.Read
		defer_loading     fields.Kept
		input_schema      fields.Free
	}
}

type diagnosticsAttachment struct {
	isNew fields.Unread

	files filesFields
}

type filesFields struct {
	uri fields.Kept

	diagnostics filesDiagnosticsFields
}

type filesDiagnosticsFields struct {
	message, source fields.Read
	code, severity  fields.Kept

	range_ struct{ end, start fields.Unread } `jsonl:"range"`
}

type editedTextFileAttachment struct {
	filename    fields.Read
	snippet     fields.Kept
	rereadEntry fields.Unread
}

type fileAttachment struct {
	fields.Free

	filename fields.Read
	content  struct {
		typ  fields.Read `jsonl:"type"`
		file struct{ base64 fields.Read }
	}
}

type goalStatusAttachment struct {
	condition, met, sentinel fields.Kept
}

type hookAdditionalContextAttachment struct {
	content, hookEvent  fields.Read
	hookName, toolUseID fields.Kept
}

type hookSuccessAttachment struct {
	content, hookEvent fields.Read

	command, durationMs, exitCode, hookName, stderr, stdout, toolUseID fields.Kept
}

type mcpInstructionsDeltaAttachment struct {
	addedBlocks, addedNames fields.Kept
	removedNames            fields.Unread
}

type nestedMemoryAttachment struct {
	displayPath, path fields.Kept

	content struct {
		content, path          fields.Kept
		contentDiffersFromDisk fields.Unread

		typ fields.Kept `jsonl:"type"`
	}
}

type todoReminderAttachment struct {
	content   fields.Free
	itemCount fields.Unread
}

type promptSnapshotAttachment struct {
	cliPrefix, echoWireToolInputs, systemPrompt, systemTurns, toolChangeHeader fields.Read

	contextRendering, inlineTools, keptReminders, reminderFold fields.Unread

	tools struct {
		schema                    fields.Free
		description, name, server fields.Unread
	}
}

type queuedCommandAttachment struct {
	commandMode, prompt, timestamp      fields.Read
	delivery_id, humanTurn, source_uuid fields.Unread

	origin struct{ kind fields.Read }
}

type sessionContextAttachment struct {
	context struct{ gitStatus fields.Unread }
}

type skillListingAttachment struct {
	content                        fields.Read
	names                          fields.Kept
	digests, isInitial, skillCount fields.Unread
}

type taskReminderAttachment struct {
	itemCount fields.Unread

	content struct {
		description, id             fields.Read
		activeForm, status, subject fields.Kept
		blockedBy, blocks           fields.Unread
	}
}
