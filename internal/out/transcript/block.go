// Package transcript presents a session to a reader: its turns, with prompts, answers, tool
// calls and their results, and a summary of the work.
package transcript

import (
	"ctxtool/internal/read/activity"
	"ctxtool/sessionfmt/jsonl"
)

type value = jsonl.Value

// A Kind is the kind of a block.
type Kind uint8

// The kinds of blocks.
const (
	Prompt     Kind = iota // a user message; it begins a turn
	Skill                  // skill instructions in a prompt, for the model only
	Answer                 // text of the model
	Thinking               // thinking of the model
	Call                   // a call of a tool, with its result
	Shell                  // a command run by the user
	Image                  // an image in the previous message
	Failure                // why an answer failed or was aborted
	System                 // a system message, a part of the prompt, or a tool
	Custom                 // a message of an extension, or of an unknown role
	Compaction             // a summary in place of earlier messages
	Branch                 // a summary of another branch, or the start of one
	Edit                   // a context_edit
	Transform              // a context_transform
	Ephemeral              // messages of a single request
	Setting                // a change of the model or thinking level
	Label                  // a label set or cleared
	Finding                // damage at this place in the file
)

var kindNames = [...]string{
	"prompt", "skill", "answer", "thought", "call", "command", "image", "failure", "system message", "message",
	"compaction", "branch note", "edit", "transform", "ephemeral", "setting", "label", "finding",
}

// String returns the name of the kind, in the singular.
func (k Kind) String() string { return kindNames[k] }

// A Block is a part of a conversation. Its memory is reused for the next block. It has no texts
// unless they are requested.
type Block struct {
	Kind   Kind
	Record int // of the entry, -1 for none
	Turn   int // user prompts so far, less one
	By     int // the entry that determines its content: its own, an edit, or a transform

	Text  []byte // UTF-8, as in the session
	Title string // its subject: a name, a model, a type
	// Hidden reports whether the model saw it, and the user did not.
	Hidden bool
	Unseen string // of an Image: the model that takes none, so that it got a text instead
	Value  value  // the entry, an image's data, or a tool's definition

	Call ToolCall // of a Call or a Shell
	Cut  *Cut     // of a Compaction, and of a Transform that compacts
}

// A ToolCall is a tool call, or a command of the user, with its result.
type ToolCall struct {
	activity.Call
	Answered bool // there is a result
	Lost     bool // a result without a call
	Failed   bool
	Exit     int // exit status, -1 if unknown
	Result   []byte
	Details  value
	Nested   value // the calls that the tool made itself, and whether they are complete
	Record   int   // of the result, -1 without one
}

// A Cut is the effect of a compaction on the list of messages.
type Cut struct {
	Before, After int // messages
	Tokens        int // of the context before, as the compaction records it; 0 if it does not
}
