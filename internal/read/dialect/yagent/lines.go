package yagent

//lint:file-ignore U1000 the fields are read by reflection.

import "ctxtool/internal/read/fields"

// lineFields are the fields of the lines of y-agent.
type lineFields struct {
	every     everyLine     `jsonl:"<*>"`
	assistant assistantLine `jsonl:"<assistant>"`
	system    struct{}      `jsonl:"<system>"`
	tool      toolLine      `jsonl:"<tool>"`
	user      struct{}      `jsonl:"<user>"`
}

type everyLine struct {
	content, message_id, timestamp fields.Read

	metadata struct {
		fields.Free

		context_tokens_used, cost_usd, input_tokens, model, output_tokens, reasoning_content fields.Read
	}
}

type assistantLine struct {
	tool_calls struct {
		id, name  fields.Read
		arguments fields.Free
	}
}

type toolLine struct {
	tool_call_id fields.Read
}
