package qwen

import "ctxtool/sessionfmt/rule"

// The rules of Qwen Code.
const (
	form       rule.Rule = rule.Own + iota // answers with thoughts or calls in the form of Chat Completions
	media                                  // pictures and other files
	reminder                               // what the program adds to prompts, which no file holds
	cancelled                              // a result whose text the process that ran the call does not send
	resumption                             // an answer that broke off and was continued; the file has it as one
)

// Rules are the agent's rules, with the results of comparing them.
var Rules = rule.NewTable(map[rule.Rule]rule.Info{
	form:       {Name: "form of the provider", Scope: rule.PerHost},
	media:      {Name: "media", Scope: rule.PerModel},
	reminder:   {Name: "reminders", Missing: true},
	cancelled:  {Name: "cancelled call", Missing: true},
	resumption: {Name: "continued answer", Missing: true},
}, compared)
