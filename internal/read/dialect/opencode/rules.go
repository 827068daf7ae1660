package opencode

import "ctxtool/sessionfmt/rule"

// Rules of opencode besides the shared ones.
const (
	chatForm     rule.Rule = rule.Own + iota // messages in the form of Chat Completions
	withoutLog                               // rows without events: the last version of a message, not the one sent
	synthetics                               // texts that the program wrote into a prompt
	attachedFile                             // a file in a prompt
	otherFile                                // one that is no picture
	failure                                  // a call that failed
	interruption                             // a call that was interrupted
	clearing                                 // a result that is no longer sent
	media                                    // files that a call returned
	keptTail                                 // messages that a summary leaves
	brokenOff                                // an answer that failed or was aborted
	userShell                                // a command that the user ran
	subtask                                  // what a sub-agent was asked by a command
	removal                                  // a message was removed
	lateChange                               // a part changed after it was sent
	refused                                  // a summary that was not finished
	otherModel                               // reasoning of another model is a part of the text
	reminder                                 // reminders of the modes plan and build, which are in no row
	editor                                   // what is open in an editor, in Kilo
	reasoning                                // reasoning of the same model, as its provider takes it
	document                                 // a PDF in a prompt
	question                                 // a request for a summary: the conversation as a text, in a question
)

// infos describe the rules.
var infos = map[rule.Rule]rule.Info{
	chatForm: {Name: "form of the provider", Scope: rule.PerHost}, withoutLog: {Name: "rows without events"},
	synthetics: {Name: "text of the program"}, attachedFile: ofModel("attachment"),
	otherFile: {Name: "other file"}, failure: {Name: "failed call"}, interruption: {Name: "interrupted call"},
	clearing: {Name: "cleared result"}, media: ofModel("media of a result"),
	keptTail: {Name: "kept tail"}, brokenOff: {Name: "answer that broke off"},
	userShell: {Name: "command of the user"}, subtask: {Name: "subtask"}, removal: {Name: "removed message"},
	lateChange: {Name: "later change of a part"}, refused: {Name: "unfinished summary"},
	otherModel: {Name: "reasoning of another model"}, reminder: {Name: "reminder of plan and build", Missing: true},
	editor: {Name: "editor context"}, reasoning: {Name: "reasoning of the provider", Scope: rule.PerHost},
	document: ofModel("PDF"),
	question: {Name: "request for a summary", Missing: true},
}

// ofModel describes a rule for files, which some models do not take. A summary stands for them too.
func ofModel(name string) rule.Info {
	return rule.Info{Name: name, Scope: rule.PerModel, Outside: true, Until: rule.Of(rule.Compaction)}
}

// Rules are the rules, and what was compared; KiloRules are the same of Kilo.
var (
	Rules     = rule.NewTable(infos, compared)
	KiloRules = rule.NewTable(infos, comparedKilo)
)
