package qwen

import (
	"bytes"
	"fmt"

	"ctxtool/internal/read/dialect/chat"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// A arranger makes the entries of lines that name their parents: after a rewind the next line has an earlier one.
type arranger struct {
	messages *chat.Arranger
	at       map[uint64]int32 // the leaf after a line, by its id
	answer   *dialect.Line    // usage of the answer that comes next
	by       string           // who answered last
	last     uint64           // the line before, by its id
}

func newArranger() dialect.Arranger {
	return &arranger{messages: chat.NewArranger(format), at: map[uint64]int32{}}
}

// Next implements [dialect.Arranger], like End.
func (a *arranger) Next(t dialect.Tree, l *dialect.Line) {
	a.messages.Begin(t, l)
	key := dialect.Key(l.ID)
	if _, had := a.at[key]; had && len(l.ID) > 0 {
		t.Report("repeated", l, "a record of the same uuid comes before: it has that place")
		return
	}
	after := dialect.Key(l.Ref)
	leaf, known := a.at[after]
	switch {
	case known && after == a.last: // other entries may have come, of lines that nothing follows
	case len(l.Ref) == 0 && len(a.at) > 0 && len(l.ID) > 0: // the first prompt was taken back
		a.move(t, 0)
	case known:
		a.move(t, int(leaf))
	case len(l.Ref) > 0:
		defer t.Report("bridged", l, fmt.Sprintf("its parent %q is not before it in the file: it follows the record "+
			"before it", l.Ref))
	}
	a.line(t, l)
	if len(l.ID) > 0 {
		a.at[key], a.last = int32(t.Leaf()), key
	}
}

func (a *arranger) move(t dialect.Tree, leaf int) {
	if t.Leaf() != leaf {
		a.pass(t)
		t.Move(rule.Branch, leaf)
	}
}

// line adds the entries of a line.
func (a *arranger) line(t dialect.Tree, l *dialect.Line) {
	if l.Code == counted || l.Code == sideCall || l.Code == agentCall {
		if provider, model, _ := bytes.Cut(l.Group, []byte{0}); string(l.Group) != a.by {
			t.Asked(provider, model)
			a.by = string(l.Group)
		}
	}
	switch {
	case l.Code == counted:
		a.pass(t)
		a.answer = l.Clone()
	case l.Code == sideCall:
		t.Add(rule.Aside, jsonl.UsageEntry, l)
	case l.Code == agentCall:
		t.Delegated(t.Add(rule.Aside, jsonl.UsageEntry, l))
	case l.Code == failed, l.Code == broken:
		l.Rules |= rule.If(l.Code == broken, resumption)
		t.Add(rule.Aside, jsonl.CustomEntry, l)
	case l.Code == compression:
		a.pass(t)
		t.Add(rule.Compaction, jsonl.Transform, l)
	case l.Code == renamed:
		t.Add(rule.Aside, jsonl.SessionInfo, l)
	case l.Code == unsent:
	case a.answer != nil && chat.Answers(l.Code):
		t.Add(rule.Answer, jsonl.Assistant, l, a.answer.At)
		a.answer = nil
	default:
		if chat.IsMessage(l.Code) {
			a.pass(t)
		}
		a.messages.Next(t, l)
	}
}

// pass adds the usage of a call whose answer did not come: it was cut off, or it is no part of the conversation.
func (a *arranger) pass(t dialect.Tree) {
	if l := a.answer; l != nil {
		a.answer = nil
		t.Add(rule.Aside, jsonl.UsageEntry, l)
	}
}

func (a *arranger) End(t dialect.Tree) { a.pass(t) }

// makeAnswer makes an answer, with what the line before it tells about its call.
func makeAnswer(f *chat.Format, s *dialect.Source) {
	f.Each(s, s.Lines[0], func(m *chat.Said) *dialect.Entry {
		e := s.Add()
		e.Time = m.Time
		if len(s.Lines) > 1 {
			m.Provider = event(s.Lines[1]).Get("auth_type")
		}
		return e
	})
	if e := s.Entry(); len(s.Lines) > 1 && len(e.Messages) > 0 {
		e.Messages[0].Set("responseId", event(s.Lines[1]).Get("response_id"))
	}
}

func event(line jsonl.Value) jsonl.Value { return line.First("systemPayload", "uiEvent") }

// makeFailure makes an entry of a call that failed.
func makeFailure(_ *chat.Format, s *dialect.Source) {
	e := s.Add()
	e.Time = s.Lines[0].Get("timestamp")
	e.SetText("customType", "error")
	e.Set("data", event(s.Lines[0]).Get("error_message"))
}

// makeSideCall makes the usage of a call that is no part of the conversation.
func makeSideCall(_ *chat.Format, s *dialect.Source) {
	e, of := s.Add(), event(s.Lines[0])
	n := of.All("input_token_count", "cached_content_token_count", "output_token_count", "total_token_count",
		"auth_type", "model", "subagent_name", "prompt_id", "response_id")
	e.Time = s.Lines[0].Get("timestamp")
	kind := "call"
	if n[6].IsString() {
		kind = n[6].Text()
	} else if bytes.HasPrefix(n[7].Inside(), []byte(compressing)) {
		kind = "compaction"
	}
	e.SetText("kind", kind)
	e.Set("provider", n[4])
	e.Set("model", n[5])
	e.Set("responseId", n[8])
	u := usage(n[0], n[1], n[2], n[3])
	u.Total = u.Context()
	e.Set("usage", s.Usage(u, nil))
}

// makeCompression makes an entry of a compression: a new history in place of all before.
func makeCompression(f *chat.Format, s *dialect.Source) {
	e, payload := s.Add(), s.Lines[0].Get("systemPayload")
	e.Time, e.Transformer, e.Reason = s.Lines[0].Get("timestamp"), "compaction", "compaction"
	if why := payload.First("info", "triggerReason"); why.IsString() {
		trigger := "auto"
		if why.Is("manual") {
			trigger = "manual"
		}
		e.SetText("trigger", trigger)
	}
	for content := range payload.Get("compressedHistory").Elements {
		f.Each(s, content, func(*chat.Said) *dialect.Entry { return e })
	}
}
