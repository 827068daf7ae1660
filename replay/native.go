package replay

import (
	"iter"
	"slices"

	"ctxtool/replay/models"
	"ctxtool/sessionfmt/dialect"
	"ctxtool/sessionfmt/jsonl"
	"ctxtool/sessionfmt/rule"
)

// Native returns the messages of the request as the session's own agent sends them, without prompt and tools if
// the agent keeps these elsewhere; nil for sessions of pi.
func (e *Envelope) Native() iter.Seq2[jsonl.Value, error] {
	d := e.r.Session.Dialect()
	switch {
	case d == nil:
		return func(func(jsonl.Value, error) bool) {}
	case d.Compose == nil:
		return e.items()
	}
	return func(yield func(jsonl.Value, error) bool) {
		to, err := e.r.Natives().Request(e)
		if err != nil {
			yield(nil, err)
			return
		}
		c := d.Compose(to)
		for item, err := range e.items() {
			if err != nil {
				yield(nil, err)
				return
			}
			for _, m := range c.Add(item) {
				if !yield(m, nil) {
					return
				}
			}
		}
		for _, m := range c.End() {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// items returns the messages of the request in their native form.
func (e *Envelope) items() iter.Seq2[jsonl.Value, error] {
	return func(yield func(jsonl.Value, error) bool) {
		n := e.r.Natives()
		if model, err := e.ModelRef(); err == nil {
			to := rule.Asked{Host: model.Provider, Model: model.ID}
			n.l.lines.Ask(to)
			n.l.edits.Ask(to)
		}
		for i := range e.Len() {
			m := e.Piece(i)
			if !m.Sent() {
				continue
			}
			items, err := n.Of(m)
			if err != nil {
				yield(nil, err)
				return
			}
			for item := range items.Elements {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

// Request returns what the dialect needs to compose the messages of this request.
func (n *Natives) Request(e *Envelope) (to dialect.Request, err error) {
	model, err := e.ModelRef()
	if err != nil {
		return to, err
	}
	return n.RequestOf(e.Piece, e.Len(), model, e.answer)
}

// RequestOf is Request for the first n pieces of a context, a model, and the record of the answer, -1 for none.
func (n *Natives) RequestOf(piece func(int) Piece, count int, model models.Ref, answer int) (to dialect.Request,
	err error) {
	to.To = rule.Asked{Host: model.Provider, Model: model.ID}
	at := count - 1
	for at >= 0 && !piece(at).System() {
		at--
	}
	if at >= 0 {
		to.Prompt, err = n.firsts[0].read(n, piece(at))
	}
	for at++; at < count && err == nil; at++ {
		if m := piece(at); m.Sent() && m.kind == jsonl.Assistant {
			to.First, err = n.firsts[1].read(n, m)
			break
		}
	}
	if answer >= 0 && err == nil {
		to.Answer, err = n.first(n.l.r.Own(answer))
	}
	return to, err
}

// read returns the first item of a message, unless it is that of the last call.
func (f *firstItem) read(n *Natives, m Piece) (item jsonl.Value, err error) {
	if f.item == nil || f.of != m {
		f.of = m
		f.item, err = n.first(m)
	}
	return f.item, err
}

// first returns a copy of the first item of a message.
func (n *Natives) first(m Piece) (jsonl.Value, error) {
	items, err := n.Of(m)
	for item := range items.Elements {
		return slices.Clone(item), err
	}
	return nil, err
}

// Natives reads messages as the session's own agent sends them. It is for one goroutine.
type Natives struct {
	l   *Reader
	rec int32
	at  map[uint32]int // messages of that record's patch by place in its line
	all []jsonl.Value  // the same messages, with their native items

	firsts [2]firstItem // the last ones that RequestOf read
}

// A firstItem is the first item of a message.
type firstItem struct {
	of   Piece
	item jsonl.Value
}

// Natives returns a reader of the replay's messages in native form.
func (r *Replay) Natives() *Natives { return &Natives{l: r.NewReader(), rec: -1} }

// Of returns the items of a message, as an array, valid until the next call. Messages of a patch are found
// fastest in order.
func (n *Natives) Of(m Piece) (jsonl.Value, error) {
	switch {
	case m.edit >= 0: // the result of an edit
		line, err := n.l.lines.Native(int(m.edit))
		return line.Get("native"), err
	case m.form != patchGiven && m.form != framedSummary:
		line, err := n.l.lines.Native(int(m.rec))
		return line.Get("message").Get("native"), err
	}
	if n.rec != m.rec {
		if err := n.read(m.rec); err != nil {
			return nil, err
		}
	}
	return n.all[n.at[m.start]].Get("native"), nil
}

// read reads the patch of a record.
func (n *Natives) read(rec int32) error {
	line, err := n.l.lines.Line(int(rec))
	if err != nil {
		return err
	}
	n.rec, n.at, n.all = rec, map[uint32]int{}, n.all[:0]
	for op := range line.Get("patch").Elements {
		for v := range op.Get("messages").Elements {
			start, _ := span(line, v)
			n.at[start] = len(n.at)
		}
	}
	if line, err = n.l.edits.Native(int(rec)); err != nil {
		return err
	}
	for op := range line.Get("patch").Elements {
		for v := range op.Get("messages").Elements {
			n.all = append(n.all, v)
		}
	}
	return nil
}
