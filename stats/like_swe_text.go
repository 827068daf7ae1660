package stats

import (
	"path"

	"ctxtool/internal/activity"
	"ctxtool/replay/tokens"
	"ctxtool/replay/weigh"
	"ctxtool/sessionfmt/jsonl"
)

// sweMessages counts messages, and what results say that says nothing new.
type sweMessages struct {
	c                 *tokens.Counter
	n, tokens, images int
	calls             map[string]sweCall
	results           []sweResult
}

func newSWEMessages(c *tokens.Counter) *sweMessages {
	return &sweMessages{c: c, calls: map[string]sweCall{}}
}

// SWEPercent returns a number of tokens in percent of SWE-CLI's own limit.
func SWEPercent(total int) float64 { return sweUsage(total, sweLimit).Percent }

// A sweCall is a tool call; one identifies equal calls, which can have different ids.
type sweCall struct {
	one        string
	file, part string // that it reads; an empty part is the whole file
}

// A sweResult is a tool result.
type sweResult struct {
	sweCall
	text   string
	tokens int
	failed bool
}

// add counts a message of a request.
func (s *sweMessages) add(msg *jsonl.Message) {
	s.n++
	for i := range msg.Blocks {
		switch b := &msg.Blocks[i]; b.Kind {
		case jsonl.ImageBlock:
			s.images++
		case jsonl.CallBlock:
			s.call(b)
		}
	}
	n := weigh.MessageTokens(s.c, msg)
	s.tokens += n
	if msg.Kind == jsonl.ToolResult {
		s.results = append(s.results, sweResult{s.calls[msg.CallID.Text()], msg.Text(""), n, msg.IsError.Truthy()})
	}
}

func (s *sweMessages) call(b *jsonl.Block) {
	call := sweCall{one: b.Name.Text() + " " + string(b.Args.AppendMinified(nil))}
	c := activity.New(b.Name.Text(), b.ID.Text(), b.Args)
	if call.file, call.part = c.Reads(); call.file != "" {
		call.file = path.Clean(call.file)
	}
	s.calls[c.ID] = call
}

// waste counts results without new content. From the end backwards, these are results whose calls
// were repeated, and files or results that were read again. A read supersedes an older one of the
// same lines, and one of all lines supersedes every older one (docs/policies.md 4.9).
func (s *sweMessages) waste() (w sweWaste) {
	called, said, read := map[string]bool{}, map[string]bool{}, map[[2]string]bool{}
	for i := len(s.results) - 1; i >= 0; i-- {
		r := &s.results[i]
		saying := r.one + "\x00" + r.text
		switch {
		case r.failed && r.one != "" && called[r.one]:
			w.Retried += r.tokens
		case r.failed:
			w.Errors += r.tokens
		case r.file != "" && (read[[2]string{r.file}] || read[[2]string{r.file, r.part}]):
			w.Superseded += r.tokens
		case r.one != "" && said[saying]:
			w.Duplicate += r.tokens
		}
		called[r.one], said[saying] = true, true
		if !r.failed {
			read[[2]string{r.file, r.part}] = true
		}
	}
	w.sweTarget = measure(w.Retried+w.Errors+w.Superseded+w.Duplicate, s.tokens, 0, 0.1)
	return w
}
