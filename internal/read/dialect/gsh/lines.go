package gsh

//lint:file-ignore U1000 the fields are read by reflection.

import "ctxtool/internal/read/fields"

// lineFields are the fields of the lines of gsh.
type lineFields struct {
	assistant assistantLine `jsonl:"<assistant>"`
	user      userLine      `jsonl:"<user>"`

	created_at, cwd, id, last_activity, timestamp, title fields.Read
	message_count                                        fields.Unread
}

type assistantLine struct {
	content contentFields
}

type contentFields struct {
	text    textContent    `jsonl:"<text>"`
	toolUse toolUseContent `jsonl:"<tool_use>"`
}

type textContent struct {
	text fields.Read
}

type toolUseContent struct {
	id, name fields.Read
	input    fields.Free
}

type userLine struct {
	content userContentFields
}

type userContentFields struct {
	toolResult toolResultContent `jsonl:"<tool_result>"`
}

type toolResultContent struct {
	content, is_error, tool_use_id fields.Read
}
