package gemini

import "ctxtool/sessionfmt/rule"

// The rules of Gemini CLI besides those that all agents have.
const (
	signature rule.Rule = rule.Own + iota // the signatures of thoughts and calls, which no file holds
	media                                 // pictures and other files
	lateCall                              // a call that the file has in an earlier answer, which is written again
)

// Rules are the rules, and what was compared.
var Rules = rule.NewTable(map[rule.Rule]rule.Info{
	signature: {Name: "signature of a thought", Missing: true},
	media:     {Name: "media"},
	lateCall:  {Name: "call in an earlier answer", Missing: true},
}, compared)
