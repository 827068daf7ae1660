package check

import (
	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
	"fmt"
	"slices"
	"time"
)

// removedImage is the text that stands for an image that a provider refuses, and noResult the one that pi sends in
// place of a missing result.
const (
	removedImage = "[image removed: the provider refuses it]"
	noResult     = "No result provided"
)

// A leaving is what is left out of the request that a resume would send, as edits will leave it out.
type leaving struct {
	e *replay.Envelope
	q *outgoing
	// by record, the blocks that go, and the texts in their place; nil for the whole message
	changed map[int]map[int]string
	fixed   *sent    // a message that no edit reaches
	notes   []string // the provider's error for each
}

// leaving returns a leaving of nothing, and a batch for what is to be appended. The session must be one of pi.
func (r *Repair) leaving(provider string, now time.Time) (*leaving, *sessionfmt.Batch, error) {
	if err := r.was.Foreign(); err != nil {
		return nil, nil, err
	}
	s, err := r.repaired()
	if err != nil {
		return nil, nil, err
	}
	e, err := replay.New(s, replay.Options{}).At(sessionfmt.After(s.Leaf()))
	if err != nil {
		return nil, nil, err
	}
	q, err := newOutgoing(e, provider)
	return &leaving{e: e, q: q, changed: map[int]map[int]string{}}, s.NewBatch(s.Leaf(), now), err
}

// append makes a batch the end of the repair.
func (r *Repair) append(b *sessionfmt.Batch, why ...string) error {
	if b.Len() > 0 {
		r.tail, r.why = b, why
	}
	return b.Err()
}

// AnswerCalls plans entries to append so that providers accept the next request: calls at
// the end of the conversation get an error as their result; earlier calls without a result
// and results without a call are removed by context edits.
func (r *Repair) AnswerCalls(now time.Time) error {
	l, b, err := r.leaving("", now)
	if err != nil {
		return err
	}
	pairs, last := l.q.paired(false), l.q.last()
	early := slices.DeleteFunc(slices.Clone(pairs.unanswered), func(h hit) bool { return h.message >= last })
	for _, h := range slices.Backward(slices.Concat(early, pairs.stray, pairs.doubled)) {
		if l.q.messages[h.message].ours {
			l.leave(h)
		}
	}
	if err := l.edits(b); err != nil {
		return err
	}
	for _, h := range pairs.unanswered[len(early):] {
		id, name := jsonl.AppendQuoted(nil, h.it), jsonl.AppendQuoted(nil, l.q.messages[h.message].blocks[h.block].name)
		result := fmt.Appendf(nil,
			`{"role":"toolResult","toolCallId":%s,"toolName":%s,"content":[{"type":"text","text":"%s"}],`+
				`"isError":true,"timestamp":%d}`, id, name, noResult, now.UnixMilli())
		b.Add(jsonl.ToolResult, jsonl.Field{Name: "message", Value: result})
	}
	if b.Len() == 0 {
		return nil
	}
	return r.append(b, "for tool calls and results without each other")
}

// Accept plans context edits after which a provider accepts the next request: what it refuses is left out, and
// no more. A call goes with its results; an image becomes a text.
func (r *Repair) Accept(provider string, now time.Time) error {
	l, b, err := r.leaving(provider, now)
	if err != nil {
		return err
	}
	s := l.e.Replay().Session
	for l.round(s, provider) {
	}
	if l.fixed != nil {
		return &sessionfmt.Error{Pos: s.Pos(l.fixed.rec),
			Err: fmt.Errorf("%s refuses content of a patch, which no edit can change", provider)}
	}
	if err := l.edits(b); err != nil {
		return err
	}
	return r.append(b, append([]string{"to leave out what " + provider + " refuses"}, l.notes...)...)
}

// round leaves out what the first rule refuses that refuses anything, the last place first, and reports whether
// there was any. Leaving something out can make another rule refuse the rest.
func (l *leaving) round(s *sessionfmt.Session, provider string) bool {
	var all []hit
	var first *rule
	for r, h := range refusals(provider, l.q) {
		if h.message < 0 {
			continue // the whole request is too large
		}
		if first != nil && r != first {
			break
		}
		first, all = r, append(all, h)
	}
	for _, h := range slices.Backward(all) {
		if m := &l.q.messages[h.message]; !m.ours {
			l.fixed = m
			return false
		}
		l.notes = append(l.notes, fmt.Sprintf("entry %s: %s", sessionfmt.Quote(s.ID(l.q.messages[h.message].rec)),
			first.says(l.q, h)))
		l.leave(h)
	}
	l.q.number()
	return len(all) > 0
}

// leave leaves a message or a block of it out.
func (l *leaving) leave(h hit) {
	m := &l.q.messages[h.message]
	if h.block < 0 {
		m.gone, l.changed[m.rec] = true, nil
		return
	}
	b, text := &m.blocks[h.block], ""
	if l.changed[m.rec] == nil {
		l.changed[m.rec] = map[int]string{}
	}
	if b.kind == jsonl.ImageBlock {
		text = removedImage
	}
	l.changed[m.rec][b.index] = text
	if text != "" {
		*b = sentBlock{kind: jsonl.TextBlock, index: b.index}
		return
	}
	m.blocks = slices.Delete(m.blocks, h.block, h.block+1)
	// it says nothing
	if !slices.ContainsFunc(m.blocks, func(b sentBlock) bool { return b.kind != jsonl.ThinkingBlock }) {
		m.gone, l.changed[m.rec] = true, nil
	}
}

// edits adds the edits to a batch.
func (l *leaving) edits(b *sessionfmt.Batch) error {
	s := l.e.Replay().Session
	changes := func(m replay.Message) bool {
		_, ok := l.changed[m.Origin.Record]
		return ok && m.Origin.Op < 0
	}
	for m, err := range l.e.Sources(changes) {
		if err != nil {
			return err
		}
		if !changes(m) {
			continue
		}
		rec, replacement := m.Origin.Record, jsonl.Value("null")
		if cut := l.changed[rec]; cut != nil && (s.Kind(rec) == jsonl.CustomMessage || s.Kind(rec).Replaceable()) {
			replacement = withoutBlocks(m.Raw.Message().Blocks, cut)
		}
		b.Add(jsonl.ContextEdit,
			jsonl.Field{Name: "targetId", Value: jsonl.AppendQuoted(nil, s.ID(rec))},
			jsonl.Field{Name: "replacement", Value: replacement})
	}
	return nil
}

// withoutBlocks returns a content without some of its blocks, or with texts in their place, as the
// replacement of an edit.
func withoutBlocks(blocks []jsonl.Block, cut map[int]string) jsonl.Value {
	kept := []byte(`{"content":[`)
	for i := range blocks {
		text, goes := cut[i]
		if goes && text == "" {
			continue
		}
		if kept[len(kept)-1] != '[' {
			kept = append(kept, ',')
		}
		if goes {
			kept = append(jsonl.AppendQuoted(append(kept, `{"type":"text","text":`...), text), '}')
		} else {
			kept = append(kept, blocks[i].Raw...)
		}
	}
	return append(kept, "]}"...)
}
