// Package transcript takes a session apart for somebody who reads it: turns, what
// was said in them, what was called and what came of it, and what happened in all.
package transcript

import "ctxtool/sessionfmt/jsonl"

type value = jsonl.Value

// A Kind is what a block is.
type Kind uint8

// The kinds of blocks.
const (
	Prompt     Kind = iota // what the user said; it begins a turn
	Skill                  // instructions that came with a prompt, for the model alone
	Answer                 // what the model said
	Thinking               // what it thought
	Call                   // a call of a tool, with its result
	Shell                  // a command of the user's own
	Image                  // a picture in the message before
	Failure                // why an answer failed or was aborted
	System                 // a system message, a part of the prompt, or a tool
	Custom                 // a message of an extension, or of an unknown role
	Compaction             // a summary in place of what was said before
	Branch                 // a summary of another branch, or where one begins
	Edit                   // a context_edit
	Transform              // a context_transform
	Ephemeral              // messages that only one request had
	Setting                // another model or thinking level
	Label                  // a label set or cleared
	Finding                // damage at this place of the file
)

var kindNames = [...]string{
	"prompt", "skill", "answer", "thought", "call", "command", "image", "failure", "system message", "message",
	"compaction", "branch note", "edit", "transform", "ephemeral", "setting", "label", "finding",
}

// String names the kind for people, in the singular.
func (k Kind) String() string { return kindNames[k] }

// A Block is a piece of a conversation. What its texts and values stand in is used
// again for the next block. Texts are not there where nobody asked for them.
type Block struct {
	Kind   Kind
	Record int // of the entry, -1 where it comes from none
	Turn   int // user prompts so far, less one
	By     int // the entry that made it what it is: its own, an edit, or a transform

	Text  []byte // UTF-8, as it stands in the session
	Title string // what it is about: a name, a model, a type
	// Hidden reports that the model saw it, and the user did not.
	Hidden bool
	Value  value // the entry, an image's data, or a tool's definition

	Call ToolCall // of a Call or a Shell
	Cut  *Cut     // of a Compaction, and of a Transform that compacts
}

// A ToolCall is a call of a tool, or a command of the user, and what came of it.
type ToolCall struct {
	Name     string
	ID       string
	Args     value
	Command  bool   // the subject is a command line
	Path     string // of the file that it is about, empty for none
	Change   Change // of that file
	Answered bool   // there is a result
	Lost     bool   // nobody has called: there is nothing but a result
	Failed   bool
	Exit     int // exit status, -1 where it is not known
	Result   []byte
	Details  value
	Nested   value // the calls that the tool made itself, and whether they are complete
	Record   int   // of the result, -1 without one

	subject value
}

// Subject is the argument that matters, whole; empty where there is none.
func (c *ToolCall) Subject() string { return string(c.AppendSubject(nil)) }

// AppendSubject appends it.
func (c *ToolCall) AppendSubject(dst []byte) []byte {
	if len(c.subject) > len(`""`) && c.subject.IsString() {
		return c.subject.AppendText(dst)
	}
	return append(dst, c.subject...)
}

// A Cut is what a compaction did to the list of messages.
type Cut struct {
	Before, After int // messages
	Tokens        int // of the context before, as the compaction itself says; 0 where it does not
}

// An Item is an entry of a conversation, or a message of an envelope.
type Item struct {
	Kind    jsonl.Kind
	Record  int
	By      int
	Entry   value  // nil in an envelope
	Message value  // of a message entry, or as the envelope has it
	Cut     *Cut   // what it did, where it compacted
	Ready   *Block // instead of all that, a block
}
