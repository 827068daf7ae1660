package gemini

import "ctxtool/internal/rule"

// The rules of Gemini CLI besides those that all agents have.
const (
	signature rule.Rule = rule.Own + iota // the signatures of thoughts and calls, which no file holds
)

// Rules are the rules, and what was compared.
var Rules = rule.NewTable(map[rule.Rule]rule.Info{signature: {Name: "signature of a thought", Missing: true}}, compared)
