package check

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// noResult is the text that pi sends in place of a missing result.
const noResult = "No result provided"

// AnswerCalls plans entries to append so that providers accept the next request: calls at
// the end of the conversation get an error as their result; earlier calls without a result
// and results without a call are removed by context edits.
func (r *Repair) AnswerCalls(now time.Time) error {
	s, e, err := r.resumed()
	if err != nil {
		return err
	}
	msgs, err := readPairs(e)
	if err != nil {
		return err
	}
	b := s.NewBatch(s.Leaf(), now)
	end := len(msgs) // of the conversation: only results follow
	for end > 0 && msgs[end-1].result {
		end--
	}
	for k, m := range msgs {
		switch {
		case m.lost && m.ours:
			edit(b, s.ID(m.rec), jsonl.Value("null"))
		case len(m.open) > 0 && k+1 >= end:
			for _, c := range m.open {
				b.Add(jsonl.ToolResult, jsonl.Field{Name: "message", Value: c.failure(now)})
			}
		case len(m.open) > 0 && m.ours:
			edit(b, s.ID(m.rec), m.without())
		}
	}
	if b.Len() == 0 {
		return nil
	}
	r.tail, r.why = b, []string{"for tool calls and results without each other"}
	return b.Err()
}

// resumed returns the repaired session and the context that a resume would send, to which edits are appended:
// it must be one of pi.
func (r *Repair) resumed() (s *sessionfmt.Session, e *replay.Envelope, err error) {
	if err = r.was.Foreign(); err != nil {
		return nil, nil, err
	}
	if s, err = r.repaired(); err != nil {
		return nil, nil, err
	}
	e, err = replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
	return s, e, err
}

func edit(b *sessionfmt.Batch, target string, replacement jsonl.Value) {
	b.Add(jsonl.ContextEdit,
		jsonl.Field{Name: "targetId", Value: jsonl.AppendQuoted(nil, target)},
		jsonl.Field{Name: "replacement", Value: replacement})
}

// A paired is a message of the next request with its calls or result.
type paired struct {
	rec     int
	ours    bool // an entry holds it, not a patch, so a context edit can change it
	result  bool
	lost    bool        // a result without a call
	open    []openBlock // calls without a result
	content jsonl.Value // of an answer with calls
}

// An openBlock is a tool call that no result answers.
type openBlock struct{ id, name jsonl.Value }

// readPairs returns the messages of the next request with their calls and results;
// other messages are empty.
func readPairs(e *replay.Envelope) (list []*paired, err error) {
	open := map[string]*paired{}
	for m, err := range e.Sources(func(replay.Message) bool { return true }) {
		if err != nil {
			return nil, err
		}
		p := &paired{rec: m.Origin.Record, ours: m.Origin.Op < 0}
		list = append(list, p)
		switch {
		case m.Kind == jsonl.ToolResult:
			p.result = true
			id := m.Raw.Message().CallID.Text()
			call := open[id]
			if p.lost = call == nil; !p.lost {
				k := call.find(id)
				call.open = slices.Delete(call.open, k, k+1)
				delete(open, id)
			}
		case m.Kind == jsonl.Assistant:
			answer := m.Raw.Message()
			if answer.Failed() {
				continue
			}
			for call := range answer.Calls {
				p.open = append(p.open, openBlock{bytes.Clone(call.ID), bytes.Clone(call.Name)})
				open[call.ID.Text()] = p
			}
			if len(p.open) > 0 {
				p.content = bytes.Clone(answer.Content)
			}
		}
	}
	return list, nil
}

// find returns the index of the first open call with that id, or -1.
func (p *paired) find(id string) int {
	return slices.IndexFunc(p.open, func(c openBlock) bool { return c.id.Text() == id })
}

// without returns the content of an answer without its open calls, or null if nothing
// remains.
func (p *paired) without() jsonl.Value {
	cut, says := map[int]string{}, false
	blocks := p.content.Blocks(jsonl.Assistant)
	for i, b := range blocks {
		if b.Kind == jsonl.CallBlock && p.find(b.ID.Text()) >= 0 {
			cut[i] = ""
		} else {
			says = says || b.Kind != jsonl.ThinkingBlock
		}
	}
	if !says {
		return jsonl.Value("null")
	}
	return withoutBlocks(blocks, cut)
}

// failure returns a tool result with the error that there is no result.
func (c openBlock) failure(now time.Time) jsonl.Value {
	return fmt.Appendf(nil, `{"role":"toolResult","toolCallId":%s,"toolName":%s,"content":[{"type":"text","text":"%s"}],"isError":true,"timestamp":%d}`,
		c.id, c.name, noResult, now.UnixMilli())
}
