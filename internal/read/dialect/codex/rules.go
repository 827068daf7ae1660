package codex

import "ctxtool/sessionfmt/rule"

// Rules of Codex besides the shared ones.
const (
	customCall     rule.Rule = rule.Own + iota // a call whose input is a text
	customResult                               // the output of such a call
	shellCall                                  // a call of the provider's own shell tool
	webSearch                                  // a search that the provider made
	madeImage                                  // a picture that the provider made
	toolSearch                                 // a search for tools
	foundTools                                 // the result of such a search
	addedTools                                 // tools that the session declares
	fromAgent                                  // a message of another agent
	sealed                                     // a compaction that only the provider can read
	goal                                       // the goal of the thread, an output of no call
	imageDetail                                // how closely the model looks at a picture
	emptyAnswer                                // an answer of which only the usage is recorded
	unfinished                                 // an answer that no usage closes
	unanswered                                 // a call that has no output, of which the program makes one
	keptPrompts                                // a compaction without history keeps the last prompts
	shortPrompt                                // it shortens the first of these prompts
	plainSummary                               // a summary that took no effect is an answer
	afterRollback                              // turns are taken back across a compaction
	lostInRollback                             // in versions below 0.160 that lost everything
	shortOutput                                // versions below 0.124 cut outputs in memory
	outputSections                             // versions below 0.129 sent some outputs as lines
	continued                                  // lines of another file that a fork continues
	resumed                                    // versions below 0.123 made another history at a resume
	otherFamily                                // a thread goes on with another family of models
	bareLine                                   // a line of the first months, which has no payload
)

// Rules are the agent's rules, with the results of comparing them.
var Rules = rule.NewTable(map[rule.Rule]rule.Info{
	customCall: {Name: "custom call"}, customResult: {Name: "custom result"}, shellCall: {Name: "shell call"},
	webSearch: {Name: "web search"}, madeImage: {Name: "image generation"}, toolSearch: {Name: "tool search"},
	foundTools: {Name: "found tools"}, addedTools: {Name: "added tools"}, fromAgent: {Name: "message of an agent"},
	sealed: {Name: "sealed compaction"}, goal: {Name: "goal"},
	imageDetail: {Name: "image detail", Scope: rule.PerModel}, emptyAnswer: {Name: "empty answer"},
	unfinished: {Name: "unfinished answer"}, unanswered: {Name: "call without output", Missing: true},
	keptPrompts: {Name: "prompts kept by a compaction"}, shortPrompt: {Name: "shortened prompt"},
	plainSummary: {Name: "summary without effect"}, afterRollback: {Name: "rollback across a compaction"},
	lostInRollback: {Name: "rollback that lost all"}, shortOutput: {Name: "shortened output"},
	outputSections: {Name: "output in sections"}, continued: {Name: "continued file"},
	resumed:     {Name: "other history after a resume", Missing: true},
	otherFamily: {Name: "other family of models", Missing: true}, bareLine: {Name: "line without payload"},
}, compared)
