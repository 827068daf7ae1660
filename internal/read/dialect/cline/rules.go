package cline

import "ctxtool/sessionfmt/rule"

// Rules of Cline CLI besides the shared ones.
const (
	form        rule.Rule = rule.Own + iota // messages in the form of the provider
	shortened                               // a text of a result, or of a file, shortened in its middle
	pictured                                // a picture in a result
	attached                                // a file in a prompt
	unanswered                              // a call without a result, which gets one with a mark of failure
	overwritten                             // an earlier compaction may have replaced messages: its file is overwritten
	outdated                                // what was read of files that were read again may be replaced by a note
	oversized                               // an answer, or a request, beyond the limits of the program
	unproved                                // a compaction that is not of these messages: it is not applied
)

// Rules are the agent's rules, with the results of comparing them.
var Rules = rule.NewTable(map[rule.Rule]rule.Info{
	form:        {Name: "form of the provider", Scope: rule.PerHost},
	shortened:   {Name: "shortened text"},
	pictured:    {Name: "picture of a result", Scope: rule.PerHost},
	attached:    {Name: "attached file"},
	unanswered:  {Name: "call without a result", Missing: true, Until: rule.Of(rule.Compaction)},
	overwritten: {Name: "overwritten compaction", Missing: true, Until: rule.Of(rule.Compaction)},
	outdated:    {Name: "outdated file contents", Missing: true, Until: rule.Of(rule.Compaction)},
	oversized:   {Name: "limits of a request", Missing: true, Until: rule.Of(rule.Compaction)},
	unproved:    {Name: "compaction of other messages"},
}, compared)
