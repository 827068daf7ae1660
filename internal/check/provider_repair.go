package check

import (
	"fmt"
	"slices"
	"time"

	"ctxtool/replay"
	"ctxtool/sessionfmt"
	"ctxtool/sessionfmt/jsonl"
)

// removedImage is the text that stands for an image that a provider refuses.
const removedImage = "[image removed: the provider refuses it]"

// A leaving is what is left out of a request, as edits will leave it out.
type leaving struct {
	q       *outgoing
	changed map[int]map[int]string // by record, the blocks that go, and the texts in their place; nil for the whole message
	fixed   *sent                  // a message that no edit reaches
	notes   []string               // the provider's error for each
}

// Accept plans context edits after which a provider accepts the next request: what it refuses is left out, and
// no more. A call goes with its results; an image becomes a text.
func (r *Repair) Accept(provider string, now time.Time) error {
	s, e, err := r.resumed()
	if err != nil {
		return err
	}
	q, err := newOutgoing(e, provider)
	if err != nil {
		return err
	}
	l := &leaving{q: q, changed: map[int]map[int]string{}}
	for l.round(s, provider) {
	}
	if l.fixed != nil {
		return &sessionfmt.Error{Pos: s.Pos(l.fixed.rec), Err: fmt.Errorf("%s refuses what a patch has put there, which no edit reaches", provider)}
	}
	b := s.NewBatch(s.Leaf(), now)
	if err := l.edits(e, b); err != nil {
		return err
	}
	if b.Len() > 0 {
		r.tail, r.why = b, append([]string{"to leave out what " + provider + " refuses"}, l.notes...)
	}
	return b.Err()
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
		l.notes = append(l.notes, fmt.Sprintf("entry %s: %s", sessionfmt.Quote(s.ID(l.q.messages[h.message].rec)), first.says(l.q, h)))
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
	if !slices.ContainsFunc(m.blocks, func(b sentBlock) bool { return b.kind != jsonl.ThinkingBlock }) { // it says nothing
		m.gone, l.changed[m.rec] = true, nil
	}
}

// edits adds the edits to a batch.
func (l *leaving) edits(e *replay.Envelope, b *sessionfmt.Batch) error {
	s := e.Replay().Session
	changes := func(m replay.Message) bool {
		_, ok := l.changed[m.Origin.Record]
		return ok && m.Origin.Op < 0
	}
	for m, err := range e.Sources(changes) {
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
		edit(b, s.ID(rec), replacement)
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
