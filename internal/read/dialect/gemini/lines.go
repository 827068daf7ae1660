package gemini

//lint:file-ignore U1000 the fields are read by reflection.

import (
	"ctxtool/internal/read/fields"
	"ctxtool/sessionfmt/jsonl"
)

// lineFields are the fields of the lines of Gemini CLI, and of its documents.
type lineFields struct {
	every  messageFields `jsonl:"<*>"`
	gemini answerFields  `jsonl:"<gemini>"`
	info   struct{}      `jsonl:"<info>"`
	user   struct{}      `jsonl:"<user>"`

	directories, projectHash, sessionId, startTime fields.Read
	kind, lastUpdated                              fields.Unread

	rewindTo fields.Read `jsonl:"$rewindTo"`
	set      setFields   `jsonl:"$set"`
}

type setFields struct {
	lastUpdated, summary fields.Read
	sessionId            fields.Unread

	messages struct {
		gemini answerMessage `jsonl:"<gemini>"`
		user   messageFields `jsonl:"<user>"`
	}
}

type answerMessage struct {
	messageFields
	answerFields
}

type messageFields struct {
	id, timestamp  jsonl.Value
	displayContent fields.Value[fields.Free]

	content []Part
}

type answerFields struct {
	thoughts fields.Value[fields.Free]

	model  jsonl.Value
	tokens struct{ raw, input, cached, tool, output, thoughts, total jsonl.Value }

	toolCalls []call
}

// A message is what is read of a line of any type, besides its content and calls.
type message struct {
	messageFields
	answerFields

	typ jsonl.Value `jsonl:"type"`
}

// A call is what is read of one besides its result.
type call struct {
	agentId                                          fields.Unread
	description, displayName, renderOutputAsMarkdown fields.Kept
	resultDisplay                                    fields.Value[fields.Free]

	id, name, status, timestamp jsonl.Value

	args   fields.Value[fields.Free]
	result []Part
}

// A Part is a part of a message: a text, or an object.
type Part struct {
	fields.Free

	Raw jsonl.Value `jsonl:"raw"`

	Thought  jsonl.Value                                        `jsonl:"thought"`
	Text     jsonl.String                                       `jsonl:"text"`
	Call     fields.Value[functionCall]                         `jsonl:"functionCall"`
	Answered fields.Value[functionResponse]                     `jsonl:"functionResponse"`
	Inline   fields.Value[struct{ data, mimeType fields.Read }] `jsonl:"inlineData"`
}

// What is read besides lines: messages as they are sent.
var _ = fields.Of[sentFields]

type sentFields struct{ parts, role fields.Read }

type functionCall struct {
	id, name fields.Read
	args     fields.Free
}

type functionResponse struct {
	id, name fields.Read
	response struct{ output, error fields.Read }
}
