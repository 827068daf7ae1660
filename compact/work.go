package compact

import (
	"slices"
)

// A work is a pass at work: the view as it is so far, and what has changed.
type work struct {
	*View
	Options
	from    *View // as it was
	pass    string
	system  string
	was     total
	params  any
	changes []Change
	cannot  []refusal
	events  []any
	skip    string // why nothing changed, where nothing does

	requests []Request // that wait for summaries
}

// change changes a message and takes that down. The tokens of a part are what the
// message counts for less without it: counters may round up once a message.
func (w *work) change(c Change, f func(m *message)) {
	if c.Action != Summarise && !w.may(c.Action, c.Message) {
		return
	}
	if w.View == w.from {
		w.View = w.from.fork()
	}
	m := &w.Messages[c.Message]
	before := m.Tokens(w.Counter)
	m.Blocks = slices.Clone(m.Blocks)
	m.Edited = true
	f(m)
	after := m.Tokens(w.Counter)
	c.Pass, c.Record = w.pass, m.Origin.Record
	switch c.Action {
	case Replace:
		if c.Now = after; c.Block >= 0 {
			c.Now = tokensOf(w.Counter, w.length(c.Text))
		}
		c.Was = c.Now + before - after
	case Drop:
		c.Was = before - after
	case Omit:
		c.Was = before
	}
	w.changes = append(w.changes, c)
}

// replace puts a text in the place of what a block said. A result's images stay.
func (w *work) replace(i, block int, text, why string) {
	w.change(Change{Message: i, Block: block, Action: Replace, Text: text, Why: why}, func(m *message) {
		m.Blocks[block].says(text, w.length(text))
	})
}

// replaceResult puts a text in the place of a result, its images included.
func (w *work) replaceResult(i int, text, why string) {
	block := w.Messages[i].result()
	w.change(Change{Message: i, Block: block, Action: Replace, Text: text, Why: why}, func(m *message) {
		m.Blocks[block].says(text, w.length(text))
		m.Blocks = m.Blocks[block : block+1]
	})
}

// replaceMessage puts a text in the place of all that a message says and calls.
func (w *work) replaceMessage(i int, text, why string) {
	w.change(Change{Message: i, Block: -1, Action: Replace, Text: text, Why: why}, func(m *message) {
		m.Blocks = []block{newText(text, w.length(text))}
		m.Call = -1
	})
}

// drop takes a block out of a message.
func (w *work) drop(i, block int, why string) {
	w.change(Change{Message: i, Block: block, Action: Drop, Why: why}, func(m *message) {
		m.Blocks = slices.Delete(m.Blocks, block, block+1)
	})
}

// omit takes a message out. Who calls it sees to the group.
func (w *work) omit(i int, why string) {
	w.change(Change{Message: i, Block: -1, Action: Omit, Why: why}, func(m *message) { m.Gone = true })
}

// says gives a block another text.
func (b *block) says(text string, n length) {
	kind := textBlock
	if b.Kind == resultBlock {
		kind = resultBlock
	}
	*b = block{Kind: kind, IsError: b.IsError, At: b.At, Tool: b.Tool, ID: b.ID, length: n, text: &text}
}

func newText(text string, n length) block {
	return block{Kind: textBlock, At: -1, length: n, text: &text}
}

func (w *work) report() report {
	now := w.was
	if w.View != w.from {
		now = totals(w.View, w.Counter)
	}
	r := report{
		Policy: w.pass, System: w.system, Counter: w.Counter.Name, Params: w.params,
		MessagesBefore: w.was.messages, MessagesAfter: now.messages,
		TokensBefore: w.was.tokens, TokensAfter: now.tokens, TokensSaved: max(0, w.was.tokens-now.tokens),
		BytesBefore: w.was.bytes, BytesAfter: now.bytes,
		Touched: []touch{}, Unestimated: w.was.images,
	}
	for _, c := range w.changes {
		r.Touched = append(r.Touched, touch{c.Message, c.Block, c.Pass, c.Was, c.Now})
	}
	slices.SortStableFunc(r.Touched, func(a, b touch) int {
		if a.Ref != b.Ref {
			return a.Ref - b.Ref
		}
		return a.Block - b.Block
	})
	if len(w.changes) == 0 {
		r.Skipped, r.SkipReason = true, w.skip
	}
	return r
}
