package weigh

import "ctxtool/sessionfmt/jsonl"

// Shares are the tokens of a request's messages by kind, as pi estimates them.
type Shares struct {
	User      int `json:"user"`      // prompts, shell commands, and what extensions add
	Answers   int `json:"answers"`   // texts, thinking and calls
	Results   int `json:"results"`   // of tools
	Summaries int `json:"summaries"` // of compactions and branches
}

// Total returns the tokens of all kinds.
func (s *Shares) Total() int { return s.User + s.Answers + s.Results + s.Summaries }

// Add adds the tokens of a message of a kind.
func (s *Shares) Add(kind jsonl.Kind, n int) {
	switch kind {
	case jsonl.Assistant:
		s.Answers += n
	case jsonl.ToolResult:
		s.Results += n
	case jsonl.CompactionMessage, jsonl.BranchMessage:
		s.Summaries += n
	default:
		s.User += n
	}
}
