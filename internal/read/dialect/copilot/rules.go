package copilot

import "ctxtool/sessionfmt/rule"

// Rules of Copilot CLI besides the shared ones.
const (
	form         rule.Rule = rule.Own + iota // messages in the form of the provider
	failure                                  // a call that failed: the file has a shorter text than was sent
	resumed                                  // a process resumes the session, and sends what the file has
	otherModel                               // the reasoning of another model, which is not sent
	backAgain                                // a model that answered before another one is asked again
	keptSince                                // messages that came while a summary was written stay
	attachedFile                             // a picture in a prompt
	otherFile                                // an attachment that is no picture
	resultFile                               // a picture that a call returned
	interruption                             // the user interrupted an answer or a call
	unanswered                               // a call without a result, which was interrupted
	lost                                     // a call whose result the file lacks
	responses                                // the Responses API
	unsigned                                 // reasoning without a signature, which the process that got it sends
	detailed                                 // an empty result: the file has what is shown in its place
	died                                     // a process died in a call: processes that resume later send another text
	failedShell                              // a command of the user that failed
	sealed                                   // reasoning that cannot be read, or of several blocks
	otherSource                              // a prompt that neither the user typed nor autopilot adds
	skillSummary                             // a summary after which the skills that were loaded are listed
	unrecorded                               // an answer that is not in the file, as one cut by the limit of its tokens
	blank                                    // an answer with nothing but white space
	taggedFile                               // a file that a prompt mentions
	noticed                                  // the program reports something that has ended
	ownCall                                  // a call that the program makes by itself
	userShell                                // a command that the user ran
	skilled                                  // a skill that was loaded
	hookContext                              // what a hook adds at the start of a session
	hookRefusal                              // a hook refuses a call
	hookResult                               // a hook after a call, whose changes its result has
	hooked                                   // what any other hook returns
)

// Rules are the agent's rules, with the results of comparing them.
var Rules = rule.NewTable(map[rule.Rule]rule.Info{
	form:    {Name: "form of the provider", Scope: rule.PerHost},
	failure: {Name: "failed call before a resume", Missing: true, Until: rule.Of(resumed, rule.Compaction)},
	resumed: {Name: "resume"}, otherModel: {Name: "reasoning of another model"},
	backAgain:    {Name: "reasoning before a change of the model", Missing: true, Until: rule.Of(rule.Compaction)},
	keptSince:    {Name: "messages kept by a compaction"},
	attachedFile: {Name: "attached picture"}, otherFile: {Name: "attachment", Missing: true},
	resultFile:   {Name: "picture of a result", Scope: rule.PerModel},
	interruption: {Name: "interruption"}, unanswered: {Name: "interrupted call"},
	lost:        {Name: "call without a result", Missing: true},
	responses:   {Name: "Responses API"},
	unsigned:    {Name: "unsigned reasoning before a resume", Missing: true, Until: rule.Of(resumed, rule.Compaction)},
	detailed:    {Name: "empty result before a resume", Missing: true, Until: rule.Of(resumed, rule.Compaction)},
	died:        {Name: "call of a process that died", Missing: true, Until: rule.Of(rule.Compaction)},
	failedShell: {Name: "failed command of the user"},
	sealed:      {Name: "sealed reasoning", Missing: true, Until: rule.Of(rule.Compaction)},
	otherSource: {Name: "prompt of another source"}, skillSummary: {Name: "summary after skills", Missing: true},
	unrecorded: {Name: "answer cut by its limit", Missing: true, Until: rule.Of(resumed, rule.Compaction)},
	blank:      {Name: "blank answer", Scope: rule.PerHost}, taggedFile: {Name: "mentioned file"},
	noticed: {Name: "notification"}, ownCall: {Name: "call of the program"}, userShell: {Name: "command of the user"},
	skilled: {Name: "skill"}, hookContext: {Name: "context of a hook"}, hookRefusal: {Name: "refusal of a hook"},
	hookResult: {Name: "hook after a call"}, hooked: {Name: "other output of a hook"},
}, compared)
