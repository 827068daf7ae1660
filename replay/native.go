package replay

import (
	"iter"

	"ctxtool/internal/rule"
	"ctxtool/sessionfmt/jsonl"
)

// Native are the items of the request as the session's own agent sends them, spelled as in the
// file. Prompt and tools are not among them where the agent keeps them elsewhere. Of pi's
// sessions there are none.
func (e *Envelope) Native() iter.Seq2[jsonl.Value, error] {
	return func(yield func(jsonl.Value, error) bool) {
		if e.r.Session.Dialect() == nil {
			return
		}
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

// Natives are the items of messages as the session's own agent sends them. It is for one goroutine.
type Natives struct {
	l   *Reader
	rec int32
	at  map[uint32]int // places of the messages of that record's patch, by where they start
	all []jsonl.Value  // the same messages, with their native items
}

// Natives returns the items of the replay's messages.
func (r *Replay) Natives() *Natives { return &Natives{l: r.NewReader(), rec: -1} }

// Of returns the items of a message, as an array. They are valid until the next call. Those of a patch
// are found fastest in order.
func (n *Natives) Of(m Piece) (jsonl.Value, error) {
	switch {
	case m.edit >= 0: // what an edit makes of it
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
