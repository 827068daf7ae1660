package swecli

//lint:file-ignore U1000 the fields are read by reflection.

import "ctxtool/internal/read/fields"

// lineFields are the fields of the lines of SWE-CLI.
type lineFields struct {
	every     everyLine     `jsonl:"<*>"`
	assistant assistantLine `jsonl:"<assistant>"`
	system    struct{}      `jsonl:"<system>"`
	user      struct{}      `jsonl:"<user>"`

	created_at, id, updated_at, working_directory fields.Read
	context_files, file_changes, playbook         fields.Kept

	metadata struct {
		fields.Free

		title fields.Read
	}

	// of events
	aggregate_id, event_type, seq fields.Read
	data                          eventFields
}

// An event of OpenDev has a message, or what changes the session.
type eventFields struct {
	everyLine
	assistantLine

	fork_point, id, parent_id, role, seq, title, working_directory fields.Read

	typ fields.Read `jsonl:"type"`
}

type everyLine struct {
	content, timestamp fields.Read
	tokens             fields.Kept

	metadata struct {
		fields.Free

		thinking fields.Read `jsonl:"_thinking"`
		typ      fields.Read `jsonl:"type"`
	}
	tool_results struct{ content, error, output, result fields.Read }
	tool_calls   struct {
		error, id, name, timestamp fields.Read
		approved, result_summary   fields.Kept
		parameters, result         fields.Free
	}
}

type assistantLine struct {
	reasoning_content, thinking_trace fields.Read

	token_usage struct{ completion_tokens, input_tokens, output_tokens, prompt_tokens, total_tokens fields.Read }
}

// What is read besides lines: that a message has an id tells a transcript of y-agent.
var _ = fields.Of[otherFields]

type otherFields struct{ message_id fields.Read }
