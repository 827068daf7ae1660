// Package pi has the rules by which pi and its variant oh-my-pi build a context, and what was compared of them.
// Package replay applies them.
package pi

import "ctxtool/sessionfmt/rule"

// The rules of pi besides those that all agents have, and of its variants.
const (
	NoMessage     rule.Rule = rule.Own + iota // a message entry without a message
	Excluded                                  // a command that is kept from the model
	Hook                                      // a message of a hook, of version 2
	Checkpointed                              // a compaction with prompt and tools
	KeepsNone                                 // one that keeps nothing before it
	KeepsUnknown                              // one whose first kept entry is not on the path
	KeepsLater                                // one whose first kept entry has no message
	EditOfNothing                             // an edit without a replacement
	EditOfUnknown                             // an edit of an entry that is not there
	OtherRole                                 // a message of a role that no provider gets
	Older                                     // a file of version 1 or 2
	Ephemeral                                 // messages of one request, of the envelope rules
	Transform                                 // a patch, of these
	Shadowed                                  // a compaction that repeats a patch, of these
	Envelope                                  // the envelope rules
	Replaced                                  // options or entries given on the command line
	Deletion                                  // an entry of a variant of pi that removes others
	Restart                                   // one that begins again
	Archived                                  // a compaction of oh-my-pi that keeps old turns as text and pictures
	Rewritten                                 // a result that it replaced in the file, after requests had it
	Reminder                                  // the date and the folder, which it puts before a prompt
	Initial                                   // the prompt of its sub-agents
)

var about = map[rule.Rule]rule.Info{
	NoMessage: {Name: "entry without message"}, Excluded: {Name: "excluded command"}, Hook: {Name: "hook message"},
	Checkpointed: {Name: "checkpoint"}, KeepsNone: {Name: "compaction that keeps nothing"},
	KeepsUnknown: {Name: "unknown first kept entry"}, KeepsLater: {Name: "first kept entry without message"},
	EditOfNothing: {Name: "edit without replacement"}, EditOfUnknown: {Name: "edit of an unknown entry"},
	OtherRole: {Name: "message of another role"}, Older: {Name: "older format"},
	Ephemeral: {Name: "ephemeral messages"}, Transform: {Name: "transform"}, Shadowed: {Name: "shadowed compaction"},
	Envelope: {Name: "envelope rules"}, Replaced: {Name: "options given"},
	Deletion: {Name: "deletion"}, Restart: {Name: "reset"},
	Archived: {Name: "archive of old turns"}, Rewritten: {Name: "rewritten result", Missing: true},
	Reminder: {Name: "reminder of date and folder", Missing: true}, Initial: {Name: "prompt of a sub-agent"},
}

// Rules are those of pi. Its files do not name the version of the program: what stands for it is that of the format.
var Rules = rule.NewTable(about, compared, recorded)

// OhMyPi are the same, with what was compared of oh-my-pi. What no file of it holds is left out of its requests:
// prompt and tools, the reminder, and the pictures of an archive.
var OhMyPi = rule.NewTable(about, recordedOhmypi)
