package gemini

import "ctxtool/sessionfmt/rule"

// Rules of Gemini CLI besides the shared ones.
const (
	signature rule.Rule = rule.Own + iota // the signatures of thoughts and calls, which no file holds
	media                                 // pictures and other files
	lateCall                              // a call that the file has in an earlier answer, which is written again
)

// Rules are the agent's rules, with the results of comparing them.
var Rules = rule.NewTable(map[rule.Rule]rule.Info{
	signature: {Name: "signature of a thought", Missing: true},
	media:     {Name: "media"},
	lateCall:  {Name: "call in an earlier answer", Missing: true},
}, compared)
