package gemini

import "ctxtool/internal/rule"

// The rules of Qwen Code.
const (
	qwenForm     rule.Rule = rule.Own + iota // answers with thoughts or calls in the form of Chat Completions
	qwenMedia                                // pictures and other files
	qwenReminder                             // what the program adds to prompts, which no file holds
)

// QwenRules are the rules, and what was compared.
var QwenRules = rule.NewTable(map[rule.Rule]rule.Info{
	qwenForm:     {Name: "form of the provider", Scope: rule.PerHost},
	qwenMedia:    {Name: "media", Scope: rule.PerModel},
	qwenReminder: {Name: "reminders", Missing: true},
}, comparedQwen)
